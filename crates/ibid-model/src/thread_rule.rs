//! How a request tells which thread of a session it belongs to.

/// One way in which the headers of a request tell that it is a sub-thread's, and whose. Header
/// names are in lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ThreadRule {
    /// Only requests of sub-threads have this header, and it holds the thread's id.
    Present(&'static str),
    /// Every request has both headers, and those of a sub-thread name it beside the session. Where
    /// the two agree, or one is missing, the rule says nothing.
    Differs {
        /// The header that names the thread.
        thread: &'static str,
        /// The header that names the session.
        session: &'static str,
    },
}

//! What is installed in a harness so that it announces its boundaries.

/// What a program needs to be observed.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Plugin {
    /// Nothing.
    None,
}

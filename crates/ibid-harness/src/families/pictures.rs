//! Pictures, as several programs keep them.

/// Whether providers take pictures of this type.
pub(crate) fn is_taken(media_type: &str) -> bool {
    matches!(media_type, "image/png" | "image/jpeg" | "image/gif" | "image/webp")
}

/// The media type of a picture by how its base64 begins; none when it is none of those that
/// providers take.
pub(crate) fn media_type_of(base64: &str) -> Option<&'static str> {
    let known = [
        ("iVBORw0KGgo", "image/png"),
        ("/9j/", "image/jpeg"),
        ("R0lGOD", "image/gif"),
        ("UklGR", "image/webp"),
    ];
    known.iter().find(|(start, _)| base64.starts_with(start)).map(|(_, kind)| *kind)
}

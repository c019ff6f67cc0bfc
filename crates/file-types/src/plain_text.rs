use crate::FileKind;

/// Returns true for media types of plain text, which has no markup to interpret: `text/plain`, JSON, and XML other than
/// HTML and images. `media_type` is lowercase and without parameters.
pub fn is_plain_text(media_type: &str) -> bool {
    match media_type {
        "application/json" | "text/json" | "application/xml" | "text/xml" => true,
        "application/xhtml+xml" => false,
        // Structured suffixes (RFC 6839): feeds, JSON-LD, problem details. Images are not text.
        other => {
            FileKind::from_media_type(other) == Some(FileKind::Txt)
                || (!other.starts_with("image/") && (other.ends_with("+json") || other.ends_with("+xml")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_without_markup_is_plain() {
        for media_type in ["text/plain", "application/json", "text/xml", "application/rss+xml", "application/ld+json"] {
            assert!(is_plain_text(media_type), "{media_type}");
        }
        for media_type in ["text/html", "application/xhtml+xml", "text/markdown", "text/csv", "image/svg+xml", ""] {
            assert!(!is_plain_text(media_type), "{media_type}");
        }
    }
}

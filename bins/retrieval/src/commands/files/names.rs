//! Stored names of files. A workspace is flat and names identify files, so two files cannot share a name.

use std::path::{Component, Path};

use unicode_normalization::UnicodeNormalization;

/// Separator of path components in a name.
const SEPARATOR: &str = "__";

/// Returns the file name; `None` if it is not Unicode.
pub fn of_file(path: &Path) -> Option<String> {
    path.file_name()?.to_str().map(str::to_owned)
}

/// Returns the joined components of a relative path; `None` if it is not Unicode.
pub fn of_path(relative: &Path) -> Option<String> {
    let parts = relative.components().filter(|part| matches!(part, Component::Normal(_)));
    let parts: Option<Vec<&str>> = parts.map(|part| part.as_os_str().to_str()).collect();
    parts.map(|parts| parts.join(SEPARATOR))
}

/// Predicts the stored name: Unicode NFC without separators, control characters and characters that change writing
/// direction; without leading dots and surrounding white space. The service decides; the prediction finds collisions
/// before an upload.
pub fn stored(name: &str) -> String {
    let is_dropped = |c: char| {
        matches!(c, '/' | '\\' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
            || c.is_control()
    };
    let clean: String = name.nfc().filter(|c| !is_dropped(*c)).collect();
    clean.trim_start_matches(|c: char| c == '.' || c.is_whitespace()).trim_end().to_owned()
}

/// Returns true for extensions that the service accepts.
pub fn is_supported(name: &str) -> bool {
    const SUPPORTED: [&str; 17] = [
        "pdf", "html", "htm", "txt", "md", "docx", "pptx", "xlsx", "doc", "ppt", "xls", "rtf", "odt", "odp", "ods",
        "csv", "tsv",
    ];
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    extension.is_some_and(|extension| SUPPORTED.contains(&extension.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_flat_names() {
        assert_eq!(of_file(Path::new("notes/2026/plan.md")).as_deref(), Some("plan.md"));
        assert_eq!(of_path(Path::new("./2026/plan.md")).as_deref(), Some("2026__plan.md"));
    }

    #[test]
    fn stored_names_are_predicted() {
        assert_eq!(stored("e\u{301}te\u{301}.txt"), "été.txt");
        assert_eq!(stored(" ..a\\b\u{7}.md "), "ab.md");
        assert_eq!(stored("invoice\u{202e}fdp.txt"), "invoicefdp.txt");
    }

    #[test]
    fn types_are_decided_by_extension() {
        assert!(is_supported("A.PDF") && is_supported("a.b.md"));
        assert!(!is_supported("pdf") && !is_supported("a.png") && !is_supported("a."));
    }
}

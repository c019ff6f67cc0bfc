//! What files are called in the workspace. Names are flat there, and they are the identity of files: two files of one
//! name would be one.

use std::path::{Component, Path};

use unicode_normalization::UnicodeNormalization;

/// Stands between the parts of a path in a name.
const SEPARATOR: &str = "__";

/// The last part of the path; `None` when it is not Unicode.
pub fn of_file(path: &Path) -> Option<String> {
    path.file_name()?.to_str().map(str::to_owned)
}

/// The whole of a relative path; `None` when it is not Unicode.
pub fn of_path(relative: &Path) -> Option<String> {
    let parts = relative.components().filter(|part| matches!(part, Component::Normal(_)));
    let parts: Option<Vec<&str>> = parts.map(|part| part.as_os_str().to_str()).collect();
    parts.map(|parts| parts.join(SEPARATOR))
}

/// The name as the service will store it: Unicode NFC without separators, control characters and those that turn the
/// direction of writing; without leading dots and surrounding white space. The service decides; this is to know before
/// an upload which files it would take for one.
pub fn stored(name: &str) -> String {
    let is_dropped = |c: char| {
        matches!(c, '/' | '\\' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
            || c.is_control()
    };
    let clean: String = name.nfc().filter(|c| !is_dropped(*c)).collect();
    clean.trim_start_matches(|c: char| c == '.' || c.is_whitespace()).trim_end().to_owned()
}

/// The type by the extension, as the service decides it when it is asked for an address to upload to.
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
    fn the_stored_name_is_known_before_the_upload() {
        assert_eq!(stored("e\u{301}te\u{301}.txt"), "été.txt");
        assert_eq!(stored(" ..a\\b\u{7}.md "), "ab.md");
        assert_eq!(stored("invoice\u{202e}fdp.txt"), "invoicefdp.txt");
    }

    #[test]
    fn types_go_by_the_extension() {
        assert!(is_supported("A.PDF") && is_supported("a.b.md"));
        assert!(!is_supported("pdf") && !is_supported("a.png") && !is_supported("a."));
    }
}

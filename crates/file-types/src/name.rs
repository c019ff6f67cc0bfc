use model::is_bidi_control;
use unicode_normalization::UnicodeNormalization;

/// Maximum length of a name in characters, extension included: as it is sent, and as it is stored.
pub const MAX_NAME_CHARS: usize = 512;

/// Returns the name under which an uploaded file is stored and listed; `None` if no character is left.
///
/// Removes path separators, control characters and marks of text direction, normalizes to NFC, trims leading dots and
/// surrounding white space, and truncates to 512 characters with the extension kept. Sanitizing twice changes nothing.
pub fn sanitize(filename: &str) -> Option<String> {
    // In this order: a removed character may have kept a letter and its accent apart. Parts of NFC text are NFC.
    let clean: String = filename.chars().filter(|c| !is_forbidden(*c)).nfc().collect();
    let name = clean.trim_start_matches(|c: char| c == '.' || c.is_whitespace()).trim_end();
    if name.is_empty() {
        return None;
    }
    Some(truncate(name))
}

/// Returns `true` for separators, control characters, and marks that change the direction of the displayed name.
fn is_forbidden(c: char) -> bool {
    matches!(c, '/' | '\\') || is_bidi_control(c) || c.is_control()
}

fn truncate(name: &str) -> String {
    let count = name.chars().count();
    if count <= MAX_NAME_CHARS {
        return name.to_owned();
    }
    let (stem, extension) = match name.rfind('.') {
        Some(dot) if name[dot..].chars().count() < MAX_NAME_CHARS => name.split_at(dot),
        _ => (name, ""),
    };
    let stem_chars = MAX_NAME_CHARS - extension.chars().count();
    let stem: String = stem.chars().take(stem_chars).collect();
    format!("{}{extension}", stem.trim_end())
}

#[cfg(test)]
mod tests {
    use unicode_normalization::is_nfc;

    use super::*;

    fn check(input: &str, expected: Option<&str>) {
        assert_eq!(sanitize(input).as_deref(), expected, "{input:?}");
    }

    #[test]
    fn unsafe_characters_are_removed() {
        check("report.pdf", Some("report.pdf"));
        check("../../etc/passwd.txt", Some("etcpasswd.txt"));
        check("C:\\temp\\a.txt", Some("C:tempa.txt"));
        check("  . .hidden.md ", Some("hidden.md"));
        check("e\u{301}te\u{301}.txt", Some("été.txt"));
        check("e\u{200e}\u{301}.txt", Some("é.txt"));
        check("a\u{0}b\nc.txt", Some("abc.txt"));
        check("invoice\u{202e}fdp.txt", Some("invoicefdp.txt"));
        check("e\u{61c}\u{301}1\u{61c}.txt", Some("é1.txt"));
        check("\u{61c}", None);
        check("...", None);
        check("/\u{7}\\", None);
        check("", None);
    }

    #[test]
    fn long_names_keep_their_extension() {
        let long = format!("{}.docx", "😀".repeat(600));
        let name = sanitize(&long).expect("a name");
        assert_eq!(name.chars().count(), 512);
        assert!(name.ends_with("😀.docx"));
        let fits = "😀".repeat(508) + ".txt";
        check(&fits, Some(&fits));
    }

    #[test]
    fn sanitizing_is_idempotent_and_normalizes() {
        let cut = format!("{}e\u{202a}\u{301}o\u{7}\u{308}.txt", "x".repeat(507));
        for name in [
            "../a.txt",
            " .b .md",
            "e\u{301}.txt",
            "e\u{200e}\u{301}.txt",
            ".\u{0}\u{301}a\u{2066}\u{30a}.txt",
            "\u{1100}/\u{1161}\\\u{11a8}.txt",
            &"x".repeat(900),
            "a..  .txt",
            &cut,
        ] {
            let once = sanitize(name).expect("a name");
            check(&once, Some(&once));
            assert!(is_nfc(&once), "{once:?}");
        }
    }
}

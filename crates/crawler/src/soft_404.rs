//! Pages that say "not found" with a status of success.

/// Longer texts are pages.
const MAX_TEXT: usize = 2_000;

/// Phrases of titles and headings, in lowercase.
const PHRASES: [&str; 14] = [
    "404",
    "can't be found",
    "cannot be found",
    "could not be found",
    "does not exist",
    "no longer available",
    "no such page",
    "not found",
    "page missing",
    "page unavailable",
    "introuvable",
    "nicht gefunden",
    "no encontrada",
    "non trovata",
];

/// Returns true if title or first heading say that there is no page, and the text is short.
pub fn is_missing(title: Option<&str>, markdown: &str) -> bool {
    if markdown.len() > MAX_TEXT {
        return false;
    }
    let heading =
        markdown.lines().find_map(|line| line.strip_prefix('#')).map(|line| line.trim_start_matches('#').trim());
    [title, heading].into_iter().flatten().any(says_so)
}

fn says_so(text: &str) -> bool {
    let text = text.to_lowercase();
    PHRASES.iter().any(|phrase| match *phrase {
        // The number may be one of many.
        "404" => text.starts_with("404") || text.ends_with("404") || text.contains("error 404"),
        phrase => text.contains(phrase),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_pages_that_say_so_are_missing() {
        for (title, text, expected) in [
            ("Page not found", "Sorry.", true),
            ("404", "Sorry.", true),
            ("Example | Error 404", "Sorry.", true),
            ("Example", "# Seite nicht gefunden\n\nMehr", true),
            ("Example", "The page was not found.", false),
            ("Bus 404 to town", "Departures", false),
        ] {
            assert_eq!(is_missing(Some(title), text), expected, "{title}");
        }
        assert!(!is_missing(Some("Page not found: how to design error pages"), &"text ".repeat(1_000)));
    }
}

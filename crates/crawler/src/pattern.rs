//! URL patterns of `--include` and `--exclude`.

use std::fmt;

/// Maximum length of a pattern.
const MAX_LENGTH: usize = 1_000;

/// Pattern in which `*` stands for any text. One that begins with `/` or `*` is compared with path and query, any other with
/// the whole URL.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Pattern(String);

#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum PatternError {
    #[error("`{0}` matches no URL: begin it with `/`, `*`, `http://` or `https://`")]
    Start(String),
    #[error("the pattern is longer than {MAX_LENGTH} bytes")]
    TooLong,
}

impl Pattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// [`PatternError`].
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        if text.len() > MAX_LENGTH {
            return Err(PatternError::TooLong);
        }
        let is_known = ["/", "*", "http://", "https://"].iter().any(|start| text.starts_with(start));
        if is_known { Ok(Self(text.to_owned())) } else { Err(PatternError::Start(text.to_owned())) }
    }

    /// Returns true if the URL matches. `path` is its path with the query.
    pub fn matches(&self, url: &str, path: &str) -> bool {
        let text = if self.0.starts_with(['/', '*']) { path } else { url };
        matches(&self.0, text)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Matches the pieces between `*` from left to right, each as early as possible.
fn matches(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut pieces: Vec<&str> = pieces.collect();
    let Some(last) = pieces.pop() else { return rest.is_empty() };
    for piece in pieces {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn star_stands_for_any_text() {
        for (pattern, path, expected) in [
            ("/docs/*", "/docs/", true),
            ("/docs/*", "/docs/a/b?c", true),
            ("/docs/*", "/doc", false),
            ("/docs", "/docs/", false),
            ("*.pdf", "/a/b.pdf", true),
            ("*.pdf", "/a/b.pdf?x", false),
            ("*/print/*", "/a/print/b", true),
            ("/a*b*b", "/ab", false),
            ("/a*b*b", "/abb", true),
            ("*?page=*", "/list?page=2", true),
            ("https://h/docs/*", "/docs/a", true),
            ("https://other/*", "/docs/a", false),
        ] {
            let pattern = Pattern::parse(pattern).expect("a pattern");
            let url = format!("https://h{path}");
            assert_eq!(pattern.matches(&url, path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn patterns_without_a_known_start_are_refused() {
        assert_eq!(Pattern::parse("docs/*"), Err(PatternError::Start("docs/*".to_owned())));
        assert_eq!(Pattern::parse(&"/".repeat(2_000)), Err(PatternError::TooLong));
    }
}

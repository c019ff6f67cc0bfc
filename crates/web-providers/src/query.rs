//! Queries to providers.

use model::Timestamp;
use retrieval_core::chars;

/// Names before a colon that search engines read as operators.
const OPERATORS: [&str; 24] = [
    "after",
    "allintext",
    "allintitle",
    "allinurl",
    "before",
    "cache",
    "contains",
    "domain",
    "ext",
    "feed",
    "filetype",
    "inanchor",
    "inbody",
    "inpage",
    "intext",
    "intitle",
    "inurl",
    "ip",
    "lang",
    "language",
    "link",
    "loc",
    "related",
    "site",
];

/// Characters at the start of a word that search engines read as operators: exclusion, engine and language choice, timeouts.
const PREFIXES: [char; 8] = ['+', '-', '!', '?', ':', '<', '~', '@'];

/// Brackets, which search engines do not read as parts of a word.
const OPENING: [char; 3] = ['(', '[', '{'];
const CLOSING: [char; 3] = [')', ']', '}'];

/// A search of the web. Equal queries have equal answers for a while.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct WebQuery {
    /// Text as the caller typed it. It has no operators.
    pub text: String,
    /// Requests pages that contain the text verbatim.
    pub exact_match: bool,
    /// Domain, with an optional path, that all results belong to.
    pub site: Option<String>,
    /// Two letters, lowercase.
    pub country: Option<String>,
    /// Two letters, lowercase.
    pub language: Option<String>,
    pub published_after: Option<Timestamp>,
    pub published_before: Option<Timestamp>,
}

/// Limits of a provider on the text of a query.
#[derive(Clone, Copy, Debug)]
pub struct TextLimits {
    pub chars: usize,
    pub words: usize,
}

impl WebQuery {
    /// Returns the text to send: the caller's words, quoted for an exact match, and the `site:` operator. Words beyond the limits
    /// are dropped, operators never. Empty if the text has no words.
    pub fn operators(&self, limits: TextLimits) -> String {
        let site = self.site.as_ref().map(|site| format!(" site:{site}")).unwrap_or_default();
        let quotes = if self.exact_match { 2 } else { 0 };
        let words = limits.words.saturating_sub(usize::from(self.site.is_some()));
        let left = limits.chars.saturating_sub(site.chars().count() + quotes);
        let text = cut(&plain(&self.text), left, words);
        if text.is_empty() {
            return String::new();
        }
        if self.exact_match { format!("\"{text}\"{site}") } else { format!("{text}{site}") }
    }
}

/// Returns the words of a text without anything that a search engine would read as an operator.
fn plain(text: &str) -> String {
    let text: String = text
        .chars()
        .map(|c| if c.is_control() || matches!(c, '"' | '“' | '”' | '|' | '*') { ' ' } else { c })
        .collect();
    let mut words = String::new();
    for word in text.split_whitespace() {
        words.push(' ');
        // An operator may follow an opening bracket.
        for part in word.split_inclusive(OPENING) {
            push_plain(part, &mut words);
        }
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Adds a word, or a part of one up to a bracket, without the operators that it begins with.
fn push_plain(part: &str, words: &mut String) {
    let mut part = part.trim_start_matches(PREFIXES);
    while let Some((name, rest)) = part.split_once(':')
        && OPERATORS.iter().any(|operator| name.eq_ignore_ascii_case(operator))
    {
        words.push_str(name);
        words.push(' ');
        part = rest.trim_start_matches(PREFIXES);
    }
    match part.trim_end_matches(OPENING).trim_end_matches(CLOSING) {
        "AND" | "OR" | "NOT" | "NEAR" => words.push_str(&part.to_ascii_lowercase()),
        _ => words.push_str(part),
    }
}

/// Keeps the first words that fit.
fn cut(text: &str, max_chars: usize, max_words: usize) -> String {
    let mut kept = String::new();
    let mut length = 0;
    for word in text.split(' ').take(max_words) {
        let needed = word.chars().count() + usize::from(length > 0);
        if length + needed > max_chars {
            break;
        }
        if length > 0 {
            kept.push(' ');
        }
        kept.push_str(word);
        length += needed;
    }
    // A text without spaces, such as Chinese, is one word.
    if kept.is_empty() {
        chars::truncate(text.split(' ').next().unwrap_or_default(), max_chars).to_owned()
    } else {
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDE: TextLimits = TextLimits { chars: 1_000, words: 100 };

    fn sent(text: &str) -> String {
        WebQuery { text: text.to_owned(), ..WebQuery::default() }.operators(WIDE)
    }

    #[test]
    fn operators_of_the_caller_are_words() {
        for (text, expected) in [
            ("spring tides", "spring tides"),
            ("  spring\n\ttides ", "spring tides"),
            ("\"spring tides\" -neap +high", "spring tides neap high"),
            ("!images !!g :de <3 tides", "images g de 3 tides"),
            ("site:evil.example intitle:tides", "site evil.example intitle tides"),
            ("SITE:-filetype:pdf", "SITE filetype pdf"),
            ("tides OR moons AND NOT seas | *", "tides or moons and not seas"),
            ("std::vec C++ 12:30 e-mail what?", "std::vec C++ 12:30 e-mail what?"),
            ("!!! \"\" *", ""),
            ("🦀 {tides} (moon)", "🦀 {tides} (moon)"),
            ("(site:evil.example) (NOT moon)", "(site evil.example) (not moon)"),
            ("(-moon) -(moon) [[+(!ddg", "(moon) (moon) [[(ddg"),
            ("(moon OR) NOT(sun) tides(site:(-evil.example", "(moon or) not(sun) tides(site (evil.example"),
            ("f(x) = g[0] e(r:s)", "f(x) = g[0] e(r:s)"),
        ] {
            assert_eq!(sent(text), expected, "{text}");
        }
    }

    #[test]
    fn exact_match_is_a_phrase_and_a_site_an_operator() {
        let query = WebQuery {
            text: "the \"spring\" tides".to_owned(),
            exact_match: true,
            site: Some("example.com/docs".to_owned()),
            ..WebQuery::default()
        };
        assert_eq!(query.operators(WIDE), "\"the spring tides\" site:example.com/docs");
    }

    #[test]
    fn long_texts_are_cut_between_words_and_keep_their_operators() {
        let query =
            WebQuery { text: "one two three".to_owned(), site: Some("a.example".to_owned()), ..WebQuery::default() };
        assert_eq!(query.operators(TextLimits { chars: 23, words: 9 }), "one two site:a.example");
        assert_eq!(query.operators(TextLimits { chars: 99, words: 2 }), "one site:a.example");
        assert_eq!(
            WebQuery { text: "潮汐潮汐".to_owned(), ..WebQuery::default() }
                .operators(TextLimits { chars: 2, words: 9 }),
            "潮汐"
        );
    }
}

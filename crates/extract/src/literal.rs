//! Escaping of literal text in Markdown: a backslash before each character that would be read as a mark, and no others,
//! because agents read the Markdown as it is.
//!
//! The marks at the start of a line (headings, list items, rules) are left to [`crate::blocks::push_escaped`].

/// Characters that may be marks inside a line.
const MARKS: [char; 10] = ['\\', '`', '*', '_', '~', '<', '&', '(', '^', '!'];
/// Letters that make an ordinal even if there is only one of them: `2e`, `1o`, `3a`.
const ORDINALS: [&str; 3] = ["e", "o", "a"];
/// Maximum number of marks that end emphasis and code in one place.
const MAX_END_MARKS: usize = 16;
/// Maximum length of the name or number of a character reference (`CounterClockwiseContourIntegral`).
const MAX_REFERENCE: usize = 31;

/// Returns a text that is a whole block (paragraph, heading, table cell) as Markdown.
pub(crate) fn block(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    write(text, None, &Closers::of(text), &mut out);
    out
}

/// Appends a part of a block as Markdown. Its other parts may have marks of emphasis. `after` is the first character of
/// the next part, `None` at the end of the block.
pub(crate) fn push_part(text: &str, after: Option<char>, out: &mut String) {
    write(text, after, &Closers::Anywhere, out);
}

/// Escapes the brackets in the markdown of a link's label if they do not match, because they would end it.
pub(crate) fn balanced(label: &str) -> String {
    let brackets = || {
        let mut escaped = false;
        label.char_indices().filter(move |(_, c)| {
            let was_escaped = escaped;
            escaped = *c == '\\' && !was_escaped;
            !was_escaped && matches!(c, '[' | ']')
        })
    };
    let mut depth = 0i32;
    let fits = brackets().all(|(_, c)| {
        depth += if c == '[' { 1 } else { -1 };
        depth >= 0
    });
    if fits && depth == 0 {
        return label.to_owned();
    }
    let mut out = String::with_capacity(label.len() + 8);
    let mut done = 0;
    for (at, _) in brackets() {
        out.push_str(&label[done..at]);
        out.push('\\');
        done = at;
    }
    out.push_str(&label[done..]);
    out
}

/// Returns the last character of markdown in front of the marks that end emphasis and code there.
pub(crate) fn word_end(markdown: &str) -> Option<char> {
    let mut end = markdown.chars().rev().take(1 + MAX_END_MARKS);
    end.find(|c| !matches!(c, '*' | '~' | '`'))
}

/// Place of a small part of a word.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Shift {
    Raised,
    Lowered,
}

impl Shift {
    /// Returns the name of the HTML element of the part, which Markdown takes over.
    pub(crate) fn tag(self) -> &'static str {
        match self {
            Self::Raised => "sup",
            Self::Lowered => "sub",
        }
    }

    /// Returns true for a text that would become part of the word in front of it, and change it: `10` and `6` are not
    /// 106. Ordinals (1st) and formulas (H2O) are words with their raised or lowered part, and are searched as such.
    ///
    /// `before` is the markdown of the block up to the text.
    pub(crate) fn is_distinct(self, before: &str, text: &str) -> bool {
        let before = word_end(before);
        let Some(before) = before.filter(|c| c.is_alphanumeric() || matches!(c, ')' | ']' | '}' | '|')) else {
            return false;
        };
        if text.starts_with(char::is_whitespace) || !text.contains(char::is_alphanumeric) {
            return false;
        }
        let text = text.trim();
        match self {
            Self::Raised => {
                !text.chars().all(char::is_alphabetic) || (text.chars().count() == 1 && !ORDINALS.contains(&text))
            }
            Self::Lowered => before.is_numeric() || !text.chars().all(char::is_alphanumeric),
        }
    }
}

/// Marks that may end emphasis.
enum Closers {
    /// Also those of other parts of the block, around emphasis of the text.
    Anywhere,
    /// Byte offsets in the text of the last run of each mark.
    Last { asterisk: Option<usize>, underscore: Option<usize>, tilde: Option<usize> },
}

impl Closers {
    fn of(text: &str) -> Self {
        let last = |mark: char| {
            let closes = |before: char| !before.is_whitespace() && before != mark;
            let mut runs = text.rmatch_indices(mark).map(|(at, _)| at);
            runs.find(|at| text[..*at].chars().next_back().is_some_and(closes))
        };
        Self::Last { asterisk: last('*'), underscore: last('_'), tilde: last('~') }
    }

    /// Returns true if a mark behind the offset `end` may close emphasis.
    fn follow(&self, mark: char, end: usize) -> bool {
        match self {
            Self::Anywhere => true,
            Self::Last { asterisk, underscore, tilde } => {
                let last = match mark {
                    '*' => asterisk,
                    '_' => underscore,
                    _ => tilde,
                };
                last.is_some_and(|last| last >= end)
            }
        }
    }
}

/// Run of one mark with the text around it.
struct Run<'a> {
    mark: char,
    length: usize,
    /// Character before the run; `None` at the start of the block.
    before: Option<char>,
    /// Character behind the run; `None` at the end of the block.
    next: Option<char>,
    /// Text behind the run.
    rest: &'a str,
    /// True if no more than white space precedes the run in its part.
    leads: bool,
    /// Byte offset of the end of the run.
    end: usize,
}

fn write(text: &str, after: Option<char>, closers: &Closers, out: &mut String) {
    let mut at = 0;
    let mut leads = true;
    while let Some(found) = text[at..].find(MARKS) {
        let start = at + found;
        out.push_str(&text[at..start]);
        leads &= text[at..start].trim_start().is_empty();
        let Some(mark) = text[start..].chars().next() else { break };
        let marks = if matches!(mark, '*' | '_' | '~') {
            text[start..].len() - text[start..].trim_start_matches(mark).len()
        } else {
            1
        };
        at = start + marks;
        let rest = &text[at..];
        // The readers put white space at the end of a part behind the mark that follows.
        let next = if rest.trim_start().is_empty() { after } else { rest.chars().next() };
        let run = Run { mark, length: marks, before: out.chars().next_back(), next, rest, leads, end: at };
        let escaped = run.is_mark(closers);
        for _ in 0..marks {
            if escaped {
                out.push('\\');
            }
            out.push(mark);
        }
        leads = false;
    }
    out.push_str(&text[at..]);
}

impl Run<'_> {
    /// Returns true if a reader of Markdown may take the run for a mark.
    fn is_mark(&self, closers: &Closers) -> bool {
        match self.mark {
            '\\' => self.is_escape(),
            '`' => true,
            '_' => self.opens_outside_word() && closers.follow('_', self.end),
            // One tilde stands for `about`, and three may begin a block of code.
            '~' if self.length != 2 => self.length > 2,
            '*' | '~' => (self.opens() && closers.follow(self.mark, self.end)) || (self.closes() && is_part(closers)),
            '<' => self.begins_tag(),
            '&' => is_reference(self.rest),
            // The destination of a link.
            '(' => self.before == Some(']'),
            '^' => self.before == Some('[') && is_note(self.rest),
            // An image instead of a link.
            '!' => self.rest.is_empty() && self.next == Some('['),
            _ => false,
        }
    }

    fn opens(&self) -> bool {
        self.next.is_some_and(|next| !next.is_whitespace())
    }

    fn closes(&self) -> bool {
        self.leads || self.before.is_some_and(|before| !before.is_whitespace())
    }

    /// Underscores inside and behind a word do not begin emphasis (CommonMark 0.31, 6.2).
    fn opens_outside_word(&self) -> bool {
        self.opens() && !self.before.is_some_and(char::is_alphanumeric)
    }

    /// A backslash escapes punctuation, and breaks a line at its end.
    fn is_escape(&self) -> bool {
        let follows = self.rest.trim_start().chars().next().or(self.next);
        self.rest.starts_with('\n') || follows.is_none_or(|next| next == '\n' || next.is_ascii_punctuation())
    }

    /// Returns true before a tag, a comment or an address.
    fn begins_tag(&self) -> bool {
        let Some(next) = self.next else { return false };
        let end = self.rest.find(|c: char| matches!(c, '<' | '>') || c.is_whitespace()).unwrap_or(self.rest.len());
        self.rest.is_empty()
            || next.is_ascii_alphabetic()
            || matches!(next, '/' | '!' | '?')
            || self.rest[..end].contains('@')
    }
}

/// Returns true if the block has other parts.
fn is_part(closers: &Closers) -> bool {
    matches!(closers, Closers::Anywhere)
}

/// Returns true for a character reference behind its ampersand: `lt;`, `#60;`, `#x3c;`.
pub(crate) fn is_reference(rest: &str) -> bool {
    let name = rest.strip_prefix('#').unwrap_or(rest);
    let length = name.bytes().take(MAX_REFERENCE + 1).take_while(u8::is_ascii_alphanumeric).count();
    length > 0 && name[length..].starts_with(';')
}

/// Returns true for the mark of a footnote behind `[^`.
fn is_note(rest: &str) -> bool {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0 && rest[digits..].starts_with(']')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_escaped_and_nothing_else() {
        for (text, expected) in [
            ("2 * 3 * 4, Price* and **, snake_case, 5 < 6, R&D, a[1], ~5, C:\\dir, wow!", ""),
            ("10*20", ""),
            ("10*20*30", "10\\*20*30"),
            ("**bold** text", "\\*\\*bold** text"),
            ("__init__ and __main__.py", "\\_\\_init__ and \\_\\_main__.py"),
            ("_tmp", ""),
            ("a ~~b~~ c", "a \\~\\~b~~ c"),
            ("`x`", "\\`x\\`"),
            (
                "The <table> of Vec<String> </a> <!-- x --> <?php",
                "The \\<table> of Vec\\<String> \\</a> \\<!-- x --> \\<?php",
            ),
            ("1 <2@x.y>", "1 \\<2@x.y>"),
            ("&lt; &#60; &#x3c; AT&T; & &;", "\\&lt; \\&#60; \\&#x3c; AT\\&T; & &;"),
            ("\\d+\\.\\d and \\(x\\)", "\\d+\\\\.\\d and \\\\(x\\\\)"),
            ("C:\\", "C:\\\\"),
            ("\\\\server\\share", "\\\\\\server\\share"),
            ("[a](b) f[i] (x) [^1] [^a-z]", "[a]\\(b) f[i] (x) [\\^1] [^a-z]"),
            ("![a](b)", "![a]\\(b)"),
        ] {
            assert_eq!(block(text), if expected.is_empty() { text } else { expected }, "{text}");
        }
    }

    #[test]
    fn exponents_are_distinct_and_ordinals_are_not() {
        for (before, text, distinct) in
            [("10", "6", true), ("*m*", "-2", true), ("x", "n", true), ("1", "st", false), ("end. ", "1", false)]
        {
            assert_eq!(Shift::Raised.is_distinct(before, text), distinct, "{before} {text}");
        }
        assert!(Shift::Lowered.is_distinct("10", "2") && !Shift::Lowered.is_distinct("H", "2"));
    }

    #[test]
    fn brackets_of_labels_match() {
        for (label, expected) in
            [("a [b] c", "a [b] c"), ("a]b[", "a\\]b\\["), ("a\\]b", "a\\]b"), ("a\\\\]\\[", "a\\\\\\]\\[")]
        {
            assert_eq!(balanced(label), expected);
        }
    }

    #[test]
    fn parts_are_safe_beside_marks() {
        for (before, text, after, expected) in [
            ("", "2 * 3 and 5* or *6", Some('*'), "2 * 3 and 5\\* or \\*6"),
            ("**", " * x * ", Some('*'), "** \\* x \\* "),
            ("", "Wow!", Some('['), "Wow\\!"),
            ("", "C:\\ ", Some(']'), "C:\\\\ "),
            ("[^1]", "(x)", None, "[^1]\\(x)"),
            ("a", "_b_", None, "a_b_"),
            ("x", " <", Some('['), "x \\<"),
        ] {
            let mut out = before.to_owned();
            push_part(text, after, &mut out);
            assert_eq!(out, expected, "{text}");
        }
    }
}

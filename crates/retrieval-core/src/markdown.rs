//! Line-based Markdown parser for splitting, outlines and plain text.
//!
//! Documents are untrusted uploads that are split and converted inside the service, so this is not a CommonMark parser:
//! one pass over the lines with at most one line of lookahead is linear on any input, including containers nested a
//! million deep, and rarely mistakes plain text for markup. It follows CommonMark 0.31 and GitHub's tables with these
//! differences:
//!
//! - the content of quotes and list items is parsed like the top level, at any indentation: a fence there is a fence;
//! - an underlined heading (`===`, `---`) is one line long, because in text files whole paragraphs stand above rules;
//! - a line that begins with `|` is a table row even in a table without a delimiter row;
//! - a block of `key: value` lines between two `---` at the very start is front matter.

use std::ops::Range;

/// Type of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Blank,
    /// Heading: `# text`, or the line above an underline.
    Heading {
        level: u8,
    },
    /// Underline of the previous heading.
    Underline,
    /// First line of a fenced code block.
    FenceOpen,
    /// Line inside a fenced code block.
    Code,
    /// Last line of a fenced code block.
    FenceClose,
    /// Line of an indented code block.
    IndentedCode,
    TableRow,
    /// Delimiter row below a table's head.
    TableRule,
    /// First line of a list item.
    Item,
    /// `***`, `---`, `___`.
    ThematicBreak,
    /// `[label]: destination`.
    Definition,
    FrontMatter,
    Text,
}

/// A line with its line end.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub range: Range<usize>,
    pub kind: Kind,
}

/// Returns all lines of `content`. Their ranges are contiguous.
pub(crate) fn lines(content: &str) -> Lines<'_> {
    Lines {
        content,
        next: 0..line_end(content, 0),
        fence: None,
        front_matter: front_matter_end(content),
        before: Kind::Blank,
        in_list: false,
    }
}

pub(crate) struct Lines<'a> {
    content: &'a str,
    /// Range of the next line; empty at the end.
    next: Range<usize>,
    fence: Option<Fence>,
    /// End of the front matter, or 0.
    front_matter: usize,
    before: Kind,
    in_list: bool,
}

struct Fence {
    mark: u8,
    length: usize,
    quoted: bool,
}

impl Iterator for Lines<'_> {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        if self.next.is_empty() {
            return None;
        }
        let range = self.next.clone();
        self.next = range.end..line_end(self.content, range.end);
        let kind = self.classify(&range);
        self.in_list = match kind {
            Kind::Item => true,
            Kind::Heading { .. } | Kind::ThematicBreak => false,
            // After a blank line, text at the margin ends the list.
            Kind::Text if self.before == Kind::Blank => {
                self.in_list && self.content[range.clone()].starts_with([' ', '\t'])
            }
            _ => self.in_list,
        };
        self.before = kind;
        Some(Line { range, kind })
    }
}

impl Lines<'_> {
    fn classify(&mut self, range: &Range<usize>) -> Kind {
        let line = &self.content[range.clone()];
        let (inner, quoted) = inside_quotes(line);
        if let Some(fence) = &self.fence {
            if fence.quoted && !quoted {
                // The quote ends, and the code block with it.
                self.fence = None;
            } else if closes(inner, fence) && quoted == fence.quoted {
                self.fence = None;
                return Kind::FenceClose;
            } else {
                return Kind::Code;
            }
        }
        if range.start < self.front_matter {
            return Kind::FrontMatter;
        }
        if inner.is_empty() {
            return Kind::Blank;
        }
        if matches!(self.before, Kind::Heading { .. }) && is_underline(line) && !self.is_atx_before(range.start) {
            return Kind::Underline;
        }
        let indented = indentation(line) >= 4;
        if indented && !self.in_list && matches!(self.before, Kind::Blank | Kind::IndentedCode) {
            return Kind::IndentedCode;
        }
        let item = after_item_mark(inner);
        if let Some((mark, length)) = opens(item.unwrap_or(inner)) {
            self.fence = Some(Fence { mark, length, quoted });
            return Kind::FenceOpen;
        }
        if !indented
            && !quoted
            && let Some((level, _)) = atx(inner)
        {
            return Kind::Heading { level };
        }
        let following = &self.content[self.next.clone()];
        let in_table = matches!(self.before, Kind::TableRow | Kind::TableRule);
        if is_table_rule(inner) && in_table {
            return Kind::TableRule;
        }
        if inner.starts_with('|')
            || ((in_table || is_table_rule(inside_quotes(following).0)) && item.is_none() && inner.contains('|'))
        {
            return Kind::TableRow;
        }
        if is_thematic_break(inner) {
            return Kind::ThematicBreak;
        }
        if item.is_some() {
            return Kind::Item;
        }
        if !indented && !quoted && !matches!(self.before, Kind::Text | Kind::Item) {
            if definition(inner).is_some() {
                return Kind::Definition;
            }
            if is_underline(following) {
                let level = if following.trim_start().starts_with('=') { 1 } else { 2 };
                return Kind::Heading { level };
            }
        }
        Kind::Text
    }

    /// Returns true if the line that ends at `end` is an ATX heading (`#`), which takes no underline.
    fn is_atx_before(&self, end: usize) -> bool {
        let line = self.content[..end].trim_end_matches(['\n', '\r']);
        let start = line.rfind('\n').map_or(0, |at| at + 1);
        atx(line[start..].trim()).is_some()
    }
}

/// Returns the text of a heading line without its marks.
pub(crate) fn heading_text(line: &str) -> &str {
    let line = line.trim();
    let Some((_, text)) = atx(line) else { return line };
    let without = text.trim_end_matches('#');
    if without.is_empty() || without.ends_with([' ', '\t']) { without.trim_end() } else { text }
}

/// Strips quote marks and surrounding white space. The flag is true if there were quote marks.
pub(crate) fn inside_quotes(line: &str) -> (&str, bool) {
    let inner = line.trim_start_matches([' ', '\t', '>']);
    let quoted = line[..line.len() - inner.len()].contains('>');
    (inner.trim_end(), quoted)
}

/// Returns the text after `- `, `* `, `+ `, `1. ` or `1) `.
pub(crate) fn after_item_mark(inner: &str) -> Option<&str> {
    let digits = inner.bytes().take(10).take_while(u8::is_ascii_digit).count();
    let mark = if digits == 0 {
        inner.starts_with(['-', '*', '+']).then_some(1)?
    } else {
        // CommonMark allows nine digits.
        (digits < 10 && inner[digits..].starts_with(['.', ')'])).then_some(digits + 1)?
    };
    let rest = &inner[mark..];
    if rest.is_empty() { Some(rest) } else { rest.starts_with([' ', '\t']).then(|| rest.trim_start()) }
}

/// Returns the label of a link reference definition.
pub(crate) fn definition(inner: &str) -> Option<&str> {
    let (label, rest) = inner.strip_prefix('[')?.split_once(']')?;
    let is_label = !label.trim().is_empty() && label.len() <= 1_000 && !label.starts_with('^') && !label.contains('[');
    (is_label && rest.strip_prefix(':').is_some_and(is_destination)).then_some(label)
}

/// Returns true if a text is a link destination, followed by nothing or a title in quotation marks. Otherwise `[label]:` begins a sentence.
fn is_destination(text: &str) -> bool {
    let text = text.trim();
    let end = match text.strip_prefix('<') {
        Some(inner) => inner.find('>').map_or(0, |end| end + 2),
        None => text.find(char::is_whitespace).unwrap_or(text.len()),
    };
    let title = text[end..].trim_start();
    let is_title = [('"', '"'), ('\'', '\''), ('(', ')')]
        .iter()
        .any(|(open, close)| title.len() > 1 && title.starts_with(*open) && title.ends_with(*close));
    end > 0 && (title.is_empty() || is_title)
}

fn line_end(content: &str, start: usize) -> usize {
    content[start..].find('\n').map_or(content.len(), |at| start + at + 1)
}

/// Returns the columns of leading white space, with tab stops every four columns.
fn indentation(line: &str) -> usize {
    let mut columns = 0;
    for byte in line.bytes() {
        match byte {
            b' ' => columns += 1,
            b'\t' => columns += 4 - columns % 4,
            _ => break,
        }
    }
    columns
}

fn atx(inner: &str) -> Option<(u8, &str)> {
    let level = inner.bytes().take(7).take_while(|byte| *byte == b'#').count();
    let rest = &inner[level..];
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    Some((u8::try_from(level).ok()?, rest.trim()))
}

fn opens(inner: &str) -> Option<(u8, usize)> {
    let mark = *inner.as_bytes().first().filter(|byte| matches!(byte, b'`' | b'~'))?;
    let length = inner.bytes().take_while(|byte| *byte == mark).count();
    // ```like this``` is a code span.
    (length >= 3 && !(mark == b'`' && inner[length..].contains('`'))).then_some((mark, length))
}

fn closes(inner: &str, fence: &Fence) -> bool {
    inner.len() >= fence.length && inner.bytes().all(|byte| byte == fence.mark)
}

fn is_underline(line: &str) -> bool {
    let text = line.trim();
    // A single hyphen or equals sign is more often a stray character than a heading.
    indentation(line) < 4
        && text.len() >= 3
        && (text.bytes().all(|byte| byte == b'=') || text.bytes().all(|byte| byte == b'-'))
}

fn is_thematic_break(inner: &str) -> bool {
    let Some(mark) = inner.bytes().next().filter(|byte| matches!(byte, b'*' | b'-' | b'_')) else { return false };
    inner.bytes().all(|byte| byte == mark || byte == b' ' || byte == b'\t')
        && inner.bytes().filter(|byte| *byte == mark).take(3).count() == 3
}

fn is_table_rule(inner: &str) -> bool {
    inner.bytes().all(|byte| matches!(byte, b'|' | b':' | b'-' | b' ' | b'\t'))
        && inner.contains('-')
        && inner.contains('|')
}

/// Maximum length of front matter in bytes.
const FRONT_MATTER: usize = 8 * 1024;

fn front_matter_end(content: &str) -> usize {
    let mut at = line_end(content, 0);
    if content[..at].trim_end() != "---" {
        return 0;
    }
    let first = at;
    while at < content.len() && at < FRONT_MATTER {
        let end = line_end(content, at);
        let line = content[at..end].trim_end();
        if line == "---" || line == "..." {
            return if at > first { end } else { 0 };
        }
        if line.is_empty() || (at == first && !line.contains(':')) {
            return 0;
        }
        at = end;
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Encodes each line kind as one letter: heading level, `u`nderline, code fences `(c)`, `i`ndented, `r`ow, `l`ist,
    /// ...
    fn kinds(content: &str) -> String {
        let letter = |line: Line| match line.kind {
            Kind::Blank => '.',
            Kind::Heading { level } => char::from(b'0' + level),
            Kind::Underline => 'u',
            Kind::FenceOpen => '(',
            Kind::Code => 'c',
            Kind::FenceClose => ')',
            Kind::IndentedCode => 'i',
            Kind::TableRow => 'r',
            Kind::TableRule => '=',
            Kind::Item => 'l',
            Kind::ThematicBreak => '-',
            Kind::Definition => 'd',
            Kind::FrontMatter => 'f',
            Kind::Text => 't',
        };
        lines(content).map(letter).collect()
    }

    #[test]
    fn line_kinds_are_recognized() {
        for (content, expected) in [
            ("# A\n\ntext\nmore\n", "1.tt"),
            ("#not\n####### no\n#\n  ### C ##\r\n", "tt13"),
            ("Title\n=====\nSub\n---\nx", "1u2ut"),
            ("# A\n---\n", "1-"),
            ("two\nlines\n---\n", "tt-"),
            ("a\n\n***\n* * *\n", "t.--"),
            ("```rust\n# no\n\n```\n# yes", "(cc)1"),
            ("~~~\n```\n~~~~\nx", "(c)t"),
            ("```\nopen", "(c"),
            ("```a``` text\n", "t"),
            ("- a\n  ```\n  x\n  ```\n1. b\n2) c\n", "l(c)ll"),
            ("- ```\n  x\n  ```\n", "(c)"),
            ("> ```\n> x\nout\n", "(ct"),
            ("```md\n> x\n> ```\n```\n# A", "(cc)1"),
            ("> # quoted\n", "t"),
            ("a | b\n--- | ---\n1 | 2\n\nx | y\n", "r=r.t"),
            ("| a |\n|---|\n| 1 |\n| 2 |\ntext", "r=rrt"),
            ("\n    code\n    more\n\n    again\n", ".ii.i"),
            ("- a\n\n    inside\n\ntext\n\n    code\n", "l.t.t.i"),
            ("[a]: http://x\n[^1]: note\n", "dt"),
            ("[a]: <b c> 'd'\n\n[Smith]: Thank you all.\n\n[1]: <b\n", "d.t.t"),
            ("---\ntitle: x\n---\n# A\n", "fff1"),
            ("---\n\ntext\n---\n", "-.2u"),
            ("", ""),
            ("\n\r\n \t\n", "..."),
        ] {
            assert_eq!(kinds(content), expected, "{content:?}");
        }
    }

    #[test]
    fn heading_marks_are_stripped() {
        for (line, expected) in
            [("## A b ##\n", "A b"), ("# C#\n", "C#"), ("#\n", ""), ("# ##\n", ""), ("Title \r\n", "Title")]
        {
            assert_eq!(heading_text(line), expected, "{line:?}");
        }
    }

    proptest! {
        #[test]
        fn lines_are_contiguous(content in "[#`~|\\->=\\[\\]:. a0\té\r\n]{0,120}") {
            let mut end = 0;
            for line in lines(&content) {
                prop_assert_eq!(line.range.start, end);
                prop_assert!(!line.range.is_empty());
                end = line.range.end;
            }
            prop_assert_eq!(end, content.len());
        }
    }
}

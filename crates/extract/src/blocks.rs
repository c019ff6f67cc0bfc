//! Block model between our own readers and markdown.

use crate::{literal, table};

/// A block of a document, in reading order. Text is inline markdown with links and emphasis already marked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Block {
    /// Heading of level 1 to 6.
    Heading {
        level: u8,
        text: String,
    },
    Paragraph(String),
    /// List item; level 0 is the outermost. The number is that of the document; an item without one has a bullet.
    Item {
        level: u8,
        number: Option<u32>,
        text: String,
    },
    Table(Vec<Vec<String>>),
}

/// Deepest list level that gets further indentation.
const MAX_LEVEL: u8 = 8;

/// Returns the blocks as markdown, with one blank line between blocks and none inside a list.
pub(crate) fn write(blocks: &[Block]) -> String {
    write_with_starts(blocks).0
}

/// Returns the blocks as markdown, and the byte offset at which each block starts: the end of the previous block.
pub(crate) fn write_with_starts(blocks: &[Block]) -> (String, Vec<usize>) {
    let mut out = String::new();
    let mut starts = Vec::with_capacity(blocks.len());
    let mut in_list = false;
    for block in blocks {
        let start = out.len();
        starts.push(start);
        let separator = if out.is_empty() { "" } else { "\n" };
        match block {
            Block::Heading { level, text } => {
                let text = one_line(text);
                if text.is_empty() {
                    continue;
                }
                out.push_str(separator);
                out.push_str(&heading(usize::from(*level), &text));
                out.push('\n');
            }
            Block::Paragraph(text) => {
                let text = text.trim();
                if text.is_empty() {
                    continue;
                }
                out.push_str(separator);
                for line in text.lines() {
                    push_escaped(line.trim_end(), &mut out);
                    out.push('\n');
                }
            }
            Block::Item { level, number, text } => {
                let text = text.trim();
                if text.is_empty() {
                    continue;
                }
                if !in_list {
                    out.push_str(separator);
                }
                let level = usize::from((*level).min(MAX_LEVEL));
                let marker = number.map_or_else(|| "- ".to_owned(), |number| format!("{number}. "));
                let indent = "    ".repeat(level);
                let mut prefix = format!("{indent}{marker}");
                for line in text.lines() {
                    out.push_str(&prefix);
                    push_escaped(line.trim(), &mut out);
                    out.push('\n');
                    prefix = format!("{indent}    ");
                }
            }
            Block::Table(rows) => {
                out.push_str(separator);
                let before = out.len();
                table::write(rows, &mut out);
                if out.len() == before {
                    out.truncate(start);
                }
            }
        }
        if out.len() > start {
            in_list = matches!(block, Block::Item { .. });
        }
    }
    (out, starts)
}

/// Escapes the text of blocks without links and emphasis.
pub(crate) fn escaped(blocks: &[Block]) -> Vec<Block> {
    let escaped = |block: &Block| match block {
        Block::Heading { level, text } => Block::Heading { level: *level, text: literal::block(text) },
        Block::Paragraph(text) => Block::Paragraph(literal::block(text)),
        Block::Item { level, number, text } => {
            Block::Item { level: *level, number: *number, text: literal::block(text) }
        }
        Block::Table(rows) => {
            Block::Table(rows.iter().map(|row| row.iter().map(|cell| literal::block(cell)).collect()).collect())
        }
    };
    blocks.iter().map(escaped).collect()
}

/// Appends a line of text. A backslash escapes a line that looks like a heading, quote, list item, rule, table or
/// definition.
pub(crate) fn push_escaped(line: &str, out: &mut String) {
    let line = line.trim_start();
    let rest = line.trim_start_matches('#');
    let hashes = line.len() - rest.len();
    let is_heading = (1..=6).contains(&hashes) && (rest.is_empty() || rest.starts_with(' '));
    let item = ["- ", "+ ", "* "].iter().any(|mark| line.starts_with(mark));
    let fence = opening_fence(line).is_some();
    let is_rule = is_rule(line);
    if is_rule && line.starts_with(['*', '_']) {
        // The rest of a run would still be a mark of emphasis.
        for c in line.chars() {
            if !c.is_whitespace() {
                out.push('\\');
            }
            out.push(c);
        }
        return;
    }
    if is_heading || item || fence || is_rule || line.starts_with(['>', '|']) || is_definition(line) {
        out.push('\\');
    }
    out.push_str(line);
}

/// Returns the mark and the length of the fence that opens a block of code on this line.
pub(crate) fn opening_fence(line: &str) -> Option<(char, usize)> {
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = line.trim_start_matches(mark);
    let length = line.len() - info.len();
    // ```like this``` is a code span.
    (length >= 3 && !(mark == '`' && info.contains('`'))).then_some((mark, length))
}

/// Returns true for a line of one mark that is a rule or makes a heading of the line above, and for the rule of a table.
fn is_rule(line: &str) -> bool {
    let of_table = line.contains('|') && line.bytes().all(|byte| matches!(byte, b'|' | b':' | b'-' | b' ' | b'\t'));
    let Some(mark) = line.bytes().next().filter(|mark| matches!(mark, b'=' | b'-' | b'_' | b'*')) else {
        return of_table;
    };
    let marks = line.bytes().filter(|byte| *byte == mark).count();
    let spaced = mark != b'=' && line.bytes().all(|byte| byte == mark || matches!(byte, b' ' | b'\t'));
    of_table || (marks >= 3 && (spaced || marks == line.len()))
}

/// Returns true for `[label]: target`. Footnotes begin in the same way.
fn is_definition(line: &str) -> bool {
    let label = line.strip_prefix('[').filter(|label| !label.starts_with('^'));
    label.and_then(|label| label.split_once(']')).is_some_and(|(_, rest)| rest.starts_with(':'))
}

/// Returns a heading, of level 1 to 6, on one line. A backslash escapes a `#` at its end, which would only close it.
pub(crate) fn heading(level: usize, text: &str) -> String {
    let marks = "#".repeat(level.clamp(1, 6));
    let front = text.trim_end_matches('#');
    let closes = front.len() < text.len() && (front.is_empty() || front.ends_with(' '));
    format!("{marks} {front}{}{}", if closes { "\\" } else { "" }, &text[front.len()..])
}

/// Returns a text on one line, with single spaces.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(level: u8, number: Option<u32>, text: &str) -> Block {
        Block::Item { level, number, text: text.into() }
    }

    #[test]
    fn blocks_are_separated_and_items_have_their_numbers() {
        let blocks = [
            Block::Heading { level: 1, text: "A\nB".into() },
            Block::Paragraph("one\ntwo".into()),
            item(0, Some(1), "first"),
            item(1, None, "inner"),
            item(0, Some(2), "second"),
            Block::Paragraph(" ".into()),
            Block::Table(vec![vec!["x".into()]]),
            Block::Table(Vec::new()),
            item(0, Some(3), "again"),
        ];
        assert_eq!(
            write(&blocks),
            "# A B\n\none\ntwo\n\n1. first\n    - inner\n2. second\n\n| x |\n| --- |\n\n3. again\n"
        );
    }

    #[test]
    fn text_that_looks_like_structure_is_escaped() {
        let paragraph = |text: &str| write(&[Block::Paragraph(text.into())]);
        assert_eq!(paragraph("# 5 apples"), "\\# 5 apples\n");
        assert_eq!(paragraph("#5 apples"), "#5 apples\n");
        assert_eq!(paragraph("- 3 degrees"), "\\- 3 degrees\n");
        assert_eq!(paragraph("a\n---"), "a\n\\---\n");
        for line in ["+ x", "* x", "> x", "===", "-- -", "| a |", "-|-", "[a]: b", "~~~ x", "~~~ `x`", "``` x"] {
            assert_eq!(paragraph(line), format!("\\{line}\n"));
        }
        assert_eq!(paragraph("_ _ _\n***"), "\\_ \\_ \\_\n\\*\\*\\*\n");
        for line in ["-", "--", "-5", "1. x", "a|b", "[^1]: x", "[a] b", "[link](x): y", "``` a``b ``` c"] {
            assert_eq!(paragraph(line), format!("{line}\n"));
        }
        assert_eq!([heading(2, "C#"), heading(2, "C #"), heading(2, "#")], ["## C#", "## C \\#", "## \\#"]);
    }
}

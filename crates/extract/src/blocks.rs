//! Block model between our own readers and markdown.

use crate::table;

/// A block of a document, in reading order. Text is inline markdown with links and emphasis already marked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Block {
    /// Heading of level 1 to 6.
    Heading {
        level: u8,
        text: String,
    },
    Paragraph(String),
    /// List item; level 0 is the outermost.
    Item {
        level: u8,
        ordered: bool,
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
    let mut numbers = [0u32; MAX_LEVEL as usize + 1];
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
                out.extend(std::iter::repeat_n('#', usize::from((*level).clamp(1, 6))));
                out.push(' ');
                out.push_str(&text);
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
            Block::Item { level, ordered, text } => {
                let text = text.trim();
                if text.is_empty() {
                    continue;
                }
                if !in_list {
                    out.push_str(separator);
                    numbers = [0; MAX_LEVEL as usize + 1];
                }
                let level = usize::from((*level).min(MAX_LEVEL));
                numbers[level + 1..].fill(0);
                let marker = if *ordered {
                    numbers[level] += 1;
                    format!("{}. ", numbers[level])
                } else {
                    "- ".to_owned()
                };
                let indent = "    ".repeat(level);
                let mut prefix = format!("{indent}{marker}");
                for line in text.lines() {
                    out.push_str(&prefix);
                    out.push_str(line.trim());
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

/// Appends a line of text. A backslash escapes a line that looks like a heading, quote, list item or rule.
pub(crate) fn push_escaped(line: &str, out: &mut String) {
    let line = line.trim_start();
    let rest = line.trim_start_matches('#');
    let hashes = line.len() - rest.len();
    let heading = (1..=6).contains(&hashes) && (rest.is_empty() || rest.starts_with(' '));
    let item = ["- ", "+ ", "* "].iter().any(|mark| line.starts_with(mark)) || line.starts_with('>');
    let rule = line.len() >= 3 && (line.bytes().all(|byte| byte == b'-') || line.bytes().all(|byte| byte == b'='));
    if heading || item || rule || line.starts_with("```") || line.starts_with("~~~") {
        out.push('\\');
    }
    out.push_str(line);
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(level: u8, ordered: bool, text: &str) -> Block {
        Block::Item { level, ordered, text: text.into() }
    }

    #[test]
    fn blocks_are_separated_and_lists_numbered() {
        let blocks = [
            Block::Heading { level: 1, text: "A\nB".into() },
            Block::Paragraph("one\ntwo".into()),
            item(0, true, "first"),
            item(1, false, "inner"),
            item(0, true, "second"),
            Block::Paragraph(" ".into()),
            Block::Table(vec![vec!["x".into()]]),
            Block::Table(Vec::new()),
            item(0, true, "again"),
        ];
        assert_eq!(
            write(&blocks),
            "# A B\n\none\ntwo\n\n1. first\n    - inner\n2. second\n\n| x |\n| --- |\n\n1. again\n"
        );
    }

    #[test]
    fn text_that_looks_like_structure_is_escaped() {
        let paragraph = |text: &str| write(&[Block::Paragraph(text.into())]);
        assert_eq!(paragraph("# 5 apples"), "\\# 5 apples\n");
        assert_eq!(paragraph("#5 apples"), "#5 apples\n");
        assert_eq!(paragraph("- 3 degrees"), "\\- 3 degrees\n");
        assert_eq!(paragraph("a\n---"), "a\n\\---\n");
    }
}

//! Final cleanup of the markdown that readers produce.

use crate::blocks::opening_fence;

/// Normalizes markdown: `\n` line ends, at most one blank line in a row, no trailing white space, no blank lines at
/// the start or end. Fenced code is left unchanged.
pub(crate) fn markdown(source: &str) -> String {
    let source = crate::charset::normalize_lines(source);
    let mut out = String::with_capacity(source.len());
    let mut fence: Option<(char, usize)> = None;
    let mut blank = 0;
    for line in source.lines() {
        let trimmed = line.trim_start();
        let was_code = fence.is_some();
        fence = match fence {
            Some(open) => Some(open).filter(|open| !closes(trimmed, *open)),
            // Code in a quotation is safe: the mark of the quotation begins all of its lines, also the blank ones.
            None => opening_fence(behind_item_marks(trimmed)),
        };
        let line = if was_code { line } else { line.trim_end() };
        if line.is_empty() && !was_code {
            blank += 1;
            continue;
        }
        if !out.is_empty() {
            out.push_str(if blank > 0 { "\n\n" } else { "\n" });
        }
        blank = 0;
        if !was_code && fence.is_none() && trimmed.starts_with('|') {
            push_row(line, &mut out);
        } else {
            out.push_str(line);
        }
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

/// Returns true for a fence that closes the block of code that a fence of this mark and length opened.
fn closes(line: &str, (mark, length): (char, usize)) -> bool {
    let rest = line.trim_start_matches(mark);
    line.len() - rest.len() >= length && rest.trim().is_empty()
}

/// Returns the text behind the marks of list items (`- `, `1. `, `1) `), of which nested items that begin on one line
/// have several.
fn behind_item_marks(mut line: &str) -> &str {
    loop {
        let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
        // CommonMark allows nine digits.
        let rest = match line.len() - number.len() {
            0 => line.strip_prefix("- "),
            1..=9 => number.strip_prefix(". ").or_else(|| number.strip_prefix(") ")),
            _ => None,
        };
        match rest {
            Some(rest) => line = rest.trim_start(),
            None => return line,
        }
    }
}

/// Appends a table row without alignment padding, which would be most of a wide table.
fn push_row(line: &str, out: &mut String) {
    let rule = line.contains("---") && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '));
    let mut previous = ' ';
    let mut run = 0;
    for c in line.trim_start().chars() {
        run = if c == previous { run + 1 } else { 0 };
        previous = c;
        if (c == ' ' && run > 0) || (rule && c == '-' && run > 2) {
            continue;
        }
        out.push(c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_padding_is_removed() {
        let aligned = "| a     | b      |\n| :---- | -----: |\n| x  y  |        |\n";
        assert_eq!(markdown(aligned), "| a | b |\n| :--- | ---: |\n| x y | |\n");
    }

    #[test]
    fn blank_lines_are_collapsed_outside_code() {
        assert_eq!(
            markdown("\n\n# A  \r\n\n\n\ntext\n```\na\n\n\n  b  \n```\n\n\n"),
            "# A\n\ntext\n```\na\n\n\n  b  \n```\n"
        );
        assert_eq!(markdown(" \n\n"), "");
    }

    #[test]
    fn code_at_the_start_of_items_is_unchanged() {
        let table = "\n\n| a | b |\n";
        for marks in ["- ", "1. ", "12) ", "999999999. ", "- 2. - ", "-   "] {
            let code = |indent: &str| format!("```sh\n{indent}a\n\n\n{indent}|  b\n{indent}```");
            let source = format!("{marks}{}\n\n{}{table}", code(&" ".repeat(marks.len())), code(""));
            assert_eq!(markdown(&source), source);
        }
        // Neither of these opens a block.
        for line in ["- ```a```", "- ```` a```b ````", "1234567890. ```", "-```", "> ```"] {
            assert_eq!(markdown(&format!("{line}\n\n\n|  a |  b |\n")), format!("{line}{table}"), "{line}");
        }
    }
}

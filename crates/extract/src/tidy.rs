//! Final cleanup of the markdown that readers produce.

/// Normalizes markdown: `\n` line ends, at most one blank line in a row, no trailing white space, no blank lines at
/// the start or end. Fenced code is left unchanged.
pub(crate) fn markdown(source: &str) -> String {
    let source = crate::charset::normalize_lines(source);
    let mut out = String::with_capacity(source.len());
    let mut fence: Option<(char, usize)> = None;
    let mut blank = 0;
    for line in source.lines() {
        let trimmed = line.trim_start();
        let mark = trimmed.chars().next().filter(|c| matches!(c, '`' | '~'));
        let run = mark.map_or(0, |mark| trimmed.chars().take_while(|c| *c == mark).count());
        let was_code = fence.is_some();
        if run >= 3 {
            match (fence, mark) {
                (Some((open, length)), Some(mark))
                    if open == mark && run >= length && trimmed[run..].trim().is_empty() =>
                {
                    fence = None;
                }
                (None, Some(mark)) => fence = Some((mark, run)),
                _ => {}
            }
        }
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
}

//! Escapes that the library leaves out.

use super::marks::{EXCLAMATION, LINE};
use crate::blocks::{heading, push_escaped};
use crate::literal::is_reference;

/// Escapes what would be read as marks in markdown of the library, which never writes these as marks: underscores, ampersands, and
/// what [`super::marks`] marked. Addresses and code have none that would be.
pub(super) fn complete(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    let mut is_code = false;
    for line in markdown.lines() {
        let is_fence = line.trim_start().starts_with("```");
        if is_fence || is_code {
            out.extend(line.chars().filter(|c| *c != LINE));
        } else {
            push_line(line, &mut out);
        }
        out.push('\n');
        is_code ^= is_fence;
    }
    out
}

/// Returns true for the marks of a list item or a quote before its text, and for an empty text.
pub(super) fn is_block_mark(before: &str) -> bool {
    let ends = before.is_empty() || before.ends_with(' ');
    ends && before.chars().all(|c| matches!(c, ' ' | '>' | '-' | '.' | ')' | '0'..='9'))
}

/// Returns the level of a heading from the marks before its text.
fn heading_level(before: &str) -> Option<usize> {
    let marks = before.strip_suffix(' ')?;
    (!marks.is_empty() && marks.bytes().all(|byte| byte == b'#')).then_some(marks.len())
}

fn push_line(line: &str, out: &mut String) {
    // The author of a comment and the marks of a table row also precede text, which then begins no block.
    let begins_block = |before: &str| heading_level(before).is_some() || is_block_mark(before);
    let Some((before, text)) = line.split_once(LINE).filter(|parts| begins_block(parts.0)) else {
        complete_line(&line.replace(LINE, ""), out);
        return;
    };
    let mut escaped = String::with_capacity(text.len());
    complete_line(&text.replace(LINE, ""), &mut escaped);
    if let Some(level) = heading_level(before) {
        out.push_str(&heading(level, escaped.trim_end()));
    } else {
        out.push_str(before);
        push_escaped(&escaped, out);
    }
}

fn complete_line(line: &str, out: &mut String) {
    let mut rest = line;
    while let Some(at) = rest.find(['_', '&', ']', EXCLAMATION]) {
        let (before, found) = rest.split_at(at);
        out.push_str(before);
        let length = match found.as_bytes() {
            [b'_', ..] => found.len() - found.trim_start_matches('_').len(),
            // The destination of a link or an image. Brackets of the text are escaped.
            [b']', b'(', ..] if !out.ends_with('\\') => found.find(')').map_or(found.len(), |end| end + 1),
            _ => found.chars().next().map_or(1, char::len_utf8),
        };
        let (mark, after) = found.split_at(length);
        let escape = match mark.as_bytes() {
            [b'_', ..] => opens(out, after),
            [b'&'] => is_reference(after),
            _ => mark.starts_with(EXCLAMATION),
        };
        for c in mark.chars() {
            if escape {
                out.push('\\');
            }
            out.push(if c == EXCLAMATION { '!' } else { c });
        }
        rest = after;
    }
    out.push_str(rest);
}

/// Returns true if underscores between these texts may begin emphasis that others end.
fn opens(before: &str, after: &str) -> bool {
    !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_whitespace) && after.contains('_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_that_the_library_leaves_are_escaped() {
        for (markdown, expected) in [
            ("Use __init__ and snake_case, _x_", "Use \\_\\_init__ and snake_case, \\_x_"),
            ("_tmp and &lt; &#60; AT&T; R&D", "_tmp and \\&lt; \\&#60; AT\\&T; R&D"),
            ("[a _b_](http://x/_y_?p&lt;) _c_", "[a \\_b_](http://x/_y_?p&lt;) \\_c_"),
            ("\\[a\\](_b_) ](_c_", "\\[a\\](\\_b_) ](_c_"),
            ("```\n_a_ &lt;\n```\n_a_\n", "```\n_a_ &lt;\n```\n\\_a_"),
            ("| _a_ | **_b_** |\n", "| \\_a_ | **\\_b_** |"),
            ("# a\n\n\u{fdd2}# a\n\u{fdd2}- b\n\u{fdd2}---\n\n- \u{fdd2}c\n", "# a\n\n\\# a\n\\- b\n\\---\n\n- c"),
            ("  1. \u{fdd2}- a\n> \u{fdd2}# b\n## \u{fdd2}C #\n", "  1. \\- a\n> \\# b\n## C \\#"),
            ("**A1 (Ann):** \u{fdd2}# a\n| \u{fdd2}- a | \u{fdd2}_b_ |\n", "**A1 (Ann):** # a\n| - a | \\_b_ |"),
            ("\u{fdd2}Wow\u{fdd3}[a](b) ![c](d)\n", "Wow\\![a](b) ![c](d)"),
        ] {
            assert_eq!(complete(markdown), format!("{expected}\n"));
        }
    }
}

//! Escapes that the library leaves out.

use office_oxide::ir::{Element, InlineContent};

use crate::blocks::push_escaped;
use crate::literal::is_reference;

/// Noncharacter of Unicode at the start of each line of a paragraph while the library writes the markdown.
const LINE: char = '\u{fdd2}';

/// Marks the lines of paragraphs, so that [`complete`] can tell them from lines with a mark of the library.
pub(super) fn mark_lines(elements: &mut [Element]) {
    for element in elements {
        match element {
            Element::Paragraph(paragraph) => mark_lines_of(&mut paragraph.content),
            Element::TextBox(frame) => mark_lines(&mut frame.content),
            _ => {}
        }
    }
}

fn mark_lines_of(content: &mut [InlineContent]) {
    let mut is_start = true;
    for item in content {
        match item {
            InlineContent::Text(span) if !span.text.trim().is_empty() => {
                span.text = span.text.replace('\n', &format!("\n{LINE}"));
                if is_start {
                    span.text.insert(0, LINE);
                }
                is_start = false;
            }
            InlineContent::LineBreak => is_start = true,
            _ => {}
        }
    }
}

/// Escapes what would be read as marks in markdown of the library, which never writes these as marks: underscores, ampersands, and
/// the starts of the lines of paragraphs. Addresses and code have none that would be.
pub(super) fn complete(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    let mut is_code = false;
    for line in markdown.lines() {
        let is_fence = line.trim_start().starts_with("```");
        if is_fence || is_code {
            out.extend(line.chars().filter(|c| *c != LINE));
        } else {
            let mut escaped = String::with_capacity(line.len());
            complete_line(&line.replace(LINE, ""), &mut escaped);
            match line.starts_with(LINE) {
                true => push_escaped(&escaped, &mut out),
                false => out.push_str(&escaped),
            }
        }
        out.push('\n');
        is_code ^= is_fence;
    }
    out
}

fn complete_line(line: &str, out: &mut String) {
    let mut rest = line;
    while let Some(at) = rest.find(['_', '&', ']']) {
        let (before, found) = rest.split_at(at);
        out.push_str(before);
        let length = match found.as_bytes() {
            [b'_', ..] => found.len() - found.trim_start_matches('_').len(),
            // The destination of a link or an image. Brackets of the text are escaped.
            [b']', b'(', ..] if !out.ends_with('\\') => found.find(')').map_or(found.len(), |end| end + 1),
            _ => 1,
        };
        let (mark, after) = found.split_at(length);
        let escape = match mark.as_bytes() {
            [b'_', ..] => opens(out, after),
            [b'&'] => is_reference(after),
            _ => false,
        };
        for c in mark.chars() {
            if escape {
                out.push('\\');
            }
            out.push(c);
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
        ] {
            assert_eq!(complete(markdown), format!("{expected}\n"));
        }
    }
}

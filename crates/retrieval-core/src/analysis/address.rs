//! Addresses of Markdown links and images, which are not words of the running text.

use std::ops::Range;

/// Maximum nesting of parentheses in an address. It also bounds how often the text behind unclosed ones is read again.
const MAX_NESTING: usize = 32;

/// The addresses of the inline links and images in a text, with their titles.
///
/// As in CommonMark, an address ends at white space or at a parenthesis without a partner, unless it is in angle
/// brackets, and only a title may follow it. The end of the text may cut it off. Code and citations have such brackets
/// too (`handlers[0](event)`), so an address must also look like one: `guide.md`, `#top`, `mailto:a@b`, `/docs`.
pub(super) struct Addresses<'t> {
    text: &'t str,
    /// Bytes searched so far.
    searched: usize,
    /// The address found last. It may lie ahead.
    current: Range<usize>,
}

impl<'t> Addresses<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, searched: 0, current: 0..0 }
    }

    /// Returns true if the byte `at` is in an address. Call it with rising numbers.
    pub(super) fn contain(&mut self, at: usize) -> bool {
        while self.current.end <= at {
            self.current = self.search().unwrap_or(usize::MAX..usize::MAX);
        }
        self.current.start <= at
    }

    fn search(&mut self) -> Option<Range<usize>> {
        loop {
            self.searched += self.text[self.searched..].find(']')? + 1;
            let start = self.searched + 1;
            let rest = self.text[self.searched..].strip_prefix('(');
            if let Some(length) = rest.and_then(address_length) {
                self.searched = start + length;
                return Some(start..self.searched);
            }
        }
    }
}

/// Returns the length of the address with its title at the start of `rest`, the text after `](`.
fn address_length(rest: &str) -> Option<usize> {
    let (address, length) = match rest.strip_prefix('<') {
        Some(inner) => {
            let end = inner.find(['<', '>', '\n']).filter(|end| inner[*end..].starts_with('>'))?;
            (&inner[..end], end + 2)
        }
        None => {
            let end = bare_length(rest)?;
            (&rest[..end], end)
        }
    };
    if !looks_like_address(address) {
        return None;
    }
    Some(length + title_length(&rest[length..])?)
}

/// Returns the length of the text up to white space or a parenthesis without a partner.
fn bare_length(rest: &str) -> Option<usize> {
    let (mut depth, mut is_escaped) = (0, false);
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            _ if byte.is_ascii_whitespace() => return Some(at),
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'(' if depth == MAX_NESTING => return None,
            b'(' => depth += 1,
            b')' if depth == 0 => return Some(at),
            b')' => depth -= 1,
            _ => {}
        }
    }
    Some(rest.len())
}

/// Returns true for a text with a slash, scheme, port, fragment or file extension.
fn looks_like_address(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.iter().zip(1..).any(|(byte, next)| match byte {
        b'/' => true,
        b':' | b'#' => next < bytes.len(),
        // Not `i.e.` or `3.5`.
        b'.' => {
            bytes.get(next).is_some_and(u8::is_ascii_alphabetic)
                && bytes.get(next + 1).is_some_and(u8::is_ascii_alphanumeric)
        }
        _ => false,
    })
}

/// Returns the length of the title in quotation marks at the start of `rest`, the text after an address: 0 without a
/// title, `None` if something else follows.
fn title_length(rest: &str) -> Option<usize> {
    let title = rest.trim_start();
    let quote = match title.chars().next() {
        None | Some(')') => return Some(0),
        Some(quote @ ('"' | '\'')) if title.len() < rest.len() => quote,
        Some(_) => return None,
    };
    let (inner, after) = title[1..].split_once(quote)?;
    let is_title = !inner.contains('\n') && after.trim_start().starts_with(')');
    is_title.then_some(rest.len() - after.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the addresses in a text, each in angle quotes.
    fn marked(text: &str) -> String {
        let mut addresses = Addresses::new(text);
        let (mut out, mut was_inside) = (String::new(), false);
        for (at, character) in text.char_indices() {
            let is_inside = addresses.contain(at);
            out.push_str(match (was_inside, is_inside) {
                (false, true) => "«",
                (true, false) => "»",
                _ => "",
            });
            out.push(character);
            was_inside = is_inside;
        }
        if was_inside { out + "»" } else { out }
    }

    #[test]
    fn addresses_end_like_those_of_markdown() {
        for expected in [
            "Grease [the bearings](«https://example.org/eng/detail.html») once.",
            "[a](«/b»)[c](«#d») [e](«f.md») [g](«mailto:h@i») [j](«k.org:80»)",
            "![alt](«https://a.org/b.png») and [![alt](«c.png»)](«/d»)",
            "[Bank](«https://a.org/wiki/Bank_(geography)») of [x](«a\\)b/c»)",
            "[a](«/b \"the (title)\"») c [d](«/e 'it'» ) f",
            "[a](«<my file.md>») b [c](«<d/e> \"f\"») g",
            "[東京](«https://例え.jp/東京»)の天気",
            "cut off [here](«https://example.org/eng»",
        ] {
            assert_eq!(marked(&expected.replace(['«', '»'], "")), expected);
        }
    }

    #[test]
    fn other_brackets_are_text() {
        for text in [
            "",
            "](",
            "handlers[0](event) and [sic](2004)",
            "[Smith](see section 3: pumps)",
            "[Smith](Note: pumps) [b](3.5) [c](i.e.)",
            "[](std::string first, int second)",
            "[a](<b/c> [d](<e/f\n>)",
            "[a](/b\"c d) [e](/f \"g) [h](/i \"j\nk\")",
            "[a] (/b) [c][d] (/e)",
        ] {
            assert_eq!(marked(text), text);
        }
    }

    #[test]
    fn long_and_hostile_texts_take_linear_time() {
        for unit in ["](", "](/", "](/a(", "](<", "](</> \"", "](/ \"", "](/ '\"", "](a)", "](\\", "](/\\(", "]"] {
            for end in ["", " ", "\""] {
                let text = unit.repeat(20_000) + end;
                let mut addresses = Addresses::new(&text);
                assert!((0..text.len()).filter(|at| addresses.contain(*at)).count() < text.len());
            }
        }
        let long = format!("![a](data:image/png;base64,{})", "iVBO/".repeat(20_000));
        assert!(marked(&long).ends_with("/»)"));
    }
}

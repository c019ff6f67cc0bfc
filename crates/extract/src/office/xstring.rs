//! Escapes in the strings of workbooks (ECMA-376 part 1, 22.9.2.19, `ST_Xstring`).

use std::borrow::Cow;

/// Length of an escape in bytes: `_x000D_`.
const LENGTH: usize = 7;

/// Returns the text with its escapes decoded. Each is decoded once: `_x005F_x000D_` stands for `_x000D_`.
pub(super) fn decoded(text: &str) -> Cow<'_, str> {
    if !text.contains("_x") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, found)) = rest.find("_x").and_then(|at| rest.split_at_checked(at)) {
        out.push_str(before);
        match escape(found) {
            Some((c, after)) => {
                out.push(c);
                rest = after;
            }
            None => {
                out.push('_');
                rest = found.strip_prefix('_').unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Parses the escape of a character at the start of the text, or the two of a surrogate pair, and returns the rest.
fn escape(text: &str) -> Option<(char, &str)> {
    let (first, rest) = unit(text)?;
    if let Some(c) = char::from_u32(u32::from(first)) {
        return Some((c, rest));
    }
    let (second, rest) = unit(rest)?;
    let c = char::decode_utf16([first, second]).next()?.ok()?;
    Some((c, rest))
}

/// Parses the escape of a UTF-16 code unit, and returns the rest.
fn unit(text: &str) -> Option<(u16, &str)> {
    let (escape, rest) = text.split_at_checked(LENGTH)?;
    let digits = escape.strip_prefix("_x")?.strip_suffix('_')?;
    let is_number = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    Some((is_number.then(|| u16::from_str_radix(digits, 16).ok()).flatten()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_decoded_once() {
        for (text, expected) in [
            ("a_x000D_b", "a\rb"),
            ("_x000d__x000A_", "\r\n"),
            ("_x005F_x000D_", "_x000D_"),
            ("_xD83D__xDE00_", "\u{1f600}"),
            ("_xD83D_ _x00e9", "_xD83D_ _x00e9"),
            ("_x_x0041_", "_xA"),
            ("_x+041_ max_x snake_case", "_x+041_ max_x snake_case"),
            ("_x00é_", "_x00é_"),
        ] {
            assert_eq!(decoded(text), expected);
        }
    }
}

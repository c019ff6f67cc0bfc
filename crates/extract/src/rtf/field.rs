//! Instructions of fields.

use super::symbol;

/// Returns the target of a `HYPERLINK "target"` field if it is a URL.
pub(super) fn hyperlink(instruction: &str) -> Option<String> {
    let rest = instruction.trim().strip_prefix("HYPERLINK")?.trim_start();
    let target = rest.strip_prefix('"')?.split('"').next()?.trim();
    let address = ["http://", "https://", "mailto:"].iter().any(|scheme| target.starts_with(scheme));
    (address && !target.contains([' ', ')'])).then(|| target.to_owned())
}

/// Returns the character of a `SYMBOL code \f "Symbol"` field; `None` for other fonts.
pub(super) fn symbol(instruction: &str) -> Option<char> {
    let mut words = instruction.split_whitespace();
    if words.next()? != "SYMBOL" {
        return None;
    }
    let number = words.next()?;
    let code: u32 = match number.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None => number.parse().ok()?,
    };
    let font = words.skip_while(|word| *word != "\\f").nth(1)?;
    let code = u8::try_from(if code & !0xff == 0xf000 { code & 0xff } else { code }).ok()?;
    font.trim_matches('"').eq_ignore_ascii_case("symbol").then(|| symbol::character(code)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_of_the_symbol_font_are_read() {
        assert_eq!(symbol(" SYMBOL 109 \\f \"Symbol\" \\s 12"), Some('μ'));
        assert_eq!(symbol("SYMBOL 61603 \\f Symbol"), Some('≤'));
        assert_eq!(symbol("SYMBOL 0xB1 \\s 12 \\f \"Symbol\""), Some('±'));
        for instruction in ["SYMBOL 109 \\f \"Wingdings\"", "SYMBOL 109", "SYMBOL x \\f Symbol", "PAGE", ""] {
            assert_eq!(symbol(instruction), None, "{instruction}");
        }
    }
}

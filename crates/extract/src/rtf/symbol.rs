//! Characters of the Symbol font (Adobe, Symbol encoding).

/// Characters of the codes 0x20 to 0x7e.
const LOW: &str = " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼";
/// Characters of the codes 0xa0 to 0xfe. Code 0xf0 has none.
const HIGH: &str =
    "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪\u{fffd}〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭";

/// Returns the character of a code; `None` for a control code.
pub(super) fn character(code: u8) -> Option<char> {
    let (characters, first) = if code < 0xa0 { (LOW, 0x20) } else { (HIGH, 0xa0) };
    let at = code.checked_sub(first)?;
    characters.chars().nth(usize::from(at)).filter(|c| *c != '\u{fffd}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_the_characters_of_the_font() {
        assert_eq!((LOW.chars().count(), HIGH.chars().count()), (0x7f - 0x20, 0xff - 0xa0));
        for (code, c) in [
            (b'a', 'α'),
            (b'm', 'μ'),
            (b'W', 'Ω'),
            (b'~', '∼'),
            (0xa3, '≤'),
            (0xb1, '±'),
            (0xb7, '•'),
            (0xc5, '⊕'),
            (0xd6, '√'),
            (0xde, '⇒'),
            (0xe5, '∑'),
            (0xf2, '∫'),
            (0xfe, '⎭'),
        ] {
            assert_eq!(character(code), Some(c), "{code:x}");
        }
        assert!([0x00, 0x1f, 0x7f, 0x9f, 0xf0, 0xff].iter().all(|code| character(*code).is_none()));
    }
}

//! Text strings (ISO 32000-1, 7.9.2.2).

use super::letters::letters;
use super::radicals::unified;

/// Characters 0x18 to 0x1F of PDFDocEncoding (annex D.2).
const ACCENTS: [char; 8] = ['˘', 'ˇ', 'ˆ', '˙', '˝', '˛', '˚', '˜'];
/// Characters 0x80 to 0x9E of PDFDocEncoding.
const PUNCTUATION: [char; 31] = [
    '•', '†', '‡', '…', '—', '–', 'ƒ', '⁄', '‹', '›', '−', '‰', '„', '“', '”', '‘', '’', '‚', '™', 'ﬁ', 'ﬂ', 'Ł', 'Œ',
    'Š', 'Ÿ', 'Ž', 'ı', 'ł', 'œ', 'š', 'ž',
];

/// Decodes a text string: UTF-16 or UTF-8 by its byte order mark, otherwise PDFDocEncoding. Line ends are kept; other
/// control characters and undefined codes are dropped, and ligatures become letters.
pub(super) fn decode(bytes: &[u8]) -> String {
    let shown = |c: &char| c.is_whitespace() || !c.is_control();
    let Some((encoding, mark)) = encoding_rs::Encoding::for_bom(bytes) else {
        return bytes.iter().map(|byte| character(*byte)).filter(shown).flat_map(letters).collect();
    };
    let text = encoding.decode_without_bom_handling(&bytes[mark..]).0;
    text.chars().filter(shown).map(unified).flat_map(letters).collect()
}

/// Returns the character of a code of PDFDocEncoding; a control character if the code is undefined.
fn character(code: u8) -> char {
    match code {
        0x18..=0x1f => ACCENTS[usize::from(code - 0x18)],
        0x80..=0x9e => PUNCTUATION[usize::from(code - 0x80)],
        0xa0 => '€',
        _ => char::from(code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_strings_are_decoded_by_byte_order_mark() {
        assert_eq!(decode(b"\xfe\xff\0A\x65\xe5"), "A日");
        assert_eq!(decode(b"\xff\xfeA\0\xe5\x65"), "A日");
        assert_eq!(decode(b"\xfe\xff\0A\x2f\x47"), "A日", "as a radical");
        assert_eq!(decode(b"\xfe\xff\xfb\x01\0n"), "fin", "as a ligature");
        assert_eq!(decode(b"\xef\xbb\xbf\xc3\xa9"), "é");
        assert_eq!(decode(b"caf\xe9\r\n\x01x"), "café\r\nx");
    }

    #[test]
    fn text_strings_without_a_mark_are_pdf_doc_encoded() {
        assert_eq!(decode(b"100 \xa0"), "100 €");
        assert_eq!(decode(b"it\x90s \x8dquoted\x8e \x92"), "it’s “quoted” ™");
        assert_eq!(decode(b"5 \x85 7 \x84 end \x80"), "5 – 7 — end •");
        assert_eq!(decode(b"\x18\x1f \x93\x94\x95 \x9e"), "˘˜ fiflŁ ž");
        assert_eq!(decode(b"a\x7f\x9fb \xa1\xff"), "ab ¡ÿ");
    }
}

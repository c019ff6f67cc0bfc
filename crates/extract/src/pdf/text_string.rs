//! Text strings (ISO 32000-1, 7.9.2.2).

/// Decodes a text string: UTF-16BE or UTF-8 by its byte order mark, otherwise PDFDocEncoding,
/// whose printable part is nearly windows-1252. Line ends are kept.
pub(super) fn decode(bytes: &[u8]) -> String {
    let (encoding, mark) = encoding_rs::Encoding::for_bom(bytes).unwrap_or((encoding_rs::WINDOWS_1252, 0));
    let text = encoding.decode_without_bom_handling(&bytes[mark..]).0;
    text.chars().filter(|c| c.is_whitespace() || !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_strings_are_decoded_by_byte_order_mark() {
        assert_eq!(decode(b"\xfe\xff\0A\x65\xe5"), "A日");
        assert_eq!(decode(b"\xef\xbb\xbf\xc3\xa9"), "é");
        assert_eq!(decode(b"caf\xe9\r\n\x01x"), "café\r\nx");
    }
}

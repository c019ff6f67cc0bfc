//! The encoding of a page: its mark, what its server says, what it declares itself, or a guess.

use encoding_rs::Encoding;

use crate::charset;

/// How far into a page the declaration is looked for (HTML, 13.2.3.2: the first 1024 bytes; pages break that rule).
const HEAD: usize = 4096;

/// `header` is the label that the server names; it wins over the page's own (HTML, 13.2.3.1).
pub(super) fn decode(bytes: &[u8], header: Option<&str>) -> Option<String> {
    charset::decode(bytes, &[charset::of_label(header), declared(bytes)])
}

/// What `<meta charset>`, `<meta http-equiv=content-type>` or an XML declaration names.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(HEAD)];
    let head: String = head.iter().map(|byte| byte.to_ascii_lowercase() as char).collect();
    let at = head.find("charset=").map(|at| at + "charset=".len());
    let at = at.or_else(|| {
        head.starts_with("<?xml").then(|| head.find("encoding=")).flatten().map(|at| at + "encoding=".len())
    })?;
    let label: String = head[at..]
        .trim_start_matches(['"', '\'', ' '])
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.'))
        .collect();
    Encoding::for_label(label.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_declaration_decides_over_a_guess() {
        let page = b"<html><head><meta http-equiv='Content-Type' content='text/html; charset=windows-1251'></head>\xcf\xf0\xe8</html>";
        assert!(decode(page, None).expect("text").contains("При"));
        assert!(decode(b"<meta charset=\"shift_jis\">\x93\xfa\x96\x7b", None).expect("text").contains("日本"));
        assert!(decode("<meta charset=latin1>déjà".as_bytes(), None).expect("text").contains("déjà"));
        let page = b"<meta charset=latin1>\x93\xfa\x96\x7b";
        assert!(decode(page, Some("Shift_JIS")).expect("text").contains("日本"), "the server's word counts first");
    }
}

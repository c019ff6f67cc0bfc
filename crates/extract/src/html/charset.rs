//! The encoding of a page: its mark, what it declares, or a guess.

use encoding_rs::Encoding;

use crate::charset;

/// How far into a page the declaration is looked for (HTML, 13.2.3.2: the first 1024 bytes; pages break that rule).
const HEAD: usize = 4096;

pub(super) fn decode(bytes: &[u8]) -> Option<String> {
    charset::decode(bytes, declared(bytes))
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
        assert!(decode(page).expect("text").contains("При"));
        assert!(decode(b"<meta charset=\"shift_jis\">\x93\xfa\x96\x7b").expect("text").contains("日本"));
        assert!(decode("<meta charset=latin1>déjà".as_bytes()).expect("text").contains("déjà"));
    }
}

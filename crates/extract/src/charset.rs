//! Text decoding in any common encoding.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

/// Number of bytes examined to guess an encoding.
const SAMPLE: usize = 256 * 1024;
/// Minimum number of valid characters outside ASCII per broken sequence of UTF-8, and of declared UTF-8. In another
/// encoding such sequences are valid only by chance.
const WIDE_PER_BROKEN: usize = 20;
const WIDE_PER_BROKEN_IF_DECLARED: usize = 4;
/// Number of NUL bytes that are dropped from a short text, if they are at most an eighth of it.
const STRAY_NULS: usize = 4;

/// Returns the encoding of a label (`Latin1`, `"utf-8"`) as a list for [`decode`]. The list is empty for unknown
/// labels and for encodings that no text uses (`replacement`, `x-user-defined`).
pub(crate) fn from_label(label: Option<&str>) -> Vec<&'static Encoding> {
    let label =
        label.unwrap_or_default().trim_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ';' | ','));
    Encoding::for_label_no_replacement(label.as_bytes())
        .filter(|encoding| *encoding != X_USER_DEFINED)
        .into_iter()
        .collect()
}

/// Decodes text and drops a byte order mark. Returns `None` for bytes that are not text in any encoding.
///
/// Tries in order: byte order mark; UTF-16 by its NUL bytes; ISO-2022-JP by its escape sequences; UTF-8; the first
/// encoding of `declared` that fits the bytes; a guess from letter frequencies. UTF-8 may have broken sequences, since a
/// truncated or damaged file is still UTF-8: one for [`WIDE_PER_BROKEN`] characters outside ASCII.
///
/// Occasional NUL bytes, which programs that write fixed-length fields leave in a text, are dropped.
///
/// UTF-8 precedes the declared encodings. Text in another encoding is valid UTF-8 only if it is a few letters long,
/// while servers that declare `iso-8859-1` for every file are common.
pub(crate) fn decode(bytes: &[u8], declared: &[&'static Encoding]) -> Option<String> {
    if let Some(text) = decode_bom(bytes) {
        return text;
    }
    let sample = &bytes[..bytes.len().min(SAMPLE)];
    if sample.contains(&0) { decode_with_nuls(bytes, declared) } else { decode_without_nuls(bytes, declared) }
}

/// Decodes UTF-16, or text in another encoding with occasional NUL bytes.
fn decode_with_nuls(bytes: &[u8], declared: &[&'static Encoding]) -> Option<String> {
    let rest: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != 0).collect();
    let nuls = bytes.len() - rest.len();
    let is_text = !is_binary(&rest[..rest.len().min(SAMPLE)]);
    if is_text
        && nuls * 1000 <= bytes.len()
        && let Some(text) = decode_utf8(&rest, declared)
    {
        return Some(text);
    }
    let sample = &bytes[..bytes.len().min(SAMPLE)];
    let wide = declared.iter().copied().find(|encoding| [UTF_16LE, UTF_16BE].contains(encoding));
    let guessed = || guess_utf16(sample).filter(|wide| !is_text || has_many_nuls(sample) || is_lopsided(wide, sample));
    if let Some(encoding) = wide.filter(|wide| is_utf16(wide, sample)).or_else(guessed) {
        return Some(encoding.decode_without_bom_handling(bytes).0.into_owned());
    }
    let are_stray = nuls * 50 <= bytes.len() || (nuls <= STRAY_NULS && nuls * 8 <= bytes.len());
    are_stray.then(|| decode_without_nuls(&rest, declared)).flatten()
}

/// Decodes text in any encoding but UTF-16.
fn decode_without_nuls(bytes: &[u8], declared: &[&'static Encoding]) -> Option<String> {
    let sample = &bytes[..bytes.len().min(SAMPLE)];
    if is_binary(sample) {
        return None;
    }
    if is_iso_2022_jp(sample) {
        return Some(encoding_rs::ISO_2022_JP.decode_without_bom_handling(bytes).0.into_owned());
    }
    if let Some(text) = decode_utf8(bytes, declared) {
        return Some(text);
    }
    // Only letters outside ASCII identify the encoding: the sample starts at the first one, with the word around it.
    let first = bytes.iter().position(|byte| !byte.is_ascii()).unwrap_or(0).saturating_sub(64);
    let (letters, further) = bytes[first..].split_at((bytes.len() - first).min(SAMPLE));
    let encoding = declared
        .iter()
        .copied()
        .find(|encoding| is_plausible(encoding, letters))
        .unwrap_or_else(|| guess(letters, further.is_empty()));
    Some(encoding.decode_without_bom_handling(bytes).0.into_owned())
}

/// Checks if bytes that are not UTF-8, however much of it is forgiven, can be text in this encoding. At most one in twenty non-ASCII characters may be
/// broken, private use, or a control character of U+0080 to U+009F (unassigned bytes of an encoding map to these).
fn is_plausible(encoding: &'static Encoding, letters: &[u8]) -> bool {
    if [UTF_8, UTF_16LE, UTF_16BE].contains(&encoding) {
        return false;
    }
    let text = encoding.decode_without_bom_handling(letters).0;
    // The sample may end inside a character.
    let text = text.strip_suffix('\u{fffd}').unwrap_or(&text);
    let wide = text.chars().filter(|c| !c.is_ascii()).count();
    let odd = text.chars().filter(|c| matches!(c, '\u{80}'..='\u{9f}' | '\u{e000}'..='\u{f8ff}' | '\u{fffd}')).count();
    odd * 20 <= wide
}

fn decode_bom(bytes: &[u8]) -> Option<Option<String>> {
    // encoding_rs lacks UTF-32, which the web does not use; the little-endian mark starts like that of UTF-16.
    if let Some(rest) = bytes.strip_prefix(b"\xff\xfe\0\0").filter(|rest| rest.len().is_multiple_of(4)) {
        return Some(decode_utf32(rest, u32::from_le_bytes));
    }
    if let Some(rest) = bytes.strip_prefix(b"\0\0\xfe\xff") {
        return Some(decode_utf32(rest, u32::from_be_bytes));
    }
    let (encoding, mark) = Encoding::for_bom(bytes)?;
    Some(Some(encoding.decode_without_bom_handling(&bytes[mark..]).0.into_owned()))
}

fn decode_utf32(bytes: &[u8], unit: fn([u8; 4]) -> u32) -> Option<String> {
    let (units, _) = bytes.as_chunks::<4>();
    Some(units.iter().map(|&four| char::from_u32(unit(four)).unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}

/// Detects UTF-16 without a byte order mark: NUL bytes are on one side of its units, and it decodes to text.
///
/// White space tells the sides best: ideographs such as U+4E00 and the ideographic space have a NUL on the other side.
fn guess_utf16(sample: &[u8]) -> Option<&'static Encoding> {
    let (units, _) = sample.as_chunks::<2>();
    let (mut first, mut second) = (0usize, 0usize);
    let (mut first_beside_space, mut second_beside_space) = (0usize, 0usize);
    for &[a, b] in units {
        first += usize::from(a == 0);
        second += usize::from(b == 0);
        first_beside_space += usize::from(a == 0 && b.is_ascii_whitespace());
        second_beside_space += usize::from(b == 0 && a.is_ascii_whitespace());
    }
    if first_beside_space != second_beside_space {
        (first, second) = (first_beside_space, second_beside_space);
    }
    let encoding = if second > first * 8 {
        UTF_16LE
    } else if first > second * 8 {
        UTF_16BE
    } else {
        return None;
    };
    is_utf16(encoding, sample).then_some(encoding)
}

/// Checks if bytes can be text in UTF-16 of this byte order.
fn is_utf16(encoding: &'static Encoding, sample: &[u8]) -> bool {
    let units = sample.len() / 2;
    let (text, broken) = encoding.decode_without_bom_handling(&sample[..units * 2]);
    let controls = text.chars().filter(|&c| is_odd_control(c)).count();
    let private = text.chars().filter(|&c| matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{fff0}'..='\u{ffff}')).count();
    // A sample that ends inside a surrogate pair has one broken character.
    controls * 200 <= units && private * 20 <= units && (!broken || units > 64)
}

/// Checks if a tenth of the units has a NUL, as in UTF-16 of scripts with spaces between words.
fn has_many_nuls(sample: &[u8]) -> bool {
    sample.iter().filter(|&&byte| byte == 0).count() * 20 >= sample.len()
}

/// Checks if the sides of the units differ as in Chinese and Japanese UTF-16: the high byte of most ideographs and of
/// all kana is in ASCII, while the low byte has any value. Bytes of other encodings are alike on both sides, or those
/// outside ASCII are on the side of the high byte.
fn is_lopsided(encoding: &'static Encoding, sample: &[u8]) -> bool {
    let (units, _) = sample.as_chunks::<2>();
    let (mut wide, mut opposite) = (0usize, 0usize);
    for &[a, b] in units {
        let (high, low) = if encoding == UTF_16BE { (a, b) } else { (b, a) };
        wide += usize::from(high.is_ascii_graphic() && !low.is_ascii());
        opposite += usize::from(!high.is_ascii() && low.is_ascii());
    }
    wide * 4 >= units.len() && wide > opposite
}

fn is_iso_2022_jp(sample: &[u8]) -> bool {
    sample.is_ascii() && [b"\x1b$B", b"\x1b$@"].iter().any(|escape| sample.windows(3).any(|window| window == *escape))
}

fn decode_utf8(bytes: &[u8], declared: &[&'static Encoding]) -> Option<String> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Some(text.to_owned());
    }
    let (mut broken, mut wide) = (0usize, 0usize);
    for chunk in bytes.utf8_chunks() {
        wide += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        broken += usize::from(!chunk.invalid().is_empty());
    }
    let cut_at_end = broken == 1 && bytes.utf8_chunks().last().is_some_and(|last| !last.invalid().is_empty());
    let least = if declared.contains(&UTF_8) { WIDE_PER_BROKEN_IF_DECLARED } else { WIDE_PER_BROKEN };
    let forgiven = broken * least <= wide || (cut_at_end && wide > 0);
    forgiven.then(|| String::from_utf8_lossy(bytes).into_owned())
}

/// Guesses the encoding from letter frequencies. `is_end`: the text ends where the sample ends, though perhaps inside a
/// character.
fn guess(sample: &[u8], is_end: bool) -> &'static Encoding {
    // An incomplete character at the end of the text would exclude its encoding.
    let of_cut_text = sample.last().is_some_and(|byte| !byte.is_ascii()).then(|| most_likely(sample, false));
    of_cut_text.filter(|encoding| !encoding.is_single_byte()).unwrap_or_else(|| most_likely(sample, is_end))
}

fn most_likely(sample: &[u8], is_end: bool) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(sample, is_end);
    let guessed = detector.guess(None, Utf8Detection::Deny);
    // A pure ASCII sample identifies no encoding.
    if guessed == UTF_8 { WINDOWS_1252 } else { guessed }
}

/// Matches control characters that text files do not contain. Escape is allowed for ISO-2022-JP and terminal logs.
fn is_odd_control(c: char) -> bool {
    c.is_ascii_control() && !matches!(c, '\t' | '\n' | '\r' | '\x0b' | '\x0c' | '\x08' | '\x1a' | '\x1b')
}

fn is_binary(sample: &[u8]) -> bool {
    let odd = sample.iter().filter(|&&byte| is_odd_control(byte as char)).count();
    odd * 50 > sample.len()
}

/// Matches characters that end a line. `\r\n` ends one line.
pub(crate) fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\x0b' | '\x0c' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Normalizes line ends and form feeds to `\n` and removes other control characters.
pub(crate) fn normalize_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' => {
                if chars.peek() == Some(&'\n') {
                    chars.next();
                }
                out.push('\n');
            }
            c if is_line_end(c) => out.push('\n'),
            '\t' => out.push(c),
            '\u{feff}' => {}
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(encoding: &'static Encoding, text: &str) -> Vec<u8> {
        encoding.encode(text).0.into_owned()
    }

    fn utf16(text: &str, big: bool) -> Vec<u8> {
        text.encode_utf16().flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
    }

    #[test]
    fn legacy_encodings_are_detected() {
        let cases = [
            ("Shift_JIS", "日本語の文書です。これは検索の試験に使います。カタカナも漢字もあります。"),
            ("EUC-JP", "日本語の文書です。これは検索の試験に使います。カタカナも漢字もあります。"),
            ("gb18030", "这是一个用于测试的中文文档,检索系统应该能够正确地识别它的编码。"),
            ("big5", "這是一個用於測試的中文文件,檢索系統應該能夠正確地識別它的編碼。"),
            ("euc-kr", "이 문서는 검색 시스템을 시험하기 위한 한국어 문서입니다."),
            ("koi8-r", "Это русский документ для проверки поисковой системы и её кодировок."),
            ("windows-1251", "Это русский документ для проверки поисковой системы и её кодировок."),
            ("windows-1252", "Größere Städte führen häufig Straßenbäume über — «naïve» déjà vu."),
            ("windows-1250", "Příliš žluťoučký kůň úpěl ďábelské ódy. Zażółć gęślą jaźń."),
            ("windows-1253", "Το έγγραφο αυτό είναι γραμμένο στα ελληνικά για δοκιμή της αναζήτησης."),
            ("windows-1255", "זהו מסמך בעברית המיועד לבדיקת מערכת החיפוש והקידוד שלה."),
        ];
        for (label, text) in cases {
            let encoding = Encoding::for_label(label.as_bytes()).expect("a known label");
            assert_eq!(decode(&encoded(encoding, text), &[]).as_deref(), Some(text), "{label}");
        }
    }

    #[test]
    fn letters_after_long_ascii_are_detected() {
        let text = format!("{}Это русский документ для проверки поисковой системы.", "plain ascii\n".repeat(40_000));
        let encoding = Encoding::for_label(b"windows-1251").expect("a known label");
        assert_eq!(decode(&encoded(encoding, &text), &[]).as_deref(), Some(text.as_str()));
    }

    #[test]
    fn declared_encoding_is_used_if_it_fits_the_bytes() {
        let windows = encoded(from_label(Some("windows-1251"))[0], "Привет");
        for (label, bytes, text) in [
            // Too short for a guess.
            ("windows-1251", &windows[..], "Привет"),
            (" 'CP1251' ;", &windows, "Привет"),
            // The server declares Latin 1 or UTF-8 for everything.
            ("iso-8859-1", "déjà vu".as_bytes(), "déjà vu"),
            ("utf-8", b"d\xe9j\xe0 vu, na\xefve caf\xe9", "déjà vu, naïve café"),
            // Invalid in Shift_JIS, whatever is declared.
            ("shift_jis", b"Gr\xfc\xdfe aus K\xf6ln, sch\xf6ne Stra\xdfen", "Grüße aus Köln, schöne Straßen"),
            ("utf-16le", b"plain", "plain"),
            ("iso-2022-kr", b"plain", "plain"),
            ("no-such-label", b"caf\xe9 au lait", "café au lait"),
        ] {
            assert_eq!(decode(bytes, &from_label(Some(label))).as_deref(), Some(text), "{label}");
        }
        // "一" has a NUL byte on the other side of its unit.
        let chinese = "一一一一。一二三\n";
        assert_eq!(decode(&utf16(chinese, false), &from_label(Some("UTF-16LE"))).as_deref(), Some(chinese));
    }

    #[test]
    fn utf16_is_read_with_and_without_byte_order_mark() {
        let text = "Überschrift\n日本語のテキスト, 123\nand a longer line of plain words\n";
        for big in [false, true] {
            let mut marked = if big { vec![0xfe, 0xff] } else { vec![0xff, 0xfe] };
            marked.extend(utf16(text, big));
            assert_eq!(decode(&marked, &[]).as_deref(), Some(text));
            assert_eq!(decode(&utf16(text, big), &[]).as_deref(), Some(text));
        }
    }

    #[test]
    fn stray_nuls_do_not_make_a_page_binary() {
        let page = format!("{}é\0\0{}", "plain words ".repeat(150), "and more of them ".repeat(50));
        assert_eq!(decode(page.as_bytes(), &[]), Some(page.replace('\0', "")));
    }

    #[test]
    fn iso_2022_jp_is_detected_by_escape_sequences() {
        assert_eq!(decode(b"\x1b$B%F%9%H\x1b(B abc", &[]).as_deref(), Some("テスト abc"));
    }

    #[test]
    fn truncated_utf8_is_still_utf8() {
        let text = "é".repeat(50);
        let cut = &text.as_bytes()[..99];
        let read = decode(cut, &[]).expect("text");
        assert!(read.starts_with(&"é".repeat(49)));
        assert!(!read.contains('Ã'));
    }

    #[test]
    fn stray_nuls_leave_the_encoding() {
        let ascii = "Meeting moved to Friday, room 12. Please bring the signed forms ";
        let cases = [
            ("utf-8", ascii.to_owned()),
            ("utf-8", "Größere Städte führen häufig Straßenbäume über. ".to_owned()),
            ("windows-1252", "Größere Städte führen häufig Straßenbäume über. ".repeat(130)),
            ("windows-1251", "Это русский документ для проверки поисковой системы и её кодировок. ".repeat(3)),
            ("gb18030", "这是一个用于测试的中文文档，检索系统应该能够正确地识别它的编码。".to_owned()),
            ("big5", "這是一個用於測試的中文文件，檢索系統應該能夠正確地識別它的編碼。".to_owned()),
            ("Shift_JIS", "日本語の文書です。これは検索の試験に使います。カタカナも漢字もあります。".to_owned()),
        ];
        for (label, text) in cases {
            let bytes = encoded(from_label(Some(label))[0], &text);
            for (before, after) in [("", "\0"), ("\n", "\0"), ("", "\0\n"), ("\n", "\0\n"), ("\0", "\n\0\0\n")] {
                let stray = [before.as_bytes(), &bytes, after.as_bytes()].concat();
                let expected = format!("{before}{text}{after}").replace('\0', "");
                assert_eq!(decode(&stray, &[]).as_deref(), Some(expected.as_str()), "{label} {before:?} {after:?}");
            }
        }
    }

    #[test]
    fn utf16_with_few_nuls_is_read() {
        for text in [
            // Its ideographic spaces and its first ideograph have a NUL on the other side.
            "\u{3000}\u{3000}一种用于测试的中文文档，检索系统应该能够正确地识别它的编码。\n".repeat(3),
            "检索系统应该能够正确地识别它的编码，也包括这样的长行文字\n".to_owned(),
            // No byte is a control character.
            "カタカナのテキストをデータベースに\n".to_owned(),
            "เอกสารภาษาไทยสำหรับทดสอบระบบค้นหาข้อมูล\n".to_owned(),
            "한국어 문서 검색 시험\n".to_owned(),
        ] {
            for big in [false, true] {
                assert_eq!(decode(&utf16(&text, big), &[]).as_deref(), Some(text.as_str()), "{big}");
            }
        }
    }

    #[test]
    fn characters_cut_by_the_end_do_not_hide_the_encoding() {
        for (label, text) in [
            ("Shift_JIS", "日本語の文書です。これは検索の試験に使います。カタカナも漢字もあります。"),
            ("gb18030", "这是一个用于测试的中文文档，检索系统应该能够正确地识别它的编码。"),
            ("big5", "這是一個用於測試的中文文件，檢索系統應該能夠正確地識別它的編碼。"),
            ("euc-kr", "이 문서는 검색 시스템을 시험하기 위한 한국어 문서입니다. 검색"),
        ] {
            let encoding = from_label(Some(label))[0];
            let bytes = encoded(encoding, text);
            for pad in 0..3 {
                let times = SAMPLE / bytes.len() + 2;
                let long = "#".repeat(pad) + &text.repeat(times);
                assert!(decode(&encoded(encoding, &long), &[]).is_some_and(|read| read == long), "{label} {pad}");
            }
            let (last, _) = text.char_indices().next_back().expect("a character");
            let read = decode(&bytes[..bytes.len() - 1], &[]).expect("text");
            assert!(read.starts_with(&text[..last]), "{label}: {read}");
        }
    }

    #[test]
    fn damaged_utf8_is_still_utf8() {
        let quotes = "’ and ".repeat(150);
        let damaged = [quotes.as_bytes(), b"\xe2\x80", quotes.as_bytes()].concat();
        for label in [None, Some("utf-8"), Some("iso-8859-1")] {
            let read = decode(&damaged, &from_label(label)).expect("text");
            assert_eq!((read.matches('’').count(), read.matches('\u{fffd}').count()), (300, 1), "{label:?}");
        }
        // The fewer characters there are, the more a declaration counts.
        let short = b"d\xc3\xa9j\xc3\xa0 vu, na\xc3\xafve caf\xc3\xa9 \xe2\x80 end";
        assert_eq!(decode(short, &from_label(Some("utf-8"))).as_deref(), Some("déjà vu, naïve café \u{fffd} end"));
        // A page in another encoding with a quotation in UTF-8.
        let mixed = b"d\xe9j\xe0 vu, na\xefve caf\xe9: \xc3\xa9";
        assert!(decode(mixed, &from_label(Some("utf-8"))).is_some_and(|text| text.starts_with("déjà vu, naïve café")));
    }

    #[test]
    fn binary_data_is_rejected() {
        assert_eq!(decode(b"\0\0\0\x01\0\0\x02\x03\x04\0\0\0ab\0\0", &[]), None);
        assert_eq!(decode(b"\0asm\x01\0\0\0", &[]), None);
        assert_eq!(decode(b"\x01\0", &[]), None);
        let noise: Vec<u8> = (0..4096u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        assert_eq!(decode(&noise, &[]), None);
    }

    #[test]
    fn line_ends_become_newlines() {
        assert_eq!(normalize_lines("a\r\nb\rc\x0cd\u{0}e\u{feff}"), "a\nb\nc\nde");
        assert_eq!(normalize_lines("a\n\tb\u{85}c\u{2028}d\x08e"), "a\n\tb\nc\nde");
    }
}

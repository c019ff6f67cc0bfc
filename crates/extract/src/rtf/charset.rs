//! RTF character sets: a code page for the document, another for each font.

use encoding_rs::Encoding;

/// Returns the encoding of a Windows code page (`\ansicpg`); windows-1252 if it is unknown.
pub(super) fn of_code_page(number: i32) -> &'static Encoding {
    let label = match number {
        437 | 850 | 1252 => "windows-1252",
        866 => "ibm866",
        874 => "windows-874",
        932 => "shift_jis",
        936 => "gbk",
        949 => "euc-kr",
        950 => "big5",
        1250..=1258 => return windows(number),
        10000 => "macintosh",
        10007 => "x-mac-cyrillic",
        20866 => "koi8-r",
        21866 => "koi8-u",
        28592 => "iso-8859-2",
        54936 => "gb18030",
        65001 => "utf-8",
        _ => "windows-1252",
    };
    Encoding::for_label(label.as_bytes()).unwrap_or(encoding_rs::WINDOWS_1252)
}

fn windows(number: i32) -> &'static Encoding {
    Encoding::for_label(format!("windows-{number}").as_bytes()).unwrap_or(encoding_rs::WINDOWS_1252)
}

/// Returns the encoding of a font's character set (`\fcharset`); `None` for the document's own.
pub(super) fn of_font(number: i32) -> Option<&'static Encoding> {
    let page = match number {
        // Western, whatever the document has.
        0 => 1252,
        128 => 932,
        129 | 130 => 949,
        134 => 936,
        136 => 950,
        161 => 1253,
        162 => 1254,
        163 => 1258,
        177 => 1255,
        178..=180 => 1256,
        186 => 1257,
        204 => 1251,
        222 => 874,
        238 => 1250,
        77 => 10000,
        _ => return None,
    };
    Some(of_code_page(page))
}

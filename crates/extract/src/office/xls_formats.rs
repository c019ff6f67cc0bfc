//! Number formats of Excel workbooks up to 2003. `office_oxide` shows cells with them but does not give them out.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Cursor;

use encoding_rs::WINDOWS_1252;
use office_oxide::cfb::CfbReader;

use crate::number_format::{self, NumberFormat, NumberFormats};

/// Types of records ([MS-XLS] 2.3.2).
const END: u16 = 0x000a;
const DATE_MODE: u16 = 0x0022;
const EXTENDED_FORMAT: u16 = 0x00e0;
const FORMAT: u16 = 0x041e;
const BEGIN: u16 = 0x0809;
/// Version of Excel 97 in the record `BEGIN`.
const VERSION_97: u16 = 0x0600;

/// Formats of a workbook by style.
#[derive(Debug, Default)]
pub(super) struct Formats {
    formats: NumberFormats,
    /// Format of each style.
    ids: Vec<u16>,
    date1904: bool,
}

impl Formats {
    /// Reads the formats from a compound file. Returns `None` for other files.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut file = CfbReader::new(Cursor::new(bytes)).ok()?;
        let stream = file.open_stream("Workbook").or_else(|_| file.open_stream("Book")).ok()?;
        Some(Self::of_stream(&stream))
    }

    fn of_stream(stream: &[u8]) -> Self {
        let mut codes: HashMap<u16, String> = HashMap::new();
        let mut ids = Vec::new();
        let (mut date1904, mut version) = (false, VERSION_97);
        let mut rest = stream;
        // The first substream is that of the workbook.
        while let Some((record, data, after)) = next_record(rest) {
            rest = after;
            match record {
                BEGIN => version = number(data, 0).unwrap_or(version),
                DATE_MODE => date1904 = number(data, 0) == Some(1),
                EXTENDED_FORMAT => ids.push(number(data, 2).unwrap_or(0)),
                FORMAT => codes.extend(number(data, 0).zip(code(data, version))),
                END => break,
                _ => {}
            }
        }
        let declared = |id: u32| codes.get(&u16::try_from(id).ok()?).map(String::as_str);
        let formats = NumberFormats::new(ids.iter().copied().map(u32::from), declared);
        Self { formats, ids, date1904 }
    }

    /// Returns a number as a cell of the style shows it.
    pub(super) fn number(&self, number: f64, style: Option<u16>) -> String {
        let shown = self.of(style).map(|format| format.number(number, self.date1904));
        shown.unwrap_or_else(|| number_format::general(number))
    }

    /// Returns a text as a cell of the style shows it.
    pub(super) fn text<'t>(&self, text: &'t str, style: Option<u16>) -> Cow<'t, str> {
        self.of(style).map_or(Cow::Borrowed(text), |format| format.text(text))
    }

    fn of(&self, style: Option<u16>) -> Option<&NumberFormat> {
        self.formats.get((*self.ids.get(usize::from(style.unwrap_or(0)))?).into())
    }
}

/// Splits the next record off: type, data, rest.
fn next_record(stream: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let (record, length) = (number(stream, 0)?, usize::from(number(stream, 2)?));
    let (data, rest) = stream.get(4..)?.split_at_checked(length)?;
    Some((record, data, rest))
}

fn number(data: &[u8], at: usize) -> Option<u16> {
    let bytes = data.get(at..at + 2)?;
    Some(u16::from_le_bytes(bytes.try_into().ok()?))
}

/// Returns the code of a `FORMAT` record ([MS-XLS] 2.4.126): UTF-16 or its low bytes. Before Excel 97, bytes of the
/// system's code page, of which only ASCII matters to formats.
fn code(data: &[u8], version: u16) -> Option<String> {
    if version != VERSION_97 {
        let length = usize::from(*data.get(2)?);
        return Some(WINDOWS_1252.decode_without_bom_handling(data.get(3..3 + length)?).0.into_owned());
    }
    let length = usize::from(number(data, 2)?);
    let wide = data.get(4)? & 1 == 1;
    let text = data.get(5..)?;
    if wide {
        let units = text.chunks_exact(2).take(length).map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
        return Some(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect());
    }
    Some(text.iter().take(length).copied().map(char::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(record: u16, data: &[u8]) -> Vec<u8> {
        let length = u16::try_from(data.len()).expect("a short record");
        [&record.to_le_bytes()[..], &length.to_le_bytes(), data].concat()
    }

    fn format(id: u16, code: &str) -> Vec<u8> {
        let units: Vec<u8> = code.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let length = u16::try_from(units.len() / 2).expect("a short code");
        record(FORMAT, &[&id.to_le_bytes()[..], &length.to_le_bytes(), &[1], &units].concat())
    }

    #[test]
    fn formats_of_styles_are_found() {
        let style = |id: u16| record(EXTENDED_FORMAT, &[&[0, 0][..], &id.to_le_bytes()].concat());
        let stream = [
            record(BEGIN, &[0, 6, 5, 0]),
            record(DATE_MODE, &[1, 0]),
            format(8, "#,##0.00 \"€\""),
            style(0),
            style(8),
            style(20),
            style(14),
            record(END, &[]),
            style(2),
        ];
        let formats = Formats::of_stream(&stream.concat());
        let shown = |number, style| formats.number(number, Some(style));
        assert_eq!(shown(1234.5, 0), "1234.5");
        assert_eq!(shown(1234.5, 1), "1,234.50 €");
        assert_eq!(shown(0.354_166_6, 2), "8:30");
        assert_eq!(shown(43_890.0, 3), "2024-03-01");
        assert_eq!(shown(0.125, 4), "0.125");
    }

    #[test]
    fn old_formats_are_bytes() {
        let code = [&[164, 0, 5][..], b"0.000"].concat();
        let style = record(EXTENDED_FORMAT, &[0, 0, 164, 0]);
        let stream = [record(BEGIN, &[0, 5, 5, 0]), record(FORMAT, &code), style].concat();
        assert_eq!(Formats::of_stream(&stream).number(0.125, Some(0)), "0.125");
        assert_eq!(Formats::of_stream(&stream).number(2.0, Some(0)), "2.000");
        for end in 0..stream.len() {
            Formats::of_stream(&stream[..end]);
        }
    }
}

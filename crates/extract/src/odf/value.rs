//! Value of a cell whose text the file leaves out (ODF 1.3 part 3, 19.385).

use quick_xml::events::BytesStart;

use crate::xml;

/// Returns the value of a cell as text.
pub(super) fn of_cell(cell: &BytesStart) -> Option<String> {
    let value = |name: &str| xml::attribute(cell, name);
    value("office:string-value")
        .or_else(|| value("office:value"))
        .or_else(|| value("office:date-value").map(|date| date.replacen('T', " ", 1)))
        .or_else(|| value("office:boolean-value").map(|boolean| boolean.to_uppercase()))
        .or_else(|| value("office:time-value").map(|time| clock(&time).unwrap_or(time)))
}

/// Returns a duration such as `PT08H05M00S` as spreadsheets show it.
fn clock(duration: &str) -> Option<String> {
    let (hours, rest) = duration.strip_prefix("PT")?.split_once('H')?;
    let (minutes, rest) = rest.split_once('M')?;
    let seconds = rest.strip_suffix('S')?;
    Some(format!("{hours:0>2}:{minutes:0>2}:{seconds:0>2}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_programs_show_them() {
        for (attributes, expected) in [
            ("office:value-type='float' office:value='7.5'", Some("7.5")),
            ("office:value-type='string' office:string-value='a &amp; b'", Some("a & b")),
            ("office:value-type='date' office:date-value='2024-03-01'", Some("2024-03-01")),
            ("office:date-value='2024-03-01T08:05:00'", Some("2024-03-01 08:05:00")),
            ("office:value-type='boolean' office:boolean-value='true'", Some("TRUE")),
            ("office:time-value='PT8H05M00S'", Some("08:05:00")),
            ("office:time-value='P1D'", Some("P1D")),
            ("office:value-type='string'", None),
        ] {
            let cell = format!("table:table-cell {attributes}");
            let cell = BytesStart::from_content(cell.as_str(), "table:table-cell".len());
            assert_eq!(of_cell(&cell).as_deref(), expected, "{attributes}");
        }
    }
}

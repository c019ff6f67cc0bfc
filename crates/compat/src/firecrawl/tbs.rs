//! Windows of publication times, as search engines write them: `qdr:w`, `cdr:1,cd_min:1/5/2026,cd_max:1/31/2026`.

use time::macros::format_description;
use time::{Date, Duration, OffsetDateTime};

use crate::Refusal;
use crate::dates::before_day;
use crate::document::cut;

#[derive(Debug, Default, Eq, PartialEq)]
pub struct Window {
    pub after: Option<OffsetDateTime>,
    pub before: Option<OffsetDateTime>,
}

/// Parses the parameter. A window ends now; days are whole, in UTC.
pub fn parse(text: &str, now: OffsetDateTime) -> Result<Window, Refusal> {
    let mut window = Window::default();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (name, value) = part.split_once(':').unwrap_or((part, ""));
        match name {
            "qdr" => window.after = Some(past(value, now).ok_or_else(|| refusal(part))?),
            "cd_min" => window.after = Some(day(value).map(before_day).ok_or_else(|| refusal(part))?),
            "cd_max" => {
                let day = day(value).ok_or_else(|| refusal(part))?;
                window.before = Some(day.saturating_add(Duration::DAY));
            }
            "cdr" if value == "1" => {}
            // Without a request for another order: the order of relevance.
            "sbd" if value == "0" => {}
            _ => return Err(refusal(part)),
        }
    }
    Ok(window)
}

fn past(value: &str, now: OffsetDateTime) -> Option<OffsetDateTime> {
    let mut letters = value.chars();
    let unit = match letters.next()? {
        'h' => Duration::HOUR,
        'd' => Duration::DAY,
        'w' => Duration::WEEK,
        'm' => Duration::days(31),
        'y' => Duration::days(365),
        _ => return None,
    };
    let count = letters.as_str();
    let count: i32 = if count.is_empty() { 1 } else { count.parse::<u16>().ok()?.into() };
    now.checked_sub(unit.checked_mul(count)?)
}

fn day(value: &str) -> Option<OffsetDateTime> {
    let american = format_description!("[month padding:none]/[day padding:none]/[year]");
    Date::parse(value, american).ok().map(|day| day.midnight().assume_utc())
}

fn refusal(part: &str) -> Refusal {
    let part = cut(part, 50);
    Refusal::new("tbs", format!("tbs: `{part}` is not supported; use `qdr:d`, `qdr:w`, `qdr:m`, `qdr:y` or `cdr:1`"))
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-06-15 12:00 UTC);

    #[test]
    fn windows_are_read() {
        for (text, after, before) in [
            ("qdr:h", Some(datetime!(2026-06-15 11:00 UTC)), None),
            ("qdr:d3", Some(datetime!(2026-06-12 12:00 UTC)), None),
            ("qdr:y,sbd:0", Some(datetime!(2025-06-15 12:00 UTC)), None),
            (
                "cdr:1,cd_min:1/5/2026,cd_max:12/31/2026",
                Some(datetime!(2026-01-04 23:59:59.999 UTC)),
                Some(datetime!(2027-01-01 0:00 UTC)),
            ),
            ("cdr:1,cd_max:01/05/2026", None, Some(datetime!(2026-01-06 0:00 UTC))),
        ] {
            assert_eq!(parse(text, NOW), Ok(Window { after, before }), "{text}");
        }
        for bad in ["qdr:x", "qdr:", "qdr:d99999", "qdr:é", "sbd:1", "cd_min:2026-01-05", "li:1", "x"] {
            assert_eq!(parse(bad, NOW).err().map(|refusal| refusal.field), Some("tbs".to_owned()), "{bad}");
        }
    }
}

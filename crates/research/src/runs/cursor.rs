//! Cursors of the list of runs: the time and id of the last run of a page.

use app::{Error, Result};
use model::{ResearchId, Timestamp};

/// Place in the list, before which the next page begins.
pub type Place = (Timestamp, ResearchId);

pub fn encode((at, id): Place) -> String {
    format!("{}_{id}", at.as_millis())
}

/// Reads a cursor.
///
/// # Errors
/// `Invalid` for anything that [`encode`] did not return.
pub fn decode(cursor: &str) -> Result<Place> {
    parse(cursor).filter(|place| encode(*place) == cursor).ok_or_else(|| {
        Error::invalid("cursor", "cursor must be the `next_cursor` of an earlier page of this list, unchanged")
    })
}

fn parse(cursor: &str) -> Option<Place> {
    let (at, id) = cursor.split_once('_')?;
    Some((Timestamp::from_millis(at.parse().ok()?), id.parse().ok()?))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use uuid::Uuid;

    use super::*;

    #[test]
    fn only_own_cursors_are_read() {
        let place = (Timestamp::from_millis(1_790_000_000_123), ResearchId(Uuid::from_u128(7)));
        let cursor = encode(place);
        assert_eq!(decode(&cursor).unwrap(), place);
        let long = "9".repeat(100_000);
        for text in ["", "_", "1_2", &cursor[1..].to_uppercase(), &format!("+{cursor}"), &format!("{cursor} "), &long] {
            if *text != cursor {
                assert!(decode(text).is_err() || encode(decode(text).unwrap()) == *text, "{text}");
            }
        }
        assert!(decode(&format!("+{cursor}")).is_err());
    }
}

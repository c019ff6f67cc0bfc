//! Numbers of headings outside of lists (ODF 1.3 part 3, 5.1.2 and 16.34).

use quick_xml::events::BytesStart;

use super::numbering;
use super::styles::{Level, Styles};
use crate::level_counts::{LEVELS, LevelCounts};
use crate::xml;

/// Place of a heading in the outline.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Level of the heading; 0 is the outermost.
    level: u8,
    /// Number of a heading with which its level starts again.
    start: Option<u32>,
}

impl Place {
    /// Returns the place of a heading with an outline level, from 1, and a style. Returns `None` for a heading that is
    /// not counted.
    pub(super) fn of(heading: &BytesStart, level: u8, style: &str, styles: &Styles) -> Option<Self> {
        let states = |name: &str| xml::attribute(heading, name).as_deref() == Some("true");
        let level = level.checked_sub(1).filter(|level| usize::from(*level) < LEVELS)?;
        if states("text:is-list-header") || !styles.is_in_outline(style) {
            return None;
        }
        let start = states("text:restart-numbering").then(|| {
            let start = xml::attribute(heading, "text:start-value").and_then(|value| value.parse().ok());
            start.unwrap_or_else(|| first(form(styles, level)))
        });
        Some(Self { level, start })
    }
}

/// Counters of the headings of a document.
#[derive(Debug, Default)]
pub(super) struct Outline(LevelCounts);

impl Outline {
    /// Counts a heading. Returns its number with those of the outer levels that it shows; `None` if its level has none.
    pub(super) fn count(&mut self, place: Place, styles: &Styles) -> Option<String> {
        self.0.count(place.level, |level| first(form(styles, level)), |_| true);
        if let Some(start) = place.start {
            self.0.set(place.level, start);
        }
        let own = form(styles, place.level)?;
        let outermost = (place.level + 1).saturating_sub(own.shown.max(1));
        let numbers = (outermost..=place.level).filter_map(|level| {
            let format = &form(styles, level)?.format;
            Some(numbering::written(self.0.get(level)?, format))
        });
        Some(own.label(&numbers.collect::<Vec<_>>()))
    }
}

/// Returns the numbers of a level of the outline; `None` for a level without.
fn form(styles: &Styles, level: u8) -> Option<&Level> {
    styles.outline()?.get(&level)
}

/// Returns the first number of a level.
fn first(form: Option<&Level>) -> u32 {
    form.map_or(1, |form| form.start)
}

//! Automatic numbers of the paragraphs of a Word document (ECMA-376 part 1, 17.9).

use std::collections::{HashMap, HashSet};

use office_oxide::docx::numbering::NumberingInstance;
use office_oxide::docx::{NumberFormat, NumberingDefinitions, Paragraph, StyleSheet};
use office_oxide::ir::ListStyle;

use super::super::list_numbers::{MAX_PATTERN, filled, numeral};
use super::body;
use super::levels::Levels;
use crate::level_counts::{LEVELS, LevelCounts};

/// Place of a paragraph in a numbering.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'d> {
    instance: &'d NumberingInstance,
    /// Level; 0 is the outermost.
    level: u8,
}

/// Numbers of the paragraphs up to one of them.
pub(super) struct Numbers<'d> {
    definitions: &'d NumberingDefinitions,
    styles: Option<&'d StyleSheet>,
    levels: Levels,
    /// Counters by abstract numbering. Its instances share them.
    counts: HashMap<u32, LevelCounts>,
    /// Instances with the levels that began with a number of their own.
    begun: HashSet<(u32, u8)>,
}

impl<'d> Numbers<'d> {
    pub(super) fn new(definitions: &'d NumberingDefinitions, styles: Option<&'d StyleSheet>, levels: Levels) -> Self {
        Self { definitions, styles, levels, counts: HashMap::new(), begun: HashSet::new() }
    }

    /// Counts the next paragraph of the document. Returns `None` for one without a number.
    pub(super) fn count(&mut self, paragraph: &Paragraph) -> Option<Place<'d>> {
        let place = self.place(paragraph).filter(|_| !self.is_skipped(paragraph))?;
        let Place { instance, level } = place;
        let counts = self.counts.entry(instance.abstract_num_id).or_default();
        let start = |level: u8| self.definitions.resolve_start(instance.num_id, level).unwrap_or(1);
        counts.count(level, start, |inner| self.levels.restarts(instance, inner, level));
        if let Some(start) = instance.start_overrides.get(&level)
            && self.begun.insert((instance.num_id, level))
        {
            counts.set(level, *start);
        }
        Some(place)
    }

    /// Returns the number of the paragraph that was counted last, as the document shows it. Returns `None` for bullets,
    /// for unknown formats, and for long patterns.
    pub(super) fn marker(&self, place: Place) -> Option<String> {
        let own = self.definitions.resolve_level(place.instance.num_id, place.level)?;
        let pattern = own.level_text.trim();
        let is_bullet = matches!(own.format, NumberFormat::Bullet | NumberFormat::None);
        if is_bullet || pattern.is_empty() || pattern.len() > MAX_PATTERN {
            return None;
        }
        let counts = self.counts.get(&place.instance.abstract_num_id)?;
        let is_legal = self.levels.is_legal(place.instance, place.level);
        let marker = filled(pattern, |level| {
            let format = &self.definitions.resolve_level(place.instance.num_id, level)?.format;
            written(counts.get(level)?, format, is_legal)
        });
        marker.filter(|marker| !marker.trim().is_empty())
    }

    /// Returns the place that a paragraph or its style states.
    fn place(&self, paragraph: &Paragraph) -> Option<Place<'d>> {
        let (stated, style) = body::numbering(paragraph, self.styles)?;
        let mut id = stated.num_id;
        // A style that states only the level has the numbering of its parents.
        if let (0, 1.., Some(style), Some(styles)) = (id, stated.ilvl, style, self.styles) {
            let parents = body::chain(styles, &style.style_id).filter_map(body::reference);
            id = parents.map(|reference| reference.num_id).find(|id| *id != 0)?;
        }
        let instance = self.definitions.instances.get(&id).filter(|_| id != 0)?;
        let linked = style.and_then(|style| self.levels.of_style(instance.abstract_num_id, &style.style_id));
        // Without a link to the style, it may have been taken out of the numbering.
        let level = linked.or_else(|| (stated.num_id != 0).then_some(stated.ilvl))?;
        (usize::from(level) < LEVELS).then_some(Place { instance, level })
    }

    /// Returns true for a paragraph that Word does not number: a hidden one, and an empty one that ends a section.
    fn is_skipped(&self, paragraph: &Paragraph) -> bool {
        let Some(properties) = &paragraph.properties else { return false };
        let style = properties.style_id.as_deref();
        let mark = properties.run_properties.as_deref();
        let may_be = properties.section_properties.is_some() || body::is_hidden(mark, style, self.styles);
        may_be && body::text(paragraph, style, self.styles).is_empty()
    }
}

/// Returns a number in a format; nothing for a level without numbers. Returns `None` for formats that are not known.
fn written(number: u32, format: &NumberFormat, is_legal: bool) -> Option<String> {
    let style = match format {
        NumberFormat::Bullet | NumberFormat::None => return Some(String::new()),
        NumberFormat::Other(name) if name == "decimalZero" => return Some(format!("{number:02}")),
        _ if is_legal => ListStyle::Decimal,
        NumberFormat::Decimal => ListStyle::Decimal,
        NumberFormat::LowerLetter => ListStyle::LowerAlpha,
        NumberFormat::UpperLetter => ListStyle::UpperAlpha,
        NumberFormat::LowerRoman => ListStyle::LowerRoman,
        NumberFormat::UpperRoman => ListStyle::UpperRoman,
        NumberFormat::Other(_) => return None,
    };
    Some(numeral(number, Some(&style)))
}

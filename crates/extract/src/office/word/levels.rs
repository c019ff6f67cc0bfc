//! Properties of numbered levels that the library does not read, from the numbering part of the package.

use std::collections::HashMap;
use std::io::Cursor;

use office_oxide::core::opc::OpcReader;
use office_oxide::core::relationships::rel_types;
use office_oxide::docx::numbering::NumberingInstance;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::xml;

/// Element that defines a level.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Owner {
    Abstract(u32),
    Instance(u32),
}

#[derive(Debug, Default)]
struct Level {
    /// ECMA-376 part 1, 17.9.4: all numbers are shown in Arabic digits.
    is_legal: bool,
    /// ECMA-376 part 1, 17.9.10: number of the level, from 1, whose items let this one start again; 0: none.
    restart: Option<u8>,
}

/// Levels of a document; 0 is the outermost.
#[derive(Debug, Default)]
pub(super) struct Levels {
    levels: HashMap<(Owner, u8), Level>,
    /// ECMA-376 part 1, 17.9.23: levels by abstract numbering and the style of their paragraphs.
    by_style: HashMap<u32, HashMap<String, u8>>,
}

impl Levels {
    /// Reads the levels of a file; none if it has no readable numbering.
    pub(super) fn read(bytes: &[u8]) -> Self {
        part(bytes).map(|part| Self::of(&String::from_utf8_lossy(&part))).unwrap_or_default()
    }

    /// Reads the levels of the part, up to the first malformed element.
    fn of(part: &str) -> Self {
        let mut levels = Self::default();
        let mut reader = Reader::from_str(part);
        reader.config_mut().check_end_names = false;
        let (mut owner, mut level) = (None, None);
        loop {
            match reader.read_event() {
                Ok(Event::Start(element) | Event::Empty(element)) => levels.start(&element, &mut owner, &mut level),
                Ok(Event::Eof) | Err(_) => return levels,
                Ok(_) => {}
            }
        }
    }

    fn start(&mut self, element: &BytesStart, owner: &mut Option<Owner>, level: &mut Option<u8>) {
        let id = |name: &str| xml::attribute(element, name).and_then(|id| id.parse::<u32>().ok());
        let number = |name: &str| xml::attribute(element, name).and_then(|number| number.parse::<u8>().ok());
        match element.local_name().as_ref() {
            "abstractNum" => *owner = id("w:abstractNumId").map(Owner::Abstract),
            "num" => *owner = id("w:numId").map(Owner::Instance),
            "lvlOverride" => *level = number("w:ilvl"),
            "lvl" => {
                // An override states the level itself.
                if let Some(Owner::Abstract(_)) = owner {
                    *level = Some(number("w:ilvl").unwrap_or(0));
                }
                if let Some(key) = owner.zip(*level) {
                    self.levels.insert(key, Level::default());
                }
            }
            "isLgl" => {
                if let Some(own) = owner.zip(*level).and_then(|key| self.levels.get_mut(&key)) {
                    let value = xml::attribute(element, "w:val");
                    own.is_legal = !matches!(value.as_deref(), Some("0" | "false" | "off"));
                }
            }
            "lvlRestart" => {
                if let Some(own) = owner.zip(*level).and_then(|key| self.levels.get_mut(&key)) {
                    own.restart = number("w:val");
                }
            }
            "pStyle" => {
                if let (Some(Owner::Abstract(id)), Some(level)) = (*owner, *level)
                    && let Some(style) = xml::attribute(element, "w:val")
                {
                    self.by_style.entry(id).or_default().insert(style, level);
                }
            }
            _ => {}
        }
    }

    /// Returns true for a level that shows all numbers in Arabic digits.
    pub(super) fn is_legal(&self, instance: &NumberingInstance, level: u8) -> bool {
        self.level(instance, level).is_some_and(|own| own.is_legal)
    }

    /// Returns true for a level that starts again behind an item of a level around it.
    pub(super) fn restarts(&self, instance: &NumberingInstance, level: u8, outer: u8) -> bool {
        self.level(instance, level).and_then(|own| own.restart).is_none_or(|restart| outer < restart)
    }

    /// Returns the level of an abstract numbering whose paragraphs have the style.
    pub(super) fn of_style(&self, abstract_id: u32, style: &str) -> Option<u8> {
        self.by_style.get(&abstract_id)?.get(style).copied()
    }

    fn level(&self, instance: &NumberingInstance, level: u8) -> Option<&Level> {
        let owner = if instance.overrides.contains_key(&level) {
            Owner::Instance(instance.num_id)
        } else {
            Owner::Abstract(instance.abstract_num_id)
        };
        self.levels.get(&(owner, level))
    }
}

/// Returns the numbering part of a package.
fn part(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut package = OpcReader::new(Cursor::new(bytes)).ok()?;
    let document = package.main_document_part().ok()?;
    let relations = package.read_rels_for(&document).ok()?;
    let target = &relations.first_by_type(rel_types::NUMBERING)?.target;
    let name = document.resolve_relative(target).ok()?;
    package.read_part(&name).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_of_definitions_and_of_overrides_are_read() {
        let levels = Levels::of(
            r#"<w:numbering><w:abstractNum w:abstractNumId="4"><w:lvl w:ilvl="0"><w:pStyle w:val="A"/></w:lvl><w:lvl w:ilvl="1"><w:isLgl/><w:lvlRestart w:val="0"/><w:pStyle w:val="B&amp;C"/></w:lvl><w:lvl w:ilvl="2"><w:isLgl w:val="0"/><w:lvlRestart w:val="1"/></w:lvl></w:abstractNum><w:num w:numId="9"><w:abstractNumId w:val="4"/><w:lvlOverride w:ilvl="1"><w:lvl w:ilvl="7"><w:isLgl w:val="on"/></w:lvl></w:lvlOverride><w:lvlOverride w:ilvl="2"/></w:num></w:numbering>"#,
        );
        let plain = NumberingInstance {
            num_id: 8,
            abstract_num_id: 4,
            overrides: HashMap::new(),
            start_overrides: HashMap::new(),
        };
        assert_eq!([0, 1, 2, 3].map(|level| levels.is_legal(&plain, level)), [false, true, false, false]);
        let restarts = [(1, 0), (2, 0), (2, 1), (3, 2)].map(|(level, outer)| levels.restarts(&plain, level, outer));
        assert_eq!(restarts, [false, true, false, true]);
        assert_eq!(["A", "B&C", "D"].map(|style| levels.of_style(4, style)), [Some(0), Some(1), None]);
        assert_eq!(levels.of_style(9, "A"), None);
        assert_eq!(levels.levels.get(&(Owner::Instance(9), 1)).map(|own| own.is_legal), Some(true));
    }

    #[test]
    fn unreadable_files_have_no_levels() {
        assert!(Levels::read(b"no archive").levels.is_empty());
        assert!(Levels::of("<w:numbering><w:lvl w:ilvl=\"0\"><w:isLgl/>").levels.is_empty());
    }
}

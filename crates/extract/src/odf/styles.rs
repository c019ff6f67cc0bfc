//! OpenDocument styles that carry meaning: numbered lists, bold, italic and hidden text, titles.

use std::collections::HashMap;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::literal::Shift;
use crate::xml;

/// Maximum number of parent styles followed.
const MAX_PARENTS: usize = 8;
/// Maximum length of the text before or behind the number of a list item.
const MAX_AFFIX: usize = 20;
/// Name of an outline style that states none.
const OUTLINE: &str = "Outline";

#[derive(Debug, Default, Clone)]
struct Style {
    parent: Option<String>,
    bold: Option<bool>,
    italic: Option<bool>,
    hidden: Option<bool>,
    /// ODF 1.3 part 3, 20.384: place above or below the line.
    position: Option<String>,
    /// ODF 1.3 part 3, 19.470: outline level of paragraphs with this style that are not headings.
    outline: Option<u8>,
    /// List style of headings; empty for headings without a number.
    list: Option<String>,
}

/// Numbers of a level of a list or of the outline.
#[derive(Debug, Default)]
pub(super) struct Level {
    /// `1`, `a`, `A`, `i`, `I`, or a format of another language.
    pub format: String,
    pub prefix: String,
    pub suffix: String,
    /// Number of the first item.
    pub start: u32,
    /// Number of levels shown: 2 for `1.1`.
    pub shown: u8,
}

impl Level {
    fn of(element: &BytesStart, format: String) -> Self {
        let start = xml::attribute(element, "text:start-value").and_then(|value| value.parse().ok());
        // Each item repeats it.
        let affix =
            |name: &str| xml::attribute(element, name).unwrap_or_default().chars().take(MAX_AFFIX).collect::<String>();
        let shown = xml::attribute(element, "text:display-levels").and_then(|value| value.parse().ok());
        Self {
            format,
            prefix: affix("style:num-prefix"),
            suffix: affix("style:num-suffix"),
            start: start.unwrap_or(1),
            shown: shown.unwrap_or(1),
        }
    }

    /// Returns true for digits that Markdown can show as they are: `1`, `1.` and `1)`.
    pub(super) fn is_plain(&self) -> bool {
        self.format == "1"
            && self.shown <= 1
            && self.prefix.trim().is_empty()
            && ["", ".", ")"].contains(&self.suffix.trim())
    }

    /// Returns the label of an item from the numbers of the levels that it shows, outermost first.
    pub(super) fn label(&self, numbers: &[String]) -> String {
        format!("{}{}{}", self.prefix, numbers.join("."), self.suffix)
    }
}

/// Levels with numbers; 0 is the outermost.
pub(super) type Levels = HashMap<u8, Level>;

/// Styles by name, from `styles.xml` and the automatic styles of `content.xml`.
#[derive(Debug, Default)]
pub(super) struct Styles {
    styles: HashMap<String, Style>,
    /// Levels by list style.
    lists: HashMap<String, Levels>,
    /// List style of the outline, which headings outside of lists have.
    outline: Option<String>,
}

/// Open elements of a part.
#[derive(Default)]
struct Open {
    depth: usize,
    /// Style that is being read, and its depth.
    style: Option<(String, usize)>,
    /// List style that was opened last.
    list: Option<String>,
}

impl Open {
    /// Returns the style whose child the current element is. Properties of elements further inside are of other text,
    /// such as the bullets of a list.
    fn parent_style(&self) -> Option<&str> {
        self.style.as_ref().filter(|(_, depth)| depth + 1 == self.depth).map(|(name, _)| name.as_str())
    }

    fn end(&mut self) {
        if self.style.as_ref().is_some_and(|(_, depth)| *depth == self.depth) {
            self.style = None;
        }
        self.depth = self.depth.saturating_sub(1);
    }
}

impl Styles {
    /// Adds the styles of a part up to the first malformed element.
    pub(super) fn add(&mut self, part: &str) {
        let mut reader = Reader::from_str(part);
        let mut open = Open::default();
        loop {
            match reader.read_event() {
                Ok(Event::Start(element)) => self.start(&element, &mut open),
                Ok(Event::Empty(element)) => {
                    self.start(&element, &mut open);
                    open.end();
                }
                Ok(Event::End(end)) if end.name().as_ref() == "office:automatic-styles" => break,
                Ok(Event::End(_)) => open.end(),
                Ok(Event::Eof) | Err(_) => break,
                Ok(_) => {}
            }
        }
    }

    fn start(&mut self, element: &BytesStart, open: &mut Open) {
        open.depth += 1;
        match element.name().as_ref() {
            "style:style" => {
                open.style = xml::attribute(element, "style:name").map(|name| (name, open.depth));
                if let Some((name, _)) = &open.style {
                    let outline = xml::attribute(element, "style:default-outline-level");
                    let read = Style {
                        parent: xml::attribute(element, "style:parent-style-name"),
                        list: xml::attribute(element, "style:list-style-name"),
                        outline: outline.and_then(|level| level.parse().ok()).filter(|level| (1..=10).contains(level)),
                        ..Style::default()
                    };
                    self.styles.insert(name.clone(), read);
                }
            }
            "style:text-properties" => {
                if let Some(style) = open.parent_style().and_then(|name| self.styles.get_mut(name)) {
                    let bold = xml::attribute(element, "fo:font-weight")
                        .map(|weight| weight == "bold" || weight.parse::<u16>().is_ok_and(|weight| weight >= 600));
                    let italic =
                        xml::attribute(element, "fo:font-style").map(|slant| slant == "italic" || slant == "oblique");
                    let hidden = xml::attribute(element, "text:display").map(|display| display == "none");
                    style.bold = bold.or(style.bold);
                    style.italic = italic.or(style.italic);
                    style.hidden = hidden.or(style.hidden);
                    style.position = xml::attribute(element, "style:text-position").or(style.position.take());
                }
            }
            "text:list-style" => open.list = xml::attribute(element, "style:name"),
            "text:outline-style" => {
                let name = xml::attribute(element, "style:name").unwrap_or_else(|| OUTLINE.to_owned());
                self.outline = Some(name.clone());
                open.list = Some(name);
            }
            "text:list-level-style-number" | "text:list-level-style-bullet" | "text:outline-level-style" => {
                let level = xml::attribute(element, "text:level").and_then(|level| level.parse::<u8>().ok());
                if let (Some(list), Some(level)) = (&open.list, level) {
                    let levels = self.lists.entry(list.clone()).or_default();
                    let level = level.saturating_sub(1);
                    let is_number = element.name().as_ref() != "text:list-level-style-bullet";
                    // A number without a format is an unlabelled level.
                    match xml::attribute(element, "style:num-format") {
                        Some(format) if is_number && !format.is_empty() => {
                            levels.insert(level, Level::of(element, format));
                        }
                        _ => {
                            levels.remove(&level);
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns the numbers of a level of a list style; `None` for bullets.
    pub(super) fn level(&self, list: &str, level: u8) -> Option<&Level> {
        self.lists.get(list)?.get(&level)
    }

    /// Returns the levels of headings outside of lists; `None` if the document has no outline.
    pub(super) fn outline(&self) -> Option<&Levels> {
        self.lists.get(self.outline.as_deref()?)
    }

    /// Returns true if headings with the style have the numbers of the outline.
    pub(super) fn is_in_outline(&self, name: &str) -> bool {
        let list = self.chain(name).find_map(|style| style.list.as_deref());
        list.is_none() || list == self.outline.as_deref()
    }

    /// Returns the place of the style's text above or below the line.
    pub(super) fn shift(&self, name: &str) -> Option<Shift> {
        let position = self.chain(name).find_map(|style| style.position.as_deref())?;
        let height = position.split_whitespace().next()?;
        match height.trim_end_matches('%').parse::<f32>() {
            Ok(percent) if percent > 0.0 => Some(Shift::Raised),
            Ok(percent) if percent < 0.0 => Some(Shift::Lowered),
            Ok(_) => None,
            Err(_) if height == "super" => Some(Shift::Raised),
            Err(_) => (height == "sub").then_some(Shift::Lowered),
        }
    }

    /// Returns bold and italic of the style.
    pub(super) fn emphasis(&self, name: &str) -> (bool, bool) {
        let (mut bold, mut italic) = (None, None);
        for style in self.chain(name) {
            bold = bold.or(style.bold);
            italic = italic.or(style.italic);
        }
        (bold.unwrap_or(false), italic.unwrap_or(false))
    }

    /// Returns true for a style of hidden text.
    pub(super) fn is_hidden(&self, name: &str) -> bool {
        self.chain(name).find_map(|style| style.hidden).unwrap_or(false)
    }

    /// Returns the heading level of paragraphs with the style: its outline level, or 1 for the document's title.
    pub(super) fn heading_level(&self, name: &str) -> Option<u8> {
        let is_title = name == "Title" || self.chain(name).any(|style| style.parent.as_deref() == Some("Title"));
        self.chain(name).find_map(|style| style.outline).or(is_title.then_some(1))
    }

    fn chain<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a Style> {
        let mut next = self.styles.get(name);
        std::iter::from_fn(move || {
            let style = next?;
            next = style.parent.as_deref().and_then(|parent| self.styles.get(parent));
            Some(style)
        })
        .take(MAX_PARENTS)
    }
}

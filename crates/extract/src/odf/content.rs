//! Conversion of `content.xml` to blocks.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::formulas::Formulas;
use super::lists::{Label, Lists};
use super::outline::{Outline, Place};
use super::paragraph::Paragraph;
use super::styles::Styles;
use super::tables::Tables;
use super::{hidden, value};
use crate::blocks::{Block, one_line};
use crate::{ExtractError, literal, xml};

/// Maximum nesting of elements; office programs stay below a hundred.
const MAX_DEPTH: usize = 2_000;
/// Maximum number of spaces for one `text:s`.
const MAX_SPACES: usize = 100;

/// Elements without document text: annotations, deleted text and old values, program data, image data, pronunciations.
const SKIPPED: [&str; 18] = [
    "office:annotation",
    "text:tracked-changes",
    "table:tracked-changes",
    "office:scripts",
    "office:font-face-decls",
    "office:automatic-styles",
    "office:binary-data",
    "office:forms",
    "text:note-citation",
    "text:sequence-decls",
    "text:variable-decls",
    "text:user-field-decls",
    "table:content-validations",
    "presentation:settings",
    "svg:title",
    "svg:desc",
    "text:ruby-text",
    "text:index-title-template",
];

pub(super) struct Content<'a> {
    styles: &'a Styles,
    formulas: Formulas<'a>,
    blocks: Vec<Block>,
    paragraphs: Vec<Paragraph>,
    lists: Lists,
    outline: Outline,
    tables: Tables,
    notes: Vec<String>,
    /// Paragraphs of the open note.
    note: Vec<String>,
    /// Number of open `text:note-body` elements.
    in_note: usize,
    slides: u32,
    /// Index of the current slide's heading until its title is known.
    slide_heading: Option<usize>,
    in_title: bool,
    /// Title of the current slide, as plain text that is not yet in the heading.
    title: String,
}

impl<'a> Content<'a> {
    /// Reads all blocks of the part.
    ///
    /// # Errors
    /// Returns `Corrupt` for malformed XML, unless text precedes the error.
    pub(super) fn read(
        part: &str,
        styles: &'a Styles,
        formulas: Formulas<'a>,
        spreadsheet: bool,
    ) -> Result<Vec<Block>, ExtractError> {
        let mut content = Content {
            styles,
            formulas,
            blocks: Vec::new(),
            paragraphs: Vec::new(),
            lists: Lists::default(),
            outline: Outline::default(),
            tables: if spreadsheet { Tables::of_spreadsheet() } else { Tables::default() },
            notes: Vec::new(),
            note: Vec::new(),
            in_note: 0,
            slides: 0,
            slide_heading: None,
            in_title: false,
            title: String::new(),
        };
        let mut reader = Reader::from_str(part);
        // Mismatched end tags are common and do not affect the text.
        reader.config_mut().check_end_names = false;
        let (mut depth, mut skipping) = (0usize, None::<usize>);
        loop {
            match reader.read_event() {
                Ok(Event::Start(element)) => {
                    depth += 1;
                    if depth > MAX_DEPTH {
                        return Err(ExtractError::too_large(format!("elements nested over {MAX_DEPTH} deep")));
                    }
                    if skipping.is_none() {
                        if content.skips(&element) {
                            skipping = Some(depth);
                        } else {
                            content.start(&element);
                        }
                    }
                }
                Ok(Event::Empty(element)) => {
                    if skipping.is_none() && !content.skips(&element) {
                        content.start(&element);
                        content.end(element.name().as_ref());
                    }
                }
                Ok(Event::End(element)) => {
                    match skipping {
                        Some(at) if at == depth => skipping = None,
                        Some(_) => {}
                        None => content.end(element.name().as_ref()),
                    }
                    depth = depth.saturating_sub(1);
                }
                Ok(Event::Text(text)) if skipping.is_none() => content.text(&text),
                Ok(Event::CData(text)) if skipping.is_none() => content.text(&text),
                Ok(Event::GeneralRef(name)) if skipping.is_none() => content.text(&xml::reference(&name)),
                Ok(Event::Eof) => break,
                Ok(_) => {}
                Err(error) if content.blocks.is_empty() => {
                    return Err(ExtractError::corrupt(format!("`content.xml` is not well formed: {error}")));
                }
                Err(_) => break,
            }
        }
        Ok(content.finish())
    }

    fn finish(mut self) -> Vec<Block> {
        while let Some(paragraph) = self.paragraphs.pop() {
            self.place(paragraph);
        }
        self.end_note();
        self.end_title();
        while let Some(rows) = self.tables.end() {
            self.blocks.push(Block::Table(rows));
        }
        for (number, note) in (1..).zip(&self.notes) {
            self.blocks.push(Block::Paragraph(format!("[^{number}]: {note}")));
        }
        self.blocks
    }

    /// Returns true for an element without document text, and for hidden text.
    fn skips(&self, element: &BytesStart) -> bool {
        SKIPPED.contains(&element.name().as_ref()) || hidden::is_hidden(element, self.styles)
    }

    fn start(&mut self, element: &BytesStart) {
        let name = element.name();
        match name.as_ref() {
            "text:p" | "text:h" => self.start_paragraph(element, name.as_ref() == "text:h"),
            "text:span" => {
                let style = xml::attribute(element, "text:style-name").unwrap_or_default();
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    match self.styles.shift(&style) {
                        Some(shift) => paragraph.open_shift(shift),
                        None => paragraph.open_emphasis(self.styles.emphasis(&style)),
                    }
                }
            }
            "text:a" => {
                let target = xml::attribute(element, "xlink:href").unwrap_or_default();
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.open_link(&target);
                }
            }
            "text:s" => {
                let count = xml::attribute(element, "text:c").and_then(|count| count.parse().ok()).unwrap_or(1usize);
                self.text_kept(&" ".repeat(count.min(MAX_SPACES)));
            }
            "text:tab" => self.text_kept("\t"),
            "text:line-break" => self.text_kept("\n"),
            "text:hidden-paragraph" if hidden::is_condition_met(element) => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.is_hidden = true;
                }
            }
            "text:number" => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.is_numbered = true;
                }
            }
            "text:note-body" => self.in_note += 1,
            "text:list" => self.lists.start(element, self.styles, self.tables.depth()),
            "text:list-item" => self.lists.start_item(element),
            "text:list-header" => self.lists.start_header(),
            "table:table" => {
                // Tables of a spreadsheet are its sheets.
                if self.tables.is_outside()
                    && let Some(sheet) = self.sheet_name(element)
                {
                    self.blocks.push(Block::Heading { level: 2, text: sheet });
                }
                self.tables.start();
            }
            "table:table-row" => self.tables.row(xml::attribute(element, "table:number-rows-repeated")),
            "table:covered-table-cell" if self.tables.are_sheets() => {
                self.tables.covered_cell(xml::attribute(element, "table:number-columns-repeated"));
            }
            "table:table-cell" | "table:covered-table-cell" => {
                let repeated = xml::attribute(element, "table:number-columns-repeated");
                self.tables.cell(repeated, value::of_cell(element));
            }
            "draw:page" => {
                self.end_title();
                self.slides += 1;
                self.slide_heading = Some(self.blocks.len());
                self.blocks.push(self.untitled_slide());
            }
            "draw:frame" => {
                let class = xml::attribute(element, "presentation:class");
                self.in_title = class.as_deref() == Some("title") && self.slide_heading.is_some();
            }
            "draw:object" => self.formula(element),
            "presentation:notes" => self.blocks.push(Block::Paragraph("Notes:".into())),
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        match name {
            "text:p" | "text:h" => {
                if let Some(paragraph) = self.paragraphs.pop() {
                    self.place(paragraph);
                }
            }
            "text:span" | "text:a" => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.close();
                }
            }
            "text:note-body" => {
                self.in_note = self.in_note.saturating_sub(1);
                if self.in_note == 0 {
                    self.end_note();
                }
            }
            "text:list" => self.lists.end(),
            "table:table-cell" | "table:covered-table-cell" => self.tables.end_cell(),
            "table:table-row" => self.tables.end_row(),
            "table:table" => {
                if let Some(rows) = self.tables.end() {
                    self.blocks.push(Block::Table(rows));
                }
            }
            "draw:frame" => {
                self.end_title();
                self.in_title = false;
            }
            "presentation:notes" if self.blocks.last() == Some(&Block::Paragraph("Notes:".into())) => {
                self.blocks.pop();
            }
            "draw:page" => {
                self.end_title();
                // A slide without a title and text gets no heading.
                if self.blocks.last() == Some(&self.untitled_slide()) {
                    self.blocks.pop();
                }
                self.slide_heading = None;
            }
            _ => {}
        }
    }

    fn start_paragraph(&mut self, element: &BytesStart, heading: bool) {
        let style = xml::attribute(element, "text:style-name").unwrap_or_default();
        let level = if heading {
            let level = xml::attribute(element, "text:outline-level").and_then(|level| level.parse().ok());
            Some(level.unwrap_or(1u8))
        } else {
            self.styles.heading_level(&style)
        };
        let mut paragraph = Paragraph::new(level.map(|level| level.clamp(1, 6)));
        paragraph.outline = level.filter(|_| heading).and_then(|level| Place::of(element, level, &style, self.styles));
        self.paragraphs.push(paragraph);
    }

    /// Adds the formula of an object to the paragraph around it, or as a paragraph.
    fn formula(&mut self, object: &BytesStart) {
        let target = xml::attribute(object, "xlink:href").unwrap_or_default();
        let Some(formula) = self.formulas.of_object(&target) else { return };
        if let Some(paragraph) = self.paragraphs.last_mut() {
            paragraph.markup(formula);
        } else {
            let mut paragraph = Paragraph::new(None);
            paragraph.markup(formula);
            self.place(paragraph);
        }
    }

    fn text(&mut self, text: &str) {
        if let Some(paragraph) = self.paragraphs.last_mut() {
            paragraph.text(text);
        }
    }

    fn text_kept(&mut self, text: &str) {
        if let Some(paragraph) = self.paragraphs.last_mut() {
            paragraph.text_kept(text);
        }
    }

    /// Adds a finished paragraph to its note, cell, list item or slide, or to the blocks.
    fn place(&mut self, mut paragraph: Paragraph) {
        if paragraph.is_hidden {
            return;
        }
        let (level, is_numbered) = (paragraph.level, paragraph.is_numbered);
        let plain = std::mem::take(&mut paragraph.plain);
        // Paragraphs of a cell or an item become lines of one block.
        let is_alone = self.tables.is_outside() && self.lists.is_empty();
        if self.in_note > 0 {
            self.note.push(paragraph.finish(is_alone));
            return;
        }
        // An empty item is counted, too.
        let label = self.label(paragraph.outline);
        let number = match &label {
            _ if is_numbered => String::new(),
            Label::Number(number) => format!("{number}. "),
            Label::Text(number) => format!("{} ", literal::block(number.trim())),
            Label::None | Label::Continued | Label::Header | Label::Bullet => String::new(),
        };
        let text = paragraph.finish(is_alone && number.is_empty());
        if text.is_empty() {
            return;
        }
        if !self.tables.is_outside() && self.tables.paragraph(&format!("{number}{text}")) {
            return;
        }
        if self.in_title && self.slide_heading.is_some() {
            self.title.push(' ');
            self.title.push_str(&plain);
            return;
        }
        let depth = self.lists.level();
        let block = match (level, label) {
            (Some(level), _) => Block::Heading { level, text: number + &text },
            (None, Label::None | Label::Header) => Block::Paragraph(text),
            (None, Label::Bullet) => Block::Item { level: depth, number: None, text },
            (None, Label::Number(number)) => Block::Item { level: depth, number: Some(number), text },
            (None, Label::Text(_)) => Block::Item { level: depth, number: None, text: number + &text },
            (None, Label::Continued) => {
                // Another paragraph of the same item.
                if let Some(Block::Item { text: item, .. }) = self.blocks.last_mut() {
                    item.push('\n');
                    item.push_str(&text);
                    return;
                }
                Block::Paragraph(text)
            }
        };
        self.blocks.push(block);
    }

    /// Counts a paragraph, and returns its place in a list. Headings outside of lists have the numbers of the outline.
    fn label(&mut self, outline: Option<Place>) -> Label {
        match (self.lists.label(self.styles, self.tables.depth()), outline) {
            (Label::None, Some(place)) => self.outline.count(place, self.styles).map_or(Label::None, Label::Text),
            (label, _) => label,
        }
    }

    /// Numbers the note that was read, and refers to it in the paragraph around it.
    fn end_note(&mut self) {
        let mut paragraphs = std::mem::take(&mut self.note);
        paragraphs.retain(|text| !text.is_empty());
        if paragraphs.is_empty() {
            return;
        }
        self.notes.push(paragraphs.join(" "));
        let number = self.notes.len();
        if let Some(around) = self.paragraphs.last_mut() {
            around.markup(&format!("[^{number}]"));
        }
    }

    /// Adds the title that was read to the heading of the current slide. It is escaped as a whole, since its paragraphs
    /// become one line.
    fn end_title(&mut self) {
        let title = std::mem::take(&mut self.title);
        let title = literal::block(&one_line(&title));
        let Some(Block::Heading { text, .. }) = self.slide_heading.and_then(|at| self.blocks.get_mut(at)) else {
            return;
        };
        if title.is_empty() || title == *text {
            return;
        }
        text.push_str(if text.contains(": ") { " " } else { ": " });
        text.push_str(&title);
    }

    /// Returns the heading of the current slide before its title is known.
    fn untitled_slide(&self) -> Block {
        Block::Heading { level: 2, text: format!("Slide {}", self.slides) }
    }

    /// Returns the name of a spreadsheet's sheet. Text documents number their tables and do not name them for readers.
    fn sheet_name(&self, element: &BytesStart) -> Option<String> {
        let name = xml::attribute(element, "table:name")?;
        self.tables.are_sheets().then(|| format!("Sheet: {}", literal::block(name.trim())))
    }
}

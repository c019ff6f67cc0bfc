//! Conversion of RTF tokens to blocks.

use std::collections::HashMap;

use super::field;
use super::fonts::Fonts;
use super::marker::Marker;
use super::paragraph::Paragraph;
use super::token::{Token, Tokens};
use crate::blocks::Block;
use crate::literal::Shift;
use crate::{ExtractError, dates, literal};

/// Maximum nesting of groups; word processors stay below fifty.
const MAX_DEPTH: usize = 5_000;

/// Groups that are not part of the document's text. Groups that begin with `\*` are skipped too, except
/// [`READ_DESTINATIONS`].
const SKIPPED: [&str; 36] = [
    "colortbl",
    "pict",
    "object",
    "themedata",
    "datastore",
    "filetbl",
    "listtable",
    "listoverridetable",
    "rsidtbl",
    "revtbl",
    "generator",
    "xmlnstbl",
    "latentstyles",
    "fldinst",
    "footnote",
    "annotation",
    "atnid",
    "atnauthor",
    "atntime",
    "atnref",
    "bkmkstart",
    "bkmkend",
    "mmathPr",
    "objdata",
    "nonshppict",
    "header",
    "headerl",
    "headerr",
    "headerf",
    "footer",
    "footerl",
    "footerr",
    "footerf",
    "sp",
    "pntxta",
    "pntxtb",
];
const READ_DESTINATIONS: [&str; 6] = ["fldinst", "footnote", "pn", "pntext", "shpinst", "shptxt"];

/// Use of a group's text.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Destination {
    Body,
    Skipped,
    Fonts,
    Styles,
    /// `{\info ...}`, which contains sub-groups.
    Info,
    Title,
    Subject,
    Author,
    Created,
    /// Number or bullet of a list item, as text.
    Marker,
    /// Field instruction, such as `HYPERLINK "..."`.
    Instruction,
    /// Footnote or endnote, which stands in the middle of the paragraph that it belongs to.
    Note,
}

/// State that lasts until the group ends.
#[derive(Clone, Debug)]
struct State {
    destination: Destination,
    font: i32,
    /// Number of fallback bytes to skip after each `\u` character.
    unicode_skip: usize,
    hidden: bool,
    /// Set for text whose deletion is tracked as a change.
    deleted: bool,
    /// Place above or below the line.
    shift: Option<Shift>,
    /// Offset in the paragraph's markdown where the result of a `\field` starts.
    field_start: Option<usize>,
}

impl State {
    fn is_shown(&self) -> bool {
        !self.hidden && !self.deleted
    }
}

#[derive(Default)]
pub(super) struct Document {
    pub blocks: Vec<Block>,
    pub title: Option<String>,
    pub author: Option<String>,
    pub subject: Option<String>,
    pub created: Option<i64>,
}

struct Reader {
    document: Document,
    fonts: Fonts,
    /// Heading levels by style number.
    headings: HashMap<i32, u8>,
    paragraph: Paragraph,
    /// Rows of the current table.
    rows: Vec<Vec<String>>,
    row: Vec<String>,
    /// Bytes that are not decoded yet: a two-byte character arrives as two tokens.
    pending: Vec<u8>,
    /// Text of a destination other than the body.
    destination_text: String,
    /// Number of characters left to skip after a `\u`.
    skip: usize,
    surrogate: Option<u16>,
    style: i32,
    created: [i32; 6],
    /// Target of the open hyperlink field.
    link: Option<String>,
    /// True if the instruction of the open field gave its text, which its result may repeat.
    is_field_read: bool,
    notes: Vec<String>,
}

pub(super) fn read(bytes: &[u8]) -> Result<Document, ExtractError> {
    let mut reader = Reader {
        document: Document::default(),
        fonts: Fonts::new(),
        headings: HashMap::new(),
        paragraph: Paragraph::default(),
        rows: Vec::new(),
        row: Vec::new(),
        pending: Vec::new(),
        destination_text: String::new(),
        skip: 0,
        surrogate: None,
        style: 0,
        created: [0, 1, 1, 0, 0, 0],
        link: None,
        is_field_read: false,
        notes: Vec::new(),
    };
    let mut state = State {
        destination: Destination::Body,
        font: 0,
        unicode_skip: 1,
        hidden: false,
        deleted: false,
        shift: None,
        field_start: None,
    };
    let mut stack: Vec<State> = Vec::new();
    let mut ignorable = false;
    for token in Tokens::new(bytes) {
        if !matches!(token, Token::Byte(_) | Token::Text(_)) {
            reader.flush(&state);
        }
        match token {
            Token::Open => {
                if stack.len() >= MAX_DEPTH {
                    return Err(ExtractError::too_large(format!("groups nested over {MAX_DEPTH} deep")));
                }
                stack.push(state.clone());
                state.field_start = None;
                ignorable = false;
            }
            Token::Close => {
                reader.end_group(&state, stack.last());
                let Some(outer) = stack.pop() else { break };
                state = outer;
                ignorable = false;
                if stack.is_empty() {
                    break;
                }
            }
            Token::Symbol(b'*') => ignorable = true,
            Token::Symbol(symbol) => reader.symbol(symbol, &state),
            Token::Word { name, parameter } => {
                if std::mem::take(&mut ignorable) && !READ_DESTINATIONS.contains(&name) {
                    state.destination = Destination::Skipped;
                } else {
                    reader.word(name, parameter, &mut state);
                }
            }
            Token::Byte(byte) => reader.byte(byte),
            Token::Text(text) => {
                for &byte in text {
                    reader.byte(byte);
                }
            }
            Token::Binary => {}
        }
    }
    reader.flush(&state);
    reader.end_paragraph();
    reader.end_table();
    for (number, note) in (1..).zip(&reader.notes) {
        reader.document.blocks.push(Block::Paragraph(format!("[^{number}]: {}", literal::block(note))));
    }
    Ok(reader.document)
}

impl Reader {
    fn byte(&mut self, byte: u8) {
        if self.skip > 0 {
            self.skip -= 1;
        } else {
            self.pending.push(byte);
        }
    }

    /// Decodes pending bytes in the character set of the font.
    fn flush(&mut self, state: &State) {
        if self.pending.is_empty() {
            return;
        }
        let bytes = std::mem::take(&mut self.pending);
        let text = match state.destination {
            Destination::Title | Destination::Subject | Destination::Author => self.fonts.decode_plain(&bytes),
            destination => self.fonts.decode(state.font, &bytes, destination == Destination::Marker),
        };
        self.push(&text, state);
    }

    fn push(&mut self, text: &str, state: &State) {
        match state.destination {
            Destination::Skipped | Destination::Info => {}
            Destination::Body | Destination::Note if !state.is_shown() => {}
            Destination::Body => self.paragraph.text(text, state.shift),
            Destination::Marker => self.paragraph.marker.push_str(text),
            _ => self.destination_text.push_str(text),
        }
    }

    fn symbol(&mut self, symbol: u8, state: &State) {
        // An escaped character can be the fallback of a `\u`.
        if self.skip > 0 {
            self.skip -= 1;
            return;
        }
        match symbol {
            b'\\' | b'{' | b'}' => self.push((symbol as char).encode_utf8(&mut [0; 4]), state),
            b'~' => self.push("\u{a0}", state),
            b'_' => self.push("\u{2011}", state),
            b'\r' | b'\n' if state.destination == Destination::Body => self.end_paragraph(),
            _ => {}
        }
    }

    fn word(&mut self, name: &str, parameter: Option<i32>, state: &mut State) {
        let number = parameter.unwrap_or(0);
        match name {
            "u" => self.unicode(number, state),
            "uc" => state.unicode_skip = usize::try_from(number).unwrap_or(1).min(16),
            "ansicpg" => self.fonts.set_document_code_page(number),
            "mac" => self.fonts.set_document_code_page(10_000),
            "deff" => {
                state.font = number;
                self.fonts.plain = number;
            }
            "f" => {
                state.font = number;
                if state.destination == Destination::Fonts {
                    // Entries without groups of their own follow each other.
                    self.fonts.end_entry(&std::mem::take(&mut self.destination_text));
                    self.fonts.begin_entry(number);
                }
            }
            "fcharset" if state.destination == Destination::Fonts => self.fonts.set_charset(number),
            "cpg" if state.destination == Destination::Fonts => self.fonts.set_code_page(number),
            "super" => state.shift = (parameter != Some(0)).then_some(Shift::Raised),
            "sub" => state.shift = (parameter != Some(0)).then_some(Shift::Lowered),
            "nosupersub" => state.shift = None,
            // The height is in half points; without a parameter it is 6.
            "up" => state.shift = (parameter.unwrap_or(6) > 0).then_some(Shift::Raised),
            "dn" => state.shift = (parameter.unwrap_or(6) > 0).then_some(Shift::Lowered),
            "v" => state.hidden = parameter != Some(0),
            "deleted" => state.deleted = parameter != Some(0),
            "plain" => {
                state.hidden = false;
                state.deleted = false;
                state.shift = None;
                state.font = self.fonts.plain;
            }
            "s" => {
                self.style = number;
                if state.destination == Destination::Body {
                    self.paragraph.style = parameter;
                }
            }
            "outlinelevel" => {
                let level = u8::try_from(number).ok().filter(|level| *level < 9);
                if state.destination == Destination::Styles {
                    if let Some(level) = level {
                        self.headings.insert(self.style, level + 1);
                    }
                } else if state.destination == Destination::Body {
                    self.paragraph.outline = level;
                }
            }
            "yr" | "mo" | "dy" | "hr" | "min" | "sec" if state.destination == Destination::Created => {
                let part = ["yr", "mo", "dy", "hr", "min", "sec"].iter().position(|part| *part == name);
                self.created[part.unwrap_or(0)] = number;
            }
            _ if state.destination == Destination::Skipped => {}
            _ => self.text_word(name, number, state),
        }
        match name {
            "fonttbl" => state.destination = Destination::Fonts,
            "stylesheet" => {
                state.destination = Destination::Styles;
                self.style = 0;
            }
            "info" => state.destination = Destination::Info,
            "title" if state.destination == Destination::Info => state.destination = Destination::Title,
            "subject" if state.destination == Destination::Info => state.destination = Destination::Subject,
            "author" if state.destination == Destination::Info => state.destination = Destination::Author,
            "creatim" if state.destination == Destination::Info => state.destination = Destination::Created,
            "listtext" | "pntext" if state.destination == Destination::Body => state.destination = Destination::Marker,
            "fldinst" if state.destination == Destination::Body => state.destination = Destination::Instruction,
            "footnote" if state.destination == Destination::Body && state.is_shown() => {
                state.destination = Destination::Note
            }
            "field" => self.is_field_read = false,
            "fldrslt" if std::mem::take(&mut self.is_field_read) => state.destination = Destination::Skipped,
            "fldrslt" if self.link.is_some() => state.field_start = Some(self.paragraph.begin_link()),
            _ if SKIPPED.contains(&name) => state.destination = Destination::Skipped,
            _ => {}
        }
    }

    /// Handles control words that stand for text or end a piece of text.
    fn text_word(&mut self, name: &str, number: i32, state: &State) {
        let body = state.destination == Destination::Body;
        match name {
            "par" | "sect" | "page" if body => self.end_paragraph(),
            "line" | "lbr" if body => self.push("\n", state),
            "par" | "line" => self.push(" ", state),
            "tab" => self.push("\t", state),
            "emdash" => self.push("—", state),
            "endash" => self.push("–", state),
            "bullet" => self.push("•", state),
            "lquote" => self.push("‘", state),
            "rquote" => self.push("’", state),
            "ldblquote" => self.push("“", state),
            "rdblquote" => self.push("”", state),
            "emspace" | "enspace" | "qmspace" => self.push(" ", state),
            "zwj" => self.push("\u{200d}", state),
            "zwnj" => self.push("\u{200c}", state),
            "pard" if body => self.paragraph.reset_properties(),
            "intbl" if body => self.paragraph.in_table = true,
            "ls" | "pnlvlblt" | "pnlvlbody" if body => self.paragraph.in_list = true,
            "ilvl" | "pnlvl" if body => self.paragraph.list_level = u8::try_from(number).unwrap_or(0).min(8),
            "cell" | "nestcell" if body => {
                let mut cell = self.take_cell_lines();
                let text = self.paragraph.take_markdown(cell.is_empty());
                let marker = self.paragraph.take_marker();
                cell.push_str(marker.trim_start());
                cell.push_str(&text);
                self.row.push(cell);
            }
            "row" | "nestrow" if body && !self.row.is_empty() => self.rows.push(std::mem::take(&mut self.row)),
            _ => {}
        }
    }

    fn unicode(&mut self, number: i32, state: &State) {
        // Values are signed 16-bit numbers; some programs write them unsigned or as whole code points.
        let code = if number < 0 { number + 0x1_0000 } else { number };
        self.skip = state.unicode_skip;
        let unit = u16::try_from(code).ok();
        match (self.surrogate.take(), unit) {
            (Some(high), Some(low @ 0xdc00..=0xdfff)) => {
                let code = 0x1_0000 + ((u32::from(high) - 0xd800) << 10) + (u32::from(low) - 0xdc00);
                if let Some(c) = char::from_u32(code) {
                    self.push(c.encode_utf8(&mut [0; 4]), state);
                }
            }
            (_, Some(high @ 0xd800..=0xdbff)) => self.surrogate = Some(high),
            // Symbol fonts map their glyphs to the private use area at 0xf000.
            (_, Some(code @ 0xf020..=0xf0ff)) => {
                let [_, code] = code.to_be_bytes();
                let c = self.fonts.private_use(state.font, code, state.destination == Destination::Marker);
                self.push(c.encode_utf8(&mut [0; 4]), state);
            }
            _ => {
                if let Some(c) = u32::try_from(code).ok().and_then(char::from_u32).filter(|c| !c.is_control()) {
                    self.push(c.encode_utf8(&mut [0; 4]), state);
                }
            }
        }
    }

    /// Ends a group and stores its text according to the destination.
    fn end_group(&mut self, state: &State, outer: Option<&State>) {
        self.skip = 0;
        let ends = outer.is_none_or(|outer| outer.destination != state.destination);
        match state.destination {
            Destination::Styles => {
                let name = std::mem::take(&mut self.destination_text).to_lowercase();
                let level = name.split("heading ").nth(1).and_then(|rest| rest.chars().next()?.to_digit(10));
                if let Some(level @ 1..=9) = level {
                    self.headings.insert(self.style, level as u8);
                } else if name.trim_matches([' ', ';']) == "title" {
                    self.headings.insert(self.style, 1);
                }
            }
            Destination::Fonts => self.fonts.end_entry(&std::mem::take(&mut self.destination_text)),
            Destination::Title if ends => self.document.title = Some(std::mem::take(&mut self.destination_text)),
            Destination::Subject if ends => self.document.subject = Some(std::mem::take(&mut self.destination_text)),
            Destination::Author if ends => self.document.author = Some(std::mem::take(&mut self.destination_text)),
            Destination::Created if ends => {
                let [year, month, day, hour, minute, second] = self.created;
                self.document.created =
                    dates::parse(&format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"));
            }
            Destination::Instruction if ends => {
                let instruction = std::mem::take(&mut self.destination_text);
                self.link = field::hyperlink(&instruction);
                if let (Some(c), Some(outer)) = (field::symbol(&instruction), outer) {
                    self.is_field_read = true;
                    self.push(c.encode_utf8(&mut [0; 4]), outer);
                }
            }
            Destination::Note if ends => {
                let note = std::mem::take(&mut self.destination_text);
                if !note.trim().is_empty() {
                    self.notes.push(note.trim().to_owned());
                    self.paragraph.markup(&format!("[^{}]", self.notes.len()));
                }
            }
            _ => {}
        }
        if let Some(start) = state.field_start
            && let Some(target) = self.link.take()
        {
            self.paragraph.end_link(start, &target);
        }
    }

    fn end_paragraph(&mut self) {
        let text = self.paragraph.take_markdown(!self.paragraph.in_table);
        let marker = self.paragraph.take_marker();
        if self.paragraph.in_table {
            // A cell with several paragraphs: kept until the cell ends.
            self.row.push(format!("\u{0}{}{}", marker.trim_start(), text));
            return;
        }
        self.end_table();
        if text.trim().is_empty() {
            return;
        }
        let heading = self.paragraph.outline.map(|level| level + 1);
        let heading = heading.or_else(|| self.paragraph.style.and_then(|style| self.headings.get(&style).copied()));
        let marker = marker.trim();
        let block = match heading {
            Some(level) => Block::Heading { level: level.min(6), text: format!("{marker} {text}") },
            None if !marker.is_empty() || self.paragraph.in_list => {
                let (number, text) = match Marker::of(marker) {
                    Marker::Bullet => (None, text.trim().to_owned()),
                    Marker::Number(number) => (Some(number), text.trim().to_owned()),
                    Marker::Text(marker) => (None, format!("{marker} {}", text.trim())),
                };
                Block::Item { level: self.paragraph.list_level, number, text }
            }
            None => Block::Paragraph(text),
        };
        self.document.blocks.push(block);
    }

    /// Returns the earlier paragraphs of a cell, which [`Self::end_paragraph`] kept.
    fn take_cell_lines(&mut self) -> String {
        let first = self.row.iter().rposition(|cell| !cell.starts_with('\0')).map_or(0, |at| at + 1);
        self.row.drain(first..).map(|line| format!("{}\n", &line[1..])).collect()
    }

    fn end_table(&mut self) {
        let lines = self.take_cell_lines();
        if !lines.is_empty() {
            self.row.push(lines);
        }
        if !self.row.is_empty() {
            self.rows.push(std::mem::take(&mut self.row));
        }
        if !self.rows.is_empty() {
            self.document.blocks.push(Block::Table(std::mem::take(&mut self.rows)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn markdown(source: &[u8]) -> String {
        crate::blocks::write(&read(source).expect("a document").blocks)
    }

    #[test]
    fn character_escapes_are_decoded() {
        assert_eq!(
            markdown(b"{\\rtf1\\ansi caf\\'e9 \\u8364?5 \\u-10179?\\u-8704? \\{x\\}\\~y\\par}"),
            "café €5 😀 {x}\u{a0}y\n"
        );
        assert_eq!(
            markdown(b"{\\rtf1\\ansicpg1250{\\fonttbl{\\f0\\fcharset0 A;}{\\f1\\fcharset128 B;}}\\'9a\\f1 \\'93\\'fa\\'96\\'7b\\par}"),
            "š日本\n"
        );
        // The character set of a font, which properties do not have.
        let fonts = "{\\fonttbl{\\f0\\fcharset0 A;}{\\f1\\fcharset1 B;}{\\f2 C;}}{\\info{\\title \\'e9}}";
        let source = format!("{{\\rtf1\\ansicpg1251\\deff0{fonts}caf\\'e9 \\f1 \\'e9\\f2 \\'e9\\par}}");
        assert_eq!(markdown(source.as_bytes()), "café йй\n");
        assert_eq!(read(source.as_bytes()).expect("a document").title.as_deref(), Some("й"));
        let unicode = source.replace("1251", "65001").replace("\\'e9", "\\'d0\\'b9");
        assert_eq!(markdown(unicode.as_bytes()), "cafй йй\n");
    }

    #[test]
    fn headings_lists_and_links() {
        let source = b"{\\rtf1{\\stylesheet{\\s0 Normal;}{\\s1 heading 1;}}{\\info{\\title My Title}{\\author Ann}{\\creatim\\yr2024\\mo3\\dy1}}\
            \\pard\\s1 First\\par\\pard See {\\field{\\*\\fldinst HYPERLINK \"http://a.b/c\"}{\\fldrslt here}}.\\par\
            \\pard{\\listtext 1.\\tab}\\ls1\\ilvl0 one\\par\\pard{\\listtext \\bullet\\tab}\\ls1\\ilvl1 two\\par{\\*\\unknown junk}{\\pict 0011}}";
        let document = read(source).expect("a document");
        assert_eq!(
            crate::blocks::write(&document.blocks),
            "# First\n\nSee [here](http://a.b/c).\n\n1. one\n    - two\n"
        );
        assert_eq!(document.title.as_deref(), Some("My Title"));
        assert_eq!(document.author.as_deref(), Some("Ann"));
        assert_eq!(document.created, Some(1_709_251_200_000));
    }

    #[test]
    fn items_have_the_numbers_of_the_document() {
        let source = b"{\\rtf1\\pard{\\listtext 3.\\tab}\\ls1 three\\par\\pard{\\listtext IV.\\tab}\\ls1 four\\par\
            \\pard{\\listtext 1.1\\tab}\\ls1 clause\\par{\\listtext (a)\\tab}\\ls1 letter\\par between\\par}";
        assert_eq!(markdown(source), "3. three\n- IV. four\n- 1.1 clause\n- (a) letter\n- between\n");
        // The bullet is a letter of Wingdings.
        let bullets = b"{\\rtf1{\\fonttbl{\\f0 Arial;}{\\f1\\fcharset2 Wingdings;}}\\pard{\\listtext\\f1 \\'d8\\tab}\\ls1 x\\par}";
        assert_eq!(markdown(bullets), "- x\n");
    }

    #[test]
    fn exponents_are_no_part_of_their_number() {
        let source = b"{\\rtf1 About 10{\\super 6} cells, 10\\super -6\\nosupersub  m{\\up6 2}, log{\\sub 2}, H{\\sub 2}O, 1{\\super st}, 1\\dn4 0\\dn0 .\\par}";
        assert_eq!(
            markdown(source),
            "About 10<sup>6</sup> cells, 10<sup>-6</sup> m<sup>2</sup>, log2, H2O, 1st, 1<sub>0</sub>.\n"
        );
    }

    #[test]
    fn characters_of_the_symbol_font_are_read() {
        let source = b"{\\rtf1\\deff0{\\fonttbl{\\f0 Arial;}{\\f3\\froman\\fcharset2{\\*\\panose 05050102}Symbol;}}\
            5 {\\f3 \\u-3987?}m, 5 {\\f3\\'6d}m, x {\\f3 \\u-3933\\'a3} 5, 3 {\\f3 \\'b1}\\plain  0.2, \\u-3987?,\
            {\\field{\\*\\fldinst SYMBOL 109 \\\\f \"Symbol\" \\\\s 12}{\\fldrslt\\f3 m}}\\f3 a\\plain a\\par}";
        assert_eq!(markdown(source), "5 μm, 5 μm, x ≤ 5, 3 ± 0.2, m,μαa\n");
    }

    #[test]
    fn properties_of_shapes_and_lists_are_not_text() {
        let shape = b"{\\rtf1 Before {\\shp{\\*\\shpinst\\shpleft0{\\sp{\\sn shapeType}{\\sv 202}}{\\sp{\\sn fFlipH}{\\sv 0}}{\\shptxt\\pard Box\\par}}} after\\par}";
        assert_eq!(markdown(shape), "Before Box\n\nafter\n");
        let list =
            b"{\\rtf1{\\pntext\\f0 1.\\tab}{\\*\\pn\\pnlvlbody\\pnstart1\\pndec{\\pntxtb (}{\\pntxta.}}First\\par}";
        assert_eq!(markdown(list), "1. First\n");
    }

    #[test]
    fn hidden_and_deleted_text_is_left_out() {
        let source = b"{\\rtf1 The price is {\\deleted\\revauthdel1 100}{\\revised 200} euros{\\v  for now}.\\deleted  Or\\deleted0  And\\deleted  so\\plain  on.\\par}";
        assert_eq!(markdown(source), "The price is 200 euros. And on.\n");
    }

    #[test]
    fn tables_keep_rows_and_cells() {
        let source = b"{\\rtf1 before\\par\\trowd\\pard\\intbl a\\cell b\\par c\\cell\\row\\trowd\\pard\\intbl d\\cell e\\cell\\row\\pard after\\par}";
        assert_eq!(markdown(source), "before\n\n| a | b<br>c |\n| --- | --- |\n| d | e |\n\nafter\n");
    }

    #[test]
    fn notes_follow_the_document() {
        let sentence = b"{\\rtf1 Revenue fell by 5{\\super\\chftn{\\footnote\\pard\\plain{\\super\\chftn}12 percent\\par before tax.}} in 2023{\\deleted\\chftn{\\footnote\\plain Old.}}\\par}";
        assert_eq!(markdown(sentence), "Revenue fell by 5[^1] in 2023\n\n[^1]: 12 percent before tax.\n");
        // The paragraph keeps its properties, also around a note of LibreOffice.
        let structure = b"{\\rtf1\\pard\\outlinelevel0 Results{\\*\\footnote\\pard\\plain{\\listtext a.\\tab}Audited.} of 2023\\par\\trowd\\pard\\intbl a{\\footnote\\pard\\plain In EUR.}\\cell b\\cell\\row\\pard{\\listtext 1.\\tab}one{\\footnote\\pard\\plain Or two.}\\par}";
        assert_eq!(
            markdown(structure),
            "# Results[^1] of 2023\n\n| a[^2] | b |\n| --- | --- |\n\n1. one[^3]\n\n[^1]: a.\tAudited.\n\n[^2]: In EUR.\n\n[^3]: Or two.\n"
        );
    }

    #[test]
    fn nesting_is_bounded() {
        let error = read(&b"{\\rtf1".iter().chain(&b"{".repeat(10_000)).copied().collect::<Vec<u8>>());
        assert!(error.is_err());
        assert_eq!(markdown(b"{\\rtf1 unclosed {group"), "unclosed group\n");
    }
}

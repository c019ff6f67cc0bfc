//! Fonts of the document and the characters of their codes.

use std::collections::{HashMap, HashSet};

use encoding_rs::Encoding;

use super::{charset, symbol};

/// Character set of fonts with pictures or symbols instead of letters (`\fcharset2`).
const SYMBOL_CHARSET: i32 = 2;

pub(super) struct Fonts {
    /// Encoding of the document, for fonts without their own.
    default: &'static Encoding,
    encodings: HashMap<i32, &'static Encoding>,
    /// The fonts named Symbol.
    symbols: HashSet<i32>,
    /// All fonts with the character set of symbols.
    pictures: HashSet<i32>,
    /// Font whose entry in the font table is being read.
    entry: i32,
    /// Font of text without another (`\deff`).
    pub plain: i32,
}

impl Fonts {
    pub(super) fn new() -> Self {
        Self {
            default: encoding_rs::WINDOWS_1252,
            encodings: HashMap::new(),
            symbols: HashSet::new(),
            pictures: HashSet::new(),
            entry: 0,
            plain: 0,
        }
    }

    /// Sets the code page of the document.
    pub(super) fn set_document_code_page(&mut self, number: i32) {
        self.default = charset::of_code_page(number);
    }

    pub(super) fn begin_entry(&mut self, font: i32) {
        self.entry = font;
    }

    pub(super) fn set_charset(&mut self, number: i32) {
        if number == SYMBOL_CHARSET {
            self.pictures.insert(self.entry);
        } else if let Some(encoding) = charset::of_font(number) {
            // Programs that write UTF-8, which the format does not have, write it in all fonts.
            if self.default != encoding_rs::UTF_8 {
                self.encodings.insert(self.entry, encoding);
            }
        }
    }

    pub(super) fn set_code_page(&mut self, number: i32) {
        self.encodings.insert(self.entry, charset::of_code_page(number));
    }

    /// Ends an entry. `name` is its text, with the semicolon behind the name.
    pub(super) fn end_entry(&mut self, name: &str) {
        if name.trim_matches([' ', ';']).eq_ignore_ascii_case("symbol") {
            self.symbols.insert(self.entry);
        }
    }

    /// Returns the text of bytes. `is_marker`: they are the number or bullet of a list item.
    pub(super) fn decode(&self, font: i32, bytes: &[u8], is_marker: bool) -> String {
        if self.symbols.contains(&font) {
            return bytes.iter().filter_map(|byte| symbol::character(*byte)).collect();
        }
        // The letter of a picture is no number of the item.
        if is_marker && self.pictures.contains(&font) && bytes.iter().any(|byte| !byte.is_ascii_whitespace()) {
            return "•".to_owned();
        }
        let encoding = self.encodings.get(&font).copied().unwrap_or(self.default);
        encoding.decode_without_bom_handling(bytes).0.into_owned()
    }

    /// Returns the text of bytes without a font, such as those of properties.
    pub(super) fn decode_plain(&self, bytes: &[u8]) -> String {
        self.default.decode_without_bom_handling(bytes).0.into_owned()
    }

    /// Returns the character of a code that the file maps to the private use area at U+F000.
    pub(super) fn private_use(&self, font: i32, code: u8, is_marker: bool) -> char {
        if self.symbols.contains(&font) {
            return symbol::character(code).unwrap_or('•');
        }
        if code.is_ascii_graphic() && !is_marker { char::from(code) } else { '•' }
    }
}

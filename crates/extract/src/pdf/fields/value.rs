//! Value of a field (ISO 32000-1, 12.7).

use std::collections::HashMap;

use pdf_oxide::object::Object;
use pdf_oxide::{Annotation, PdfDocument};

use super::super::text_string;

/// Maximum number of parents that a field inherits from.
const MAX_PARENTS: usize = 8;
/// Maximum number of selected options, and of options that are searched for their text.
const MAX_SELECTED: usize = 100;
const MAX_OPTIONS: usize = 10_000;
/// Field flags (tables 226, 228). The library's types of buttons mix two of them up.
const PASSWORD: u32 = 1 << 13;
const RADIO: u32 = 1 << 15;
const PUSH_BUTTON: u32 = 1 << 16;

/// Value as the widget shows it.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Value {
    /// Text of one or more lines.
    Text(String),
    /// Check box or radio button.
    Box { checked: bool },
}

impl Value {
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Box { checked: true } => "☒",
            Self::Box { checked: false } => "☐",
        }
    }
}

/// Returns the value of a widget's field. `None` if it is empty, a password, a push button or a signature.
pub(super) fn of(document: &PdfDocument, widget: &Annotation) -> Option<Value> {
    let field = Field { document, dictionary: widget.raw_dict.as_ref()? };
    let flags = widget.field_flags.unwrap_or(0);
    let text = match field.get("FT")?.as_name()? {
        "Tx" if flags & PASSWORD == 0 => field.text(&field.get("V")?)?,
        "Ch" => field.selected()?,
        "Btn" if flags & PUSH_BUTTON == 0 => {
            // The value of radio buttons names the chosen one.
            let value = || field.get("V").filter(|_| flags & RADIO == 0)?.as_name().map(str::to_owned);
            let state = widget.appearance_state.clone().or_else(value)?;
            return Some(Value::Box { checked: state != "Off" && !state.is_empty() });
        }
        _ => return None,
    };
    let text = crate::charset::normalize_lines(&text);
    (!text.trim().is_empty()).then_some(Value::Text(text))
}

struct Field<'a> {
    document: &'a PdfDocument,
    /// Dictionary of the widget, which is the field or one of its children.
    dictionary: &'a HashMap<String, Object>,
}

impl Field<'_> {
    /// Returns an entry of the field, which may be inherited.
    fn get(&self, key: &str) -> Option<Object> {
        if let Some(found) = self.dictionary.get(key) {
            return self.resolved(found);
        }
        let mut parent = self.resolved(self.dictionary.get("Parent")?)?;
        for _ in 0..MAX_PARENTS {
            let dictionary = parent.as_dict()?;
            if let Some(found) = dictionary.get(key) {
                return self.resolved(found);
            }
            parent = self.resolved(dictionary.get("Parent")?)?;
        }
        None
    }

    fn resolved(&self, object: &Object) -> Option<Object> {
        match object.as_reference() {
            Some(reference) => self.document.load_object(reference).ok(),
            None => Some(object.clone()),
        }
    }

    fn text(&self, value: &Object) -> Option<String> {
        self.resolved(value)?.as_string().map(text_string::decode)
    }

    /// Returns the selected options as they are shown, separated by commas.
    fn selected(&self) -> Option<String> {
        let value = self.get("V")?;
        let values = match value.as_array() {
            Some(values) => values.iter().take(MAX_SELECTED).filter_map(|value| self.text(value)).collect(),
            None => vec![self.text(&value)?],
        };
        let options = self.get("Opt");
        let options = options.as_ref().and_then(Object::as_array).map_or(&[][..], Vec::as_slice);
        let shown = values.into_iter().map(|value| self.shown(options, &value).unwrap_or(value));
        Some(shown.collect::<Vec<_>>().join(", "))
    }

    /// Returns the text of the option with this value: an option may be a pair of both.
    fn shown(&self, options: &[Object], value: &str) -> Option<String> {
        options.iter().take(MAX_OPTIONS).find_map(|option| {
            let option = self.resolved(option)?;
            let [export, text] = &option.as_array()?[..] else { return None };
            (self.text(export)? == value).then(|| self.text(text))?
        })
    }
}

//! Formulas of a document, which are objects with MathML in parts of their own (ODF 1.3 part 3, 10.4.6).

use std::collections::HashMap;

use quick_xml::events::Event;

use super::package::Package;
use crate::{html, xml};

/// Maximum unpacked size of all objects, in bytes.
const MAX_READ: usize = 16 << 20;
/// Maximum length of all formulas in the text, in bytes. A text can show one object any number of times.
const MAX_WRITTEN: usize = 1 << 20;

pub(super) struct Formulas<'p> {
    package: Package<'p>,
    /// Formulas that were read, by the name of their object; `None` for other objects.
    read: HashMap<String, Option<String>>,
    readable: usize,
    writable: usize,
}

impl<'p> Formulas<'p> {
    pub(super) fn new(package: Package<'p>) -> Self {
        Self { package, read: HashMap::new(), readable: MAX_READ, writable: MAX_WRITTEN }
    }

    /// Returns the formula of an object as markdown. Returns `None` for other objects, and beyond the limits.
    pub(super) fn of_object(&mut self, target: &str) -> Option<&str> {
        let name = target.trim_start_matches("./").trim_end_matches('/');
        if !self.read.contains_key(name) {
            let formula = self.unpacked(name).and_then(|part| written(&part));
            self.read.insert(name.to_owned(), formula);
        }
        let formula = self.read.get(name)?.as_deref()?;
        self.writable = self.writable.checked_sub(formula.len())?;
        Some(formula)
    }

    fn unpacked(&mut self, name: &str) -> Option<String> {
        if self.readable == 0 {
            return None;
        }
        let part = self.package.part(&format!("{name}/content.xml")).ok()??;
        self.readable = self.readable.saturating_sub(part.len());
        Some(part)
    }
}

/// Returns the formula of a part that is MathML.
fn written(part: &str) -> Option<String> {
    let prefix = prefix(part)?;
    let formula = if prefix.is_empty() {
        html::mathml_formula(part)
    } else {
        // A reader of web pages knows no prefixes.
        html::mathml_formula(&part.replace(&format!("<{prefix}"), "<").replace(&format!("</{prefix}"), "</"))
    };
    formula.filter(|formula| !formula.is_empty())
}

/// Returns what precedes the names of elements, such as `math:`, in a part that is MathML.
fn prefix(part: &str) -> Option<String> {
    let mut reader = xml::lenient(part);
    loop {
        match reader.read_event().ok()? {
            Event::Start(root) => {
                let name = root.name();
                let name: &str = name.as_ref();
                let prefix = name.strip_suffix("math")?;
                return (prefix.is_empty() || prefix.ends_with(':')).then(|| prefix.to_owned());
            }
            Event::Empty(_) | Event::Eof => return None,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::written;

    #[test]
    fn parts_with_mathml_are_formulas() {
        let half = "<mfrac><mn>1</mn><mn>2</mn></mfrac>";
        let prefixed = half.replace("</", "</math:").replace("<m", "<math:m");
        for (part, expected) in [
            (
                format!(r#"<?xml version="1.0"?><math><semantics>{half}<annotation>a</annotation></semantics></math>"#),
                Some("1/2"),
            ),
            (format!("<!DOCTYPE math:math><math:math>{prefixed}</math:math>"), Some("1/2")),
            ("<math><mi>a</mi><mo>*</mo><mi>b</mi></math>".to_owned(), Some("a\\*b")),
            ("<math></math>".to_owned(), None),
            (format!("<office:document-content><math>{half}</math></office:document-content>"), None),
            ("no markup".to_owned(), None),
        ] {
            assert_eq!(written(&part).as_deref(), expected, "{part}");
        }
    }
}

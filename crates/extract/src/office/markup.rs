//! Markup of a part of a document or presentation in a form that the library reads: formulas as lines of text, also those
//! with an alternative for older programs, and the text under phonetic guides (ruby) as runs of the paragraph.

use std::ops::Range;

use quick_xml::Reader;
use quick_xml::escape::escape;
use quick_xml::events::{BytesStart, Event};

use super::omml;
use crate::xml;

/// Maximum nesting of elements; office programs stay below a hundred.
const MAX_DEPTH: usize = 2_000;

/// Returns the part with the other markup. Returns `None` for a part without formulas and phonetic guides, and for
/// malformed and deeply nested XML.
pub(super) fn rewritten(part: &str) -> Option<String> {
    if !part.contains("oMath") && !part.contains("ruby") {
        return None;
    }
    let reader = xml::lenient(part);
    Rewriter { part, reader, out: String::new(), copied: 0, room: part.len(), open: Vec::new() }.read()
}

/// Open element.
enum Open {
    Run(Run),
    /// Properties of a run, with the place where they begin.
    RunProperties(usize),
    /// Phonetic guide in a run.
    Ruby,
    /// Text under a phonetic guide.
    RubyBase,
    /// Formulas on lines of their own. True behind the first.
    Display(bool),
    Paragraph,
    /// Alternatives of the content of a paragraph (ECMA-376 part 3, 7.2). True behind the one that is read.
    Alternatives(bool),
    /// The alternative that is read.
    Alternative,
    Other,
}

/// Places of the start tag, of its name, and of the properties of a run.
struct Run {
    tag: Range<usize>,
    name: Range<usize>,
    properties: Range<usize>,
}

struct Rewriter<'p> {
    part: &'p str,
    reader: Reader<&'p [u8]>,
    out: String,
    /// Place in the part up to which it is in the output, or left out of it.
    copied: usize,
    /// Number of bytes that the tags and properties of runs may still be repeated with.
    room: usize,
    open: Vec<Open>,
}

impl Rewriter<'_> {
    fn read(mut self) -> Option<String> {
        loop {
            let start = self.place()?;
            match self.reader.read_event().ok()? {
                Event::Start(element) => self.start(&element, start)?,
                Event::End(_) => self.end(start)?,
                Event::Eof => break,
                _ => {}
            }
        }
        let is_left_out =
            |open: &Open| matches!(open, Open::Ruby | Open::RubyBase | Open::Alternatives(_) | Open::Alternative);
        let is_cut = self.open.iter().any(is_left_out);
        if self.copied == 0 || is_cut {
            return None;
        }
        self.copy(self.part.len())?;
        Some(self.out)
    }

    /// Returns the place behind the last event.
    fn place(&self) -> Option<usize> {
        xml::place(&self.reader)
    }

    /// Copies the part up to a place.
    fn copy(&mut self, end: usize) -> Option<()> {
        self.out.push_str(self.part.get(self.copied..end)?);
        self.copied = end;
        Some(())
    }

    fn start(&mut self, element: &BytesStart, start: usize) -> Option<()> {
        if self.open.len() >= MAX_DEPTH {
            return None;
        }
        let end = self.place()?;
        let name = element.name();
        let name: &str = name.as_ref();
        let local = name.rsplit_once(':').map_or(name, |(_, local)| local);
        let in_run = matches!(self.open.last(), Some(Open::Run(_)));
        let in_ruby = matches!(self.open.last(), Some(Open::Ruby));
        let in_paragraph = matches!(self.open.last(), Some(Open::Paragraph | Open::Alternative));
        if let Some(Open::Alternatives(is_read)) = self.open.last_mut() {
            if std::mem::replace(is_read, true) {
                xml::text(&mut self.reader)?;
            } else {
                self.open.push(Open::Alternative);
            }
            self.copied = self.place()?;
            return Some(());
        }
        let open = match local {
            "rubyBase" if in_ruby => {
                self.copied = end;
                Open::RubyBase
            }
            _ if in_ruby => {
                xml::text(&mut self.reader)?;
                return Some(());
            }
            "oMath" => return self.formula(name, end),
            "oMathPara" => Open::Display(false),
            "p" => Open::Paragraph,
            "AlternateContent" if in_paragraph => {
                self.copy(start)?;
                self.copied = end;
                Open::Alternatives(false)
            }
            "r" => Open::Run(Run { tag: start..end, name: start + 1..start + 1 + name.len(), properties: end..end }),
            "rPr" if in_run => Open::RunProperties(start),
            "ruby" if in_run && self.end_run(start)? => Open::Ruby,
            _ => Open::Other,
        };
        self.open.push(open);
        Some(())
    }

    fn end(&mut self, start: usize) -> Option<()> {
        let end = self.place()?;
        match self.open.pop() {
            Some(Open::RunProperties(begin)) => {
                if let Some(Open::Run(run)) = self.open.last_mut() {
                    run.properties = begin..end;
                }
            }
            Some(Open::Alternatives(_)) => self.copied = end,
            Some(Open::RubyBase | Open::Alternative) => {
                self.copy(start)?;
                self.copied = end;
            }
            Some(Open::Ruby) => {
                if let Some(Open::Run(run)) = self.open.last() {
                    self.out.push_str(self.part.get(run.tag.clone())?);
                    self.out.push_str(self.part.get(run.properties.clone())?);
                }
                self.copied = end;
            }
            _ => {}
        }
        Some(())
    }

    /// Replaces the content of a formula. `end` is the end of its start tag.
    fn formula(&mut self, name: &str, end: usize) -> Option<()> {
        let text = omml::read(&mut self.reader)?;
        self.copy(end)?;
        if !text.is_empty() {
            // The library writes the formulas of a paragraph without anything between them.
            let follows = match self.open.last_mut() {
                Some(Open::Display(follows)) => std::mem::replace(follows, true),
                _ => false,
            };
            let separator = if follows { "; " } else { "" };
            let prefix = name.strip_suffix("oMath").unwrap_or_default();
            let text = escape(text.as_str());
            self.out.push_str(&format!("<{prefix}r><{prefix}t>{separator}{text}</{prefix}t></{prefix}r>"));
        }
        self.out.push_str(&format!("</{name}>"));
        self.copied = self.place()?;
        Some(())
    }

    /// Ends the last open run in front of a phonetic guide. Returns false if its tags and properties are so long that
    /// the part would grow much by their repetition.
    fn end_run(&mut self, start: usize) -> Option<bool> {
        let Some(Open::Run(run)) = self.open.last() else { return Some(false) };
        let name = self.part.get(run.name.clone())?;
        let Some(room) = self.room.checked_sub(run.tag.len() + run.properties.len() + name.len()) else {
            return Some(false);
        };
        self.room = room;
        self.copy(start)?;
        self.out.push_str(&format!("</{name}>"));
        Some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::rewritten;

    #[test]
    fn parts_without_formulas_and_phonetic_guides_stay() {
        for part in [
            "<w:p><w:r><w:t>10</w:t></w:r></w:p>",
            "<w:p><w:r><w:t>a ruby</w:t></w:r></w:p>",
            // The library reads these.
            "<w:p><w:ruby><w:rt><w:r/></w:rt><w:rubyBase><w:r/></w:rubyBase></w:ruby></w:p>",
            "<w:p><m:oMath/></w:p>",
            // Malformed.
            "<w:p><m:oMath><m:r>",
            "<w:r><w:ruby><w:rubyBase><w:r>",
            "<m:oMath></m:oMath><",
        ] {
            assert_eq!(rewritten(part), None, "{part}");
        }
        let deep = "<a>".repeat(100_000) + "<m:oMath><m:r><m:t>1</m:t></m:r></m:oMath>";
        assert_eq!(rewritten(&deep), None);
    }

    #[test]
    fn formulas_are_lines_of_text() {
        let formula = |text: &str| format!("<o:oMath><o:r><o:t>{text}</o:t></o:r></o:oMath>");
        let power = "<o:oMath><o:sSup><o:e><o:t>10</o:t></o:e><o:sup><o:t>6</o:t></o:sup></o:sSup></o:oMath>";
        let part = format!("<w:p>{power}<o:oMathPara>{}{}</o:oMathPara>x</w:p>", formula("a&lt;b"), formula("c"));
        let expected = format!(
            "<w:p>{}<o:oMathPara>{}{}</o:oMathPara>x</w:p>",
            formula("10^6"),
            formula("a&lt;b"),
            formula("; c")
        );
        assert_eq!(rewritten(&part), Some(expected));
    }

    #[test]
    fn the_first_alternative_in_a_paragraph_is_read() {
        let formula = "<m:oMath><m:f><m:num><m:t>1</m:t></m:num><m:den><m:t>2</m:t></m:den></m:f></m:oMath>";
        let written = "<m:oMath><m:r><m:t>1/2</m:t></m:r></m:oMath>";
        let alternatives = |content: &str| {
            format!(
                "<mc:AlternateContent> <mc:Choice Requires='a14'>{content}</mc:Choice><mc:Choice><a:r/></mc:Choice> <mc:Fallback><a:r><a:t>picture</a:t></a:r></mc:Fallback></mc:AlternateContent>"
            )
        };
        let math = |formula: &str| format!("<a14:m>{formula}</a14:m>");
        for (content, expected) in [
            (alternatives(&math(formula)), math(written)),
            (alternatives(&alternatives(&math(formula))), math(written)),
            (math(formula) + "<mc:AlternateContent/><a:r/>", math(written) + "<mc:AlternateContent/><a:r/>"),
            (math(formula) + "<mc:AlternateContent></mc:AlternateContent><a:r/>", math(written) + "<a:r/>"),
        ] {
            let part = format!("<p:sp><a:p><a:r/>{content}<a:r/></a:p></p:sp>");
            let expected = format!("<p:sp><a:p><a:r/>{expected}<a:r/></a:p></p:sp>");
            assert_eq!(rewritten(&part), Some(expected), "{part}");
        }
        // Those of a shape are left to the library.
        let part = |formula: &str| format!("<p:spTree>{}</p:spTree>", alternatives(&format!("<a:p>{formula}</a:p>")));
        assert_eq!(rewritten(&part(formula)), Some(part(written)));
        let cut = format!("<a:p>{formula}<mc:AlternateContent><mc:Choice>");
        assert_eq!(rewritten(&cut), None);
    }

    #[test]
    fn texts_under_phonetic_guides_are_runs() {
        let ruby = "<w:ruby><w:rubyPr/><w:rt><w:r><w:t>a</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>b</w:t></w:r></w:rubyBase></w:ruby>";
        let part = format!("<w:p><w:r x='1'><w:rPr><w:b/></w:rPr><w:t>c</w:t>{ruby}{ruby}<w:t>d</w:t></w:r></w:p>");
        let (begin, base) = ("<w:r x='1'><w:rPr><w:b/></w:rPr>", "<w:r><w:t>b</w:t></w:r>");
        assert_eq!(
            rewritten(&part),
            Some(format!("<w:p>{begin}<w:t>c</w:t></w:r>{base}{begin}</w:r>{base}{begin}<w:t>d</w:t></w:r></w:p>"))
        );
    }

    #[test]
    fn repeated_properties_are_bounded() {
        let properties = format!("<w:rPr>{}</w:rPr>", "<w:b/>".repeat(10_000));
        let part = format!("<w:r>{properties}{}</w:r>", "<w:ruby></w:ruby>".repeat(10_000));
        let rewritten = rewritten(&part).expect("a part");
        assert!(rewritten.len() <= part.len() * 2, "{}", rewritten.len());
    }
}

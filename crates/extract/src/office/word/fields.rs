//! Fields of a Word document (ECMA-376 part 1, 17.16.18), whose instructions may hold other fields with text of their own.

use std::ops::Range;

use quick_xml::events::{BytesStart, Event};

use crate::xml;

/// Returns the part without the text in the instructions of fields. Returns `None` for a part without such text, and for
/// malformed XML.
pub(super) fn without_instructions(part: &str) -> Option<String> {
    if !part.contains("fldChar") {
        return None;
    }
    let mut reader = xml::lenient(part);
    let mut fields = Fields::default();
    let mut texts = Vec::new();
    loop {
        let start = xml::place(&reader)?;
        match reader.read_event().ok()? {
            Event::Start(element) => match element.local_name().as_ref() {
                "fldChar" => fields.note(&element, start),
                "t" => {
                    xml::text(&mut reader)?;
                    texts.push(start..xml::place(&reader)?);
                }
                _ => {}
            },
            Event::Empty(element) if element.local_name().as_ref() == "fldChar" => fields.note(&element, start),
            Event::Eof => break,
            _ => {}
        }
    }
    without(part, &texts, fields.instructions)
}

/// Fields that are open, and the instructions of those that have ended. A field without an end has no instruction, or the
/// rest of the part would be one.
#[derive(Default)]
struct Fields {
    /// Start of each field, and the end of its instruction if that has come.
    open: Vec<(usize, Option<usize>)>,
    instructions: Vec<Range<usize>>,
}

impl Fields {
    /// Notes the start of a field, the end of its instruction, or its end.
    fn note(&mut self, mark: &BytesStart, at: usize) {
        let name = mark.name();
        let name: &str = name.as_ref();
        let prefix = name.strip_suffix("fldChar").unwrap_or_default();
        match xml::attribute(mark, &format!("{prefix}fldCharType")).as_deref() {
            Some("begin") => self.open.push((at, None)),
            Some("separate") => {
                if let Some((_, end)) = self.open.last_mut() {
                    end.get_or_insert(at);
                }
            }
            Some("end") => {
                if let Some((start, end)) = self.open.pop() {
                    self.instructions.push(start..end.unwrap_or(at));
                }
            }
            _ => {}
        }
    }
}

/// Returns the part without the texts that begin in an instruction.
fn without(part: &str, texts: &[Range<usize>], mut instructions: Vec<Range<usize>>) -> Option<String> {
    instructions.sort_unstable_by_key(|instruction| instruction.start);
    let mut instructions = instructions.into_iter().peekable();
    let mut out = String::new();
    let (mut copied, mut end) = (0, 0);
    for text in texts {
        while let Some(instruction) = instructions.next_if(|instruction| instruction.start < text.start) {
            end = end.max(instruction.end);
        }
        if text.start < end {
            out.push_str(part.get(copied..text.start)?);
            copied = text.end;
        }
    }
    if copied == 0 {
        return None;
    }
    out.push_str(part.get(copied..)?);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a part from words: `{`, `|` and `}` are the marks of a field, the others texts.
    fn part(words: &str) -> String {
        let word = |word: &str| match word {
            "{" => "<w:r><w:fldChar w:fldCharType='begin'><w:ffData/></w:fldChar></w:r>".to_owned(),
            "|" => "<w:r><w:fldChar w:fldCharType='separate'/></w:r>".to_owned(),
            "}" => "<w:r><w:fldChar w:fldCharType='end'/></w:r>".to_owned(),
            text => format!("<w:r><w:instrText>IF</w:instrText><w:t>{text}</w:t></w:r>"),
        };
        words.split(' ').map(word).collect()
    }

    #[test]
    fn texts_of_instructions_are_left_out() {
        for (words, left_out) in [
            ("a { { | b } | c } d", "b"),
            ("a { b | c } d", "b"),
            ("a { { b } c | { d | e } } f", "bcd"),
            ("a { | { | b } c } d", ""),
            ("a { b", ""),
            ("a { { b | c } d | e", "b"),
            ("a } | b { c } d", "c"),
            ("a b", ""),
        ] {
            let whole = part(words);
            let expected =
                left_out.chars().fold(whole.clone(), |part, text| part.replace(&format!("<w:t>{text}</w:t>"), ""));
            assert_eq!(without_instructions(&whole), (!left_out.is_empty()).then_some(expected), "{words}");
        }
        assert_eq!(without_instructions(&(part("{ a }") + "<")), None);
    }
}

//! Document properties from `meta.xml` (ODF 1.3 part 3, 4.3).

use quick_xml::Reader;
use quick_xml::events::Event;

use crate::{dates, language, names, xml};

#[derive(Debug, Default)]
pub(super) struct Meta {
    pub title: Option<String>,
    pub author: Option<String>,
    pub description: Option<String>,
    pub language: Option<String>,
    pub published_at: Option<i64>,
}

/// Reads properties up to the first malformed element: bad properties must not fail the document.
pub(super) fn read(part: &str) -> Meta {
    let mut meta = Meta::default();
    let (mut creator, mut subject, mut modified) = (None, None, None);
    let mut reader = Reader::from_str(part);
    let mut text = String::new();
    loop {
        match reader.read_event() {
            Ok(Event::Start(_)) => text.clear(),
            Ok(Event::Text(piece)) => text.push_str(&piece),
            Ok(Event::GeneralRef(name)) => text.push_str(&xml::reference(&name)),
            Ok(Event::CData(piece)) => text.push_str(&piece),
            Ok(Event::End(end)) => {
                let value = names::one_line(&text);
                match end.name().as_ref() {
                    "dc:title" => meta.title = value,
                    "meta:initial-creator" => meta.author = value,
                    "dc:creator" => creator = value,
                    "dc:description" => meta.description = value,
                    "dc:subject" => subject = value,
                    "dc:language" => meta.language = value.as_deref().and_then(language::from_tag),
                    "meta:creation-date" => meta.published_at = value.as_deref().and_then(dates::parse),
                    "dc:date" => modified = value.as_deref().and_then(dates::parse),
                    _ => {}
                }
                text.clear();
            }
            Ok(Event::Eof) | Err(_) => break,
            Ok(_) => {}
        }
    }
    meta.author = meta.author.or(creator);
    meta.description = meta.description.or(subject);
    meta.published_at = meta.published_at.or(modified);
    meta
}

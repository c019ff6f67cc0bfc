//! Sitemaps and feeds in XML. Entities that a file declares are never expanded, and nothing is fetched.

use quick_xml::Reader;
use quick_xml::escape::{resolve_predefined_entity, unescape};
use quick_xml::events::{BytesStart, Event};

use super::alternates::Alternates;
use super::{Feed, dates, without_mark};

/// Longer texts are neither URLs nor dates.
const MAX_TEXT: usize = 8_192;
/// Deeper files are damaged.
const MAX_DEPTH: usize = 64;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Format {
    Urls,
    Index,
    Rss,
    Atom,
}

impl Format {
    fn of(root: &str) -> Option<Self> {
        match root {
            "urlset" => Some(Format::Urls),
            "sitemapindex" => Some(Format::Index),
            "rss" | "RDF" => Some(Format::Rss),
            "feed" => Some(Format::Atom),
            _ => None,
        }
    }

    /// Returns true if the element holds one link.
    fn is_entry(self, name: &str) -> bool {
        match self {
            Format::Urls => name == "url",
            Format::Index => name == "sitemap",
            Format::Rss => name == "item",
            Format::Atom => name == "entry",
        }
    }

    fn is_target(self, name: &str) -> bool {
        match self {
            Format::Urls | Format::Index => name == "loc",
            Format::Rss => name == "link",
            // In an attribute.
            Format::Atom => false,
        }
    }

    fn is_date(name: &str) -> bool {
        matches!(name, "lastmod" | "pubDate" | "updated" | "date")
    }
}

/// Returns the format of a file by its root element, before which there is no text.
pub(super) fn root(text: &str) -> Option<Format> {
    let mut reader = Reader::from_str(text);
    loop {
        match reader.read_event() {
            Ok(Event::Start(element) | Event::Empty(element)) => return Format::of(&local_name(&element)),
            Ok(Event::Text(text)) if !without_mark(&text).is_empty() => return None,
            Ok(Event::Eof) | Err(_) => return None,
            Ok(_) => {}
        }
    }
}

/// Reads the links of a file up to the first damage. Returns `None` for other documents.
pub(super) fn read(text: &str) -> Option<Feed> {
    let format = root(text)?;
    let mut feed = Feed::default();
    let mut alternates = Alternates::default();
    let mut entry = Entry::default();
    let mut path: Vec<String> = Vec::new();
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_end_names = false;
    loop {
        match reader.read_event() {
            Ok(Event::Start(element)) => {
                let name = local_name(&element);
                if path.len() >= MAX_DEPTH {
                    feed.is_cut = true;
                    break;
                }
                if format.is_entry(&name) {
                    entry = Entry::default();
                }
                entry.open(&element, &name, path.last());
                path.push(name);
            }
            Ok(Event::Empty(element)) => entry.open(&element, &local_name(&element), path.last()),
            Ok(Event::Text(text)) => entry.add(&text),
            Ok(Event::CData(text)) => entry.add(&text),
            Ok(Event::GeneralRef(name)) => match name.resolve_char_ref() {
                Ok(Some(character)) => entry.add(character.encode_utf8(&mut [0; 4])),
                Ok(None) | Err(_) => entry.add(resolve_predefined_entity(&name).unwrap_or_default()),
            },
            Ok(Event::End(_)) => {
                let Some(name) = path.pop() else { continue };
                let parent = path.last().map(String::as_str).unwrap_or_default();
                if format.is_target(&name) && format.is_entry(parent) {
                    let target = std::mem::take(&mut entry.text);
                    // Elements of the same name in other namespaces have their link in an attribute.
                    if !target.trim().is_empty() {
                        entry.target.get_or_insert(target);
                    }
                } else if Format::is_date(&name) && format.is_entry(parent) {
                    entry.date = dates::parse(&entry.text).or(entry.date);
                } else if format.is_entry(&name) {
                    std::mem::take(&mut entry).close(format, &mut feed, &mut alternates);
                }
                entry.text.clear();
            }
            Ok(Event::Eof) => break,
            Err(_) => {
                feed.is_cut = true;
                break;
            }
            Ok(_) => {}
        }
    }
    alternates.add_to(&mut feed);
    Some(feed)
}

/// Entry that is being read.
#[derive(Default)]
struct Entry {
    text: String,
    target: Option<String>,
    date: Option<model::Timestamp>,
    /// Versions in other languages.
    others: Vec<String>,
}

/// Maximum number of languages of an entry.
const MAX_OTHERS: usize = 100;

impl Entry {
    fn open(&mut self, element: &BytesStart, name: &str, parent: Option<&String>) {
        self.text.clear();
        if name != "link" {
            return;
        }
        let relation = attribute(element, "rel").unwrap_or_else(|| "alternate".to_owned());
        let Some(target) = attribute(element, "href").filter(|target| target.len() <= MAX_TEXT) else { return };
        match parent.map(String::as_str) {
            Some("entry") if relation == "alternate" => {
                self.target.get_or_insert(target);
            }
            Some("url") if relation == "alternate" && self.others.len() < MAX_OTHERS => self.others.push(target),
            Some(_) | None => {}
        }
    }

    fn add(&mut self, text: &str) {
        if self.text.len() + text.len() <= MAX_TEXT {
            self.text.push_str(text);
        }
    }

    fn close(self, format: Format, feed: &mut Feed, alternates: &mut Alternates) {
        let is_sitemap = format == Format::Index;
        // Dates of feed entries are those of publication, not of the last change.
        let modified_at = self.date.filter(|_| format != Format::Rss);
        if let Some(target) = self.target {
            feed.push(&target, modified_at, is_sitemap);
        }
        for target in &self.others {
            alternates.add(target);
        }
    }
}

fn local_name(element: &BytesStart) -> String {
    element.local_name().as_ref().chars().take(32).collect()
}

fn attribute(element: &BytesStart, name: &str) -> Option<String> {
    let found = element.attributes().with_checks(false).flatten().find(|found| found.key.as_ref() == name)?;
    let raw: &str = &found.value;
    Some(unescape(raw).map_or_else(|_| raw.to_owned(), |value| value.into_owned()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::FeedLink;
    use super::*;

    fn links(text: &str) -> Vec<(String, Option<i64>, bool)> {
        let feed = read(text).expect("a feed");
        let flat = |link: FeedLink| (link.target, link.modified_at.map(model::Timestamp::as_millis), link.is_sitemap);
        feed.links.into_iter().map(flat).collect()
    }

    #[test]
    fn url_sets_are_read_with_dates_and_languages() {
        let text = "<?xml version='1.0'?><!-- x --><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' \
                    xmlns:xhtml='http://www.w3.org/1999/xhtml' xmlns:image='x'>\
                    <url><loc> https://h/a?x=1&amp;y=2 </loc><lastmod>2024-03-01</lastmod><image:image>\
                    <image:loc>https://h/i.png</image:loc></image:image></url>\
                    <url><loc><![CDATA[https://h/b]]></loc><xhtml:link rel='alternate' hreflang='de' href='https://h/de'/></url>\
                    <url></url></urlset>";
        assert_eq!(
            links(text),
            [
                ("https://h/a?x=1&y=2".to_owned(), Some(1_709_251_200_000), false),
                ("https://h/b".to_owned(), None, false),
                ("https://h/de".to_owned(), None, false),
            ]
        );
    }

    #[test]
    fn indexes_lead_to_sitemaps() {
        let text = "<sitemapindex><sitemap><loc>https://h/1.xml</loc><lastmod>2024-03-01</lastmod></sitemap>\
                    <sitemap><loc>https://h/2.xml.gz</loc></sitemap></sitemapindex>";
        assert_eq!(
            links(text),
            [
                ("https://h/1.xml".to_owned(), Some(1_709_251_200_000), true),
                ("https://h/2.xml.gz".to_owned(), None, true),
            ]
        );
    }

    #[test]
    fn feeds_are_read() {
        let rss = "<rss version='2.0'><channel><link>https://h/</link><item><title>x</title><link>https://h/a</link>\
                   <pubDate>Fri, 01 Mar 2024 12:00:00 GMT</pubDate></item></channel></rss>";
        assert_eq!(links(rss), [("https://h/a".to_owned(), None, false)]);
        for other in ["<atom:link rel='x' href='https://h/b'></atom:link>", "<atom:link>https://h/b</atom:link>"] {
            let item = format!("<item><link>https://h/a</link>{other}</item>");
            let rss = format!("<rss xmlns:atom='http://www.w3.org/2005/Atom'><channel>{item}</channel></rss>");
            assert_eq!(links(&rss), [("https://h/a".to_owned(), None, false)]);
        }
        let rdf = "<rdf:RDF xmlns:rdf='r' xmlns='s'><channel/><item><link>https://h/a</link></item></rdf:RDF>";
        assert_eq!(links(rdf), [("https://h/a".to_owned(), None, false)]);
        let atom = "<feed xmlns='http://www.w3.org/2005/Atom'><link href='https://h/'/><entry>\
                    <link rel='self' href='https://h/x.atom'/><link href='https://h/a'/>\
                    <updated>2024-03-01T12:00:00Z</updated></entry></feed>";
        assert_eq!(links(atom), [("https://h/a".to_owned(), Some(1_709_294_400_000), false)]);
    }

    #[test]
    fn declared_entities_are_not_expanded() {
        let bomb = "<?xml version='1.0'?><!DOCTYPE urlset [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;'>\
                    <!ENTITY f SYSTEM 'file:///etc/passwd'>]><urlset><url><loc>https://h/&b;&f;</loc></url></urlset>";
        assert_eq!(links(bomb), [("https://h/".to_owned(), None, false)]);
    }

    #[test]
    fn damaged_files_keep_what_was_read() {
        let feed = read("<urlset><url><loc>https://h/a</loc></url><url><loc>https://h/b").expect("a feed");
        assert_eq!(feed.links.len(), 1);
        let deep = format!("<urlset>{}", "<a>".repeat(100_000));
        assert!(read(&deep).is_some_and(|feed| feed.is_cut));
        assert!(read("<html></html>").is_none() && read("<").is_none());
    }

    proptest! {
        #[test]
        fn no_file_panics(text in "<urlset>[<>/a-c&;'= !\\[\\]-]{0,60}") {
            let _ = read(&text);
        }
    }
}

//! Sitemaps (sitemaps.org) and feeds (RSS, Atom) as lists of links.

mod alternates;
mod dates;
mod text;
mod xml;

use std::io::Read;

use flate2::read::MultiGzDecoder;
use model::Timestamp;

/// Maximum number of links of a file (sitemaps.org). Further ones are counted.
pub const MAX_LINKS: usize = 50_000;
/// Maximum size of a file after decompression.
pub const MAX_BYTES: usize = 32 << 20;

/// Link of a sitemap or feed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FeedLink {
    /// As written.
    pub target: String,
    /// Time of the last change.
    pub modified_at: Option<Timestamp>,
    /// The target is another sitemap.
    pub is_sitemap: bool,
}

/// Content of a sitemap or feed.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Feed {
    pub links: Vec<FeedLink>,
    /// Links beyond the maximum.
    pub dropped: usize,
    /// True if the file is damaged, or longer than what was read.
    pub is_cut: bool,
}

impl Feed {
    /// Returns true if no link of the file was left out.
    pub fn is_complete(&self) -> bool {
        !self.is_cut && self.dropped == 0
    }

    fn push(&mut self, target: &str, modified_at: Option<Timestamp>, is_sitemap: bool) {
        let target = target.trim();
        if target.is_empty() {
            return;
        }
        if self.links.len() >= MAX_LINKS {
            self.dropped += 1;
            return;
        }
        self.links.push(FeedLink { target: target.to_owned(), modified_at, is_sitemap });
    }
}

/// Reads a sitemap or feed of any format, also compressed. Returns `None` if it is neither. A compressed text may be of any kind and
/// begin with a URL, so it is a sitemap only if all its lines are URLs.
pub fn read(bytes: &[u8]) -> Option<Feed> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        let head = &bytes[..bytes.len().min(MAX_BYTES)];
        return read_text(&String::from_utf8_lossy(head), bytes.len() > MAX_BYTES);
    }
    let mut unpacked = Vec::new();
    // One byte more tells if there is more.
    let outcome = MultiGzDecoder::new(bytes).take(MAX_BYTES as u64 + 1).read_to_end(&mut unpacked);
    let is_cut = outcome.is_err() || unpacked.len() > MAX_BYTES;
    unpacked.truncate(MAX_BYTES);
    let text = String::from_utf8_lossy(&unpacked);
    is_xml_or_list(&text, is_cut).then(|| read_text(&text, is_cut)).flatten()
}

/// Returns true if the document is a sitemap or feed in XML.
pub fn is_xml_feed(bytes: &[u8]) -> bool {
    const HEAD: usize = 4_096;
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD)]);
    let head = without_mark(&head);
    // Other texts may mention a root element.
    head.starts_with('<') && xml::root(head).is_some()
}

/// Returns true if the document is a sitemap of plain text: each line is a URL. Other texts may begin with one.
pub fn is_url_list(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| text::is_list(without_mark(text)))
}

/// Returns the text without a byte order mark and white space at its begin.
fn without_mark(text: &str) -> &str {
    text.trim_start_matches('\u{feff}').trim_start()
}

/// Returns true if a text may be XML, or each of its lines is a URL. The last line of a text that is cut does not count.
fn is_xml_or_list(text: &str, is_cut: bool) -> bool {
    let text = without_mark(text);
    let lines = if is_cut { text.rsplit_once('\n').map_or("", |(lines, _)| lines) } else { text };
    text.starts_with('<') || text::is_list(lines)
}

fn read_text(text: &str, is_cut: bool) -> Option<Feed> {
    let text = without_mark(text);
    let mut feed = if text.starts_with('<') { xml::read(text)? } else { text::read(text)? };
    feed.is_cut |= is_cut;
    Some(feed)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn targets(feed: &Feed) -> Vec<&str> {
        feed.links.iter().map(|link| link.target.as_str()).collect()
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).expect("memory");
        encoder.finish().expect("memory")
    }

    #[test]
    fn compressed_sitemaps_are_read() {
        let sitemap = b"<urlset><url><loc>https://h/a</loc></url></urlset>";
        assert_eq!(targets(&read(&gzip(sitemap)).expect("a sitemap")), ["https://h/a"]);
        let damaged = &gzip(sitemap)[..20];
        assert!(read(damaged).is_none_or(|feed| feed.is_cut));
    }

    #[test]
    fn decompression_bomb_is_cut() {
        let mut sitemap = b"<urlset><url><loc>https://h/a</loc></url><!--".to_vec();
        sitemap.resize(MAX_BYTES + (8 << 20), b' ');
        let feed = read(&gzip(&sitemap)).expect("a sitemap");
        assert!(feed.is_cut);
        assert_eq!(targets(&feed), ["https://h/a"]);
    }

    #[test]
    fn lists_of_urls_are_read_and_other_text_is_not() {
        let feed = read(b"\xef\xbb\xbfhttps://h/a\r\nhttps://h/b\n\nno url\nftp://h/c\n").expect("a list");
        assert_eq!(targets(&feed), ["https://h/a", "https://h/b"]);
        assert_eq!(read(b"a text\nhttps://h/a"), None);
        assert_eq!(read(b""), None);
        assert_eq!(read(b"<html><a href=x></html>"), None);
    }

    #[test]
    fn compressed_text_is_read_if_all_its_lines_are_urls() {
        let feed = read(&gzip(b"\xef\xbb\xbfhttps://h/a\r\n\nhttps://h/\xe4\n")).expect("a list");
        assert_eq!(targets(&feed), ["https://h/a", "https://h/\u{fffd}"]);
        for text in ["https://h/a\nSee also the other pages.\n", "https://h/a is the first page", "", "dump"] {
            assert_eq!(read(&gzip(text.as_bytes())), None, "{text}");
        }
    }

    #[test]
    fn compressed_list_is_read_up_to_the_line_that_is_cut() {
        // The last line is cut after "https".
        let list = format!("\n\n\n{}", "https://h/a\n".repeat(MAX_BYTES / 12 + 100));
        assert!(list[..MAX_BYTES].ends_with("\nhttps"));
        let feed = read(&gzip(list.as_bytes())).expect("a list");
        assert!(feed.is_cut);
        assert_eq!(feed.links.len(), MAX_LINKS);
    }

    #[test]
    fn text_is_a_list_if_all_its_lines_are_urls() {
        for (text, expected) in [
            ("https://h/a", true),
            ("\u{feff}https://h/a\r\n\r\n http://h/b \n", true),
            ("https://h/a\nSee also the other pages.", false),
            ("https://h/a is the first page", false),
            ("ftp://h/a", false),
            ("/a", false),
            (" \n", false),
            ("", false),
        ] {
            assert_eq!(is_url_list(text.as_bytes()), expected, "{text:?}");
        }
        assert!(!is_url_list(b"https://h/\xff"));
    }

    #[test]
    fn text_that_mentions_a_feed_is_none() {
        for feed in ["<urlset>", "\u{feff}\r\n<?xml version='1.0'?>\n<!-- x -->\n<rss version='2.0'>", " <feed/>"] {
            assert!(is_xml_feed(feed.as_bytes()), "{feed}");
        }
        for page in [
            "# Sitemaps\n\nA sitemap begins with `<urlset>`.",
            "<!-- draft -->\n# Sitemaps\n\nA sitemap begins with `<urlset>`.",
            "<p>A feed begins with <rss>",
            "",
        ] {
            assert!(!is_xml_feed(page.as_bytes()), "{page}");
        }
    }

    #[test]
    fn million_lines_are_bounded() {
        let feed = read("https://h/a\n".repeat(1_000_000).as_bytes()).expect("a list");
        assert_eq!((feed.links.len(), feed.dropped), (MAX_LINKS, 950_000));
    }
}

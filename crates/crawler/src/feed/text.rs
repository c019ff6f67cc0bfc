//! Sitemaps that are lists of URLs.

use super::Feed;

/// Longer lines are no URLs.
const MAX_LINE: usize = 8_192;

/// Reads one URL per line. Returns `None` unless the first line is one.
pub(super) fn read(text: &str) -> Option<Feed> {
    let mut feed = Feed::default();
    for line in lines(text) {
        if is_url(line) {
            feed.push(line, None, false);
        } else if feed.links.is_empty() {
            return None;
        }
    }
    (!feed.links.is_empty()).then_some(feed)
}

/// Returns true if the text has lines and all of them are URLs.
pub(super) fn is_list(text: &str) -> bool {
    lines(text).next().is_some() && lines(text).all(is_url)
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

fn is_url(line: &str) -> bool {
    line.len() <= MAX_LINE
        && (line.starts_with("http://") || line.starts_with("https://"))
        && !line.contains(char::is_whitespace)
}

//! Sitemaps that are lists of URLs.

use super::Feed;

/// Longer lines are no URLs.
const MAX_LINE: usize = 8_192;

/// Reads one URL per line. Returns `None` unless the first line is one.
pub(super) fn read(text: &str) -> Option<Feed> {
    let mut feed = Feed::default();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let is_url = line.len() <= MAX_LINE && (line.starts_with("http://") || line.starts_with("https://"));
        if is_url && !line.contains(char::is_whitespace) {
            feed.push(line, None, false);
        } else if feed.links.is_empty() {
            return None;
        }
    }
    (!feed.links.is_empty()).then_some(feed)
}

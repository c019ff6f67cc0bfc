//! Versions of listed pages in other languages (`xhtml:link rel=alternate`).

use std::collections::HashMap;

use super::{Feed, MAX_LINKS};

/// Versions that a sitemap names besides its pages. Every page names the whole group that it belongs to, so most of them are named many
/// times, and are pages of the sitemap as well.
#[derive(Default)]
pub(super) struct Alternates {
    /// Targets with their places in the order of the file.
    places: HashMap<String, usize>,
    /// Targets beyond the maximum, each as often as the file names it.
    dropped: usize,
}

impl Alternates {
    pub fn add(&mut self, target: &str) {
        let target = target.trim();
        if target.is_empty() || self.places.contains_key(target) {
            return;
        }
        let place = self.places.len();
        if place >= MAX_LINKS {
            self.dropped += 1;
            return;
        }
        self.places.insert(target.to_owned(), place);
    }

    /// Adds those that are no pages of the sitemap behind its pages, which have the first claim to its links.
    pub fn add_to(mut self, feed: &mut Feed) {
        for link in &feed.links {
            self.places.remove(&link.target);
        }
        let mut targets: Vec<(String, usize)> = self.places.into_iter().collect();
        targets.sort_unstable_by_key(|(_, place)| *place);
        for (target, _) in targets {
            feed.push(&target, None, false);
        }
        feed.dropped += self.dropped;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Feed, MAX_LINKS, read};

    /// Sitemap of pages, each with the versions that `alternates` returns.
    fn sitemap(pages: usize, alternates: impl Fn(usize) -> Vec<String>) -> Feed {
        let link = |target: String| format!("<xhtml:link rel='alternate' hreflang='x' href='{target}'/>");
        let entry = |number: usize| {
            let links: String = alternates(number).into_iter().map(link).collect();
            format!("<url><loc>https://h/{number}</loc>{links}</url>")
        };
        let entries: String = (0..pages).map(entry).collect();
        read(format!("<urlset>{entries}</urlset>").as_bytes()).expect("a sitemap")
    }

    fn page(number: usize) -> String {
        format!("https://h/{number}")
    }

    #[test]
    fn groups_of_versions_count_once() {
        let group = |number: usize| (0..10).map(|version| page(number / 10 * 10 + version)).collect();
        let feed = sitemap(8_000, group);
        let targets: Vec<String> = feed.links.into_iter().map(|link| link.target).collect();
        assert_eq!((targets, feed.dropped, feed.is_cut), ((0..8_000).map(page).collect(), 0, false));
    }

    #[test]
    fn versions_leave_room_for_all_pages() {
        let elsewhere = |number: usize| vec![format!("https://h/de/{number}")];
        let feed = sitemap(MAX_LINKS, elsewhere);
        assert!(feed.links.iter().map(|link| &link.target).eq(&(0..MAX_LINKS).map(page).collect::<Vec<_>>()));
        assert_eq!((feed.dropped, feed.is_cut), (MAX_LINKS, false));
        let feed = sitemap(10, |_| (0..90).map(|version| format!("https://h/v/{version}")).collect());
        assert_eq!((feed.links.len(), feed.dropped), (100, 0));
        assert_eq!(feed.links.last().map(|link| link.target.as_str()), Some("https://h/v/89"));
    }

    #[test]
    fn versions_are_bounded() {
        let many = |number: usize| (0..100).map(|version| format!("https://h/{number}/{version}")).collect();
        let feed = sitemap(1_000, many);
        assert_eq!((feed.links.len(), feed.dropped), (MAX_LINKS, 101_000 - MAX_LINKS));
    }
}

//! Links of a visit that join the frontier, and those that do not, with their reasons.

use std::collections::BTreeMap;

use docstore::{CrawlUrl, NewCrawlUrl, SkippedLinks};
use model::{CrawlUrlKind, Timestamp};
use tokio::sync::OwnedSemaphorePermit;

use crate::address::Address;
use crate::plan::{Plan, Sitemaps};
use crate::scope::{Outside, Scope};
use crate::traps::{self, Trap};

/// Depth of sitemaps in sitemaps. An index of indexes is not part of the protocol, but occurs.
const MAX_SITEMAP_DEPTH: i32 = 3;
/// Redirects in a row, by what each adds to the chain.
const MAX_REDIRECTS: i32 = 10;
const REDIRECT_CHAIN: i32 = 10_000;

/// Links from a seed to any page. Sites that lead on and on by pages of different shapes end here.
const MAX_DEPTH: i32 = 2_000;

/// Places in the order of first visits: sitemaps, then pages by depth.
const SITEMAP_PRIORITY: i32 = 0;
const PAGE_PRIORITY: i32 = 10;

/// Collector of the links of one visit.
pub struct Outlinks<'a> {
    plan: &'a Plan,
    scope: &'a Scope,
    from: &'a CrawlUrl,
    shape: String,
    found: Vec<NewCrawlUrl>,
    skipped: BTreeMap<&'static str, (i64, String)>,
    /// Turn of the feed whose links these are, if they are of one.
    pub turn: Option<OwnedSemaphorePermit>,
}

impl<'a> Outlinks<'a> {
    pub fn new(plan: &'a Plan, scope: &'a Scope, from: &'a CrawlUrl) -> Self {
        let shape = Address::parse(&from.url).map(|address| address.shape()).unwrap_or_default();
        Self { plan, scope, from, shape, found: Vec::new(), skipped: BTreeMap::new(), turn: None }
    }

    /// Adds a link of a page.
    pub fn add_link(&mut self, address: &Address) {
        let depth = self.from.depth.saturating_add(1);
        if self.plan.depth.is_some_and(|limit| i64::from(depth) > i64::from(limit)) {
            return self.skip("depth", &address.url);
        }
        if depth > MAX_DEPTH {
            return self.skip(Trap::EndlessChain.as_str(), &address.url);
        }
        let chain = if address.shape() == self.shape { self.from.chain % REDIRECT_CHAIN + 1 } else { 0 };
        self.add_page(address, depth, chain, address.path_key());
    }

    /// Adds the page that `rel=canonical` names, in place of the page itself. Returns false if it is not visited. It does not count
    /// for its path: each page names one, which is bounded like redirects.
    pub fn add_instead(&mut self, address: &Address) -> bool {
        let Some(chain) = self.next_in_chain(address) else { return false };
        let before = self.found.len();
        self.add_page(address, self.from.depth, chain, None);
        let is_added = self.found.len() > before;
        if is_added {
            // Of several links to one URL the first counts, and a page often links to its canonical URL.
            self.found.rotate_right(1);
        }
        is_added
    }

    /// Adds the target of a redirect in place of the page or sitemap itself. Returns false if it is not visited.
    pub fn add_target(&mut self, address: &Address) -> bool {
        let is_sitemap = self.from.kind == CrawlUrlKind::Sitemap;
        if !is_sitemap && self.from.depth > 0 {
            return self.add_instead(address);
        }
        let Some(chain) = self.next_in_chain(address) else { return false };
        if address.had_session {
            self.skip("session_id_removed", &address.url);
        }
        // Seeds and sitemaps are visited for their links, whatever is listed.
        let outside = self.scope.refuses_visit(address).map(Outside::as_str);
        if let Some(reason) = outside.or_else(|| traps::find(address, 0).map(Trap::as_str)) {
            self.skip(reason, &address.url);
            return false;
        }
        let depth = self.from.depth;
        // A site may lead from a sitemap that it does not have to any page, which must stay one if it can be listed.
        if is_sitemap && (names_sitemap(address) || self.scope.refuses_page(address).is_some()) {
            self.push(address, CrawlUrlKind::Sitemap, depth, SITEMAP_PRIORITY, chain, None, None);
        } else {
            self.push(address, CrawlUrlKind::Page, depth, page_priority(depth), chain, None, None);
        }
        true
    }

    /// Returns the chain of a page that takes the place of this one, unless it is too long.
    fn next_in_chain(&mut self, address: &Address) -> Option<i32> {
        let chain = self.from.chain + REDIRECT_CHAIN;
        if chain / REDIRECT_CHAIN > MAX_REDIRECTS {
            self.skip("too_many_redirects", &address.url);
            return None;
        }
        Some(chain)
    }

    /// Adds a page of a sitemap. The site vouches for it, so it is no trap unless its URL is too long.
    pub fn add_listed(&mut self, address: &Address, modified_at: Option<Timestamp>) {
        let depth = self.from.depth.max(1);
        if self.plan.depth == Some(0) && self.plan.sitemaps != Sitemaps::Only {
            return self.skip("depth", &address.url);
        }
        if self.accepts(address, traps::find_listed(address)) {
            self.push(address, CrawlUrlKind::Page, depth, page_priority(depth), 0, None, modified_at);
        }
    }

    /// Adds a sitemap or feed.
    pub fn add_sitemap(&mut self, address: &Address, modified_at: Option<Timestamp>) {
        let depth = if self.from.kind == CrawlUrlKind::Sitemap { self.from.depth + 1 } else { 0 };
        if depth > MAX_SITEMAP_DEPTH {
            return self.skip("sitemap_too_deep", &address.url);
        }
        if let Some(outside) = self.scope.refuses_visit(address) {
            return self.skip(outside.as_str(), &address.url);
        }
        self.push(address, CrawlUrlKind::Sitemap, depth, SITEMAP_PRIORITY, 0, None, modified_at);
    }

    fn add_page(&mut self, address: &Address, depth: i32, chain: i32, path_key: Option<i64>) {
        if self.accepts(address, traps::find(address, chain % REDIRECT_CHAIN)) {
            self.push(address, CrawlUrlKind::Page, depth, page_priority(depth), chain, path_key, None);
        }
    }

    /// Returns true if a page that belongs to this trap, or to none, is to be visited. Counts it otherwise.
    fn accepts(&mut self, address: &Address, trap: Option<Trap>) -> bool {
        if address.had_session {
            self.skip("session_id_removed", &address.url);
        }
        // A page that is not listed may lead to pages that are, but only seeds are worth a visit for that.
        let outside = self.scope.refuses_page(address).map(Outside::as_str);
        let reason = outside.or(trap.map(Trap::as_str));
        if let Some(reason) = reason {
            self.skip(reason, &address.url);
        }
        reason.is_none()
    }

    #[expect(clippy::too_many_arguments, reason = "the columns of a row")]
    fn push(
        &mut self,
        address: &Address,
        kind: CrawlUrlKind,
        depth: i32,
        priority: i32,
        chain: i32,
        path_key: Option<i64>,
        modified_at: Option<Timestamp>,
    ) {
        self.found.push(NewCrawlUrl {
            url_id: address.doc_id(),
            url: address.url.clone(),
            host: address.host.clone(),
            kind,
            depth,
            priority,
            chain,
            path_key,
            modified_at,
            is_seed: false,
        });
    }

    /// Counts a link that is not followed.
    pub fn skip(&mut self, reason: &'static str, url: &str) {
        self.skip_many(reason, 1, url);
    }

    pub fn skip_many(&mut self, reason: &'static str, count: usize, url: &str) {
        if count > 0 {
            let entry = self.skipped.entry(reason).or_insert_with(|| (0, url.to_owned()));
            entry.0 += i64::try_from(count).unwrap_or(i64::MAX);
        }
    }

    /// Returns the links that join the frontier, those that do not, and the turn of the feed.
    pub fn finish(self) -> (Vec<NewCrawlUrl>, Vec<SkippedLinks>, Option<OwnedSemaphorePermit>) {
        let skipped = self.skipped.into_iter();
        let links = |(reason, (count, example)): (&str, _)| SkippedLinks { reason: reason.to_owned(), count, example };
        (self.found, skipped.map(links).collect(), self.turn)
    }
}

fn page_priority(depth: i32) -> i32 {
    PAGE_PRIORITY.saturating_add(depth.min(1_000_000))
}

/// Returns true if the path ends as those of sitemaps do. The name of a packed file may say that it holds something else, as
/// `.tar.gz` does.
fn names_sitemap(address: &Address) -> bool {
    const PACKED: [&str; 4] = ["xml", "txt", "rss", "atom"];
    let name = address.path().rsplit('/').next().unwrap_or_default();
    match name.strip_suffix(".gz") {
        Some(packed) => {
            packed.contains("sitemap") || packed.rsplit_once('.').is_none_or(|(_, kind)| PACKED.contains(&kind))
        }
        None => name.ends_with(".xml"),
    }
}

/// Returns the frontier's entry of a seed.
pub fn seed(address: &Address) -> NewCrawlUrl {
    let is_sitemap = names_sitemap(address);
    NewCrawlUrl {
        url_id: address.doc_id(),
        url: address.url.clone(),
        host: address.host.clone(),
        kind: if is_sitemap { CrawlUrlKind::Sitemap } else { CrawlUrlKind::Page },
        depth: 0,
        priority: if is_sitemap { SITEMAP_PRIORITY } else { PAGE_PRIORITY },
        chain: 0,
        path_key: None,
        modified_at: None,
        is_seed: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_sitemaps_by_their_names() {
        for (path, expected) in [
            ("/sitemap.xml", true),
            ("/sitemap.xml.gz", true),
            ("/sitemap-2024.05.gz", true),
            ("/urls.txt.gz?v=1.2", true),
            ("/feed.rss.gz", true),
            ("/v1.2/urls.gz", true),
            ("/dump.tar.gz", false),
            ("/data.csv.gz", false),
            ("/tool-1.2.gz", false),
            ("/sitemap/dump.tar.gz", false),
            ("/sitemap.txt", false),
            ("/archive.gz/about", false),
            ("/", false),
        ] {
            let address = Address::parse(&format!("https://h.test{path}")).expect("a URL");
            let expected = if expected { CrawlUrlKind::Sitemap } else { CrawlUrlKind::Page };
            assert_eq!(seed(&address).kind, expected, "{path}");
        }
    }
}

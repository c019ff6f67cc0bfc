//! Statements of a page about itself, and its links.

use fetcher::FetchedPage;
use tokio::task::coop::consume_budget;
use url::Url;

use crate::address::Address;
use crate::directives::Directives;
use crate::html::{self, PageSignals};
use crate::outlinks::Outlinks;
use crate::plan::{Plan, Sitemaps};

/// Maximum size of HTML that is read.
const MAX_HTML: usize = 8 << 20;

pub struct Signs {
    pub directives: Directives,
    /// Page that is visited in place of this one.
    pub canonical: Option<Address>,
    pub title: Option<String>,
    /// Page that it names as canonical, until that is decided.
    named: Option<Address>,
}

impl Signs {
    /// Creates the signs of the headers of a response.
    pub fn new(directives: Directives, named: Option<Address>) -> Self {
        Self { directives, canonical: None, title: None, named }
    }

    /// Adds those of the HTML, and its links to `outlinks`. Returns the target of a refresh instead.
    pub async fn read(
        &mut self,
        page: &FetchedPage,
        token: &str,
        address: &Address,
        plan: &Plan,
        outlinks: &mut Outlinks<'_>,
    ) -> Option<Address> {
        let signals = signals(page, token).await;
        self.directives.noindex |= signals.directives.noindex;
        self.directives.nofollow |= signals.directives.nofollow;
        let base = signals.base.as_deref().and_then(|base| page.final_url.join(base).ok());
        let base = base.unwrap_or_else(|| page.final_url.clone());
        let refresh = signals.refresh.as_deref().and_then(|target| Address::resolve(target, &base));
        if let Some(target) = refresh.filter(|target| !address.is_target_of(target)) {
            return Some(target);
        }
        let named = || signals.canonical.as_deref().and_then(|link| Address::resolve(link, &base));
        self.named = self.named.take().or_else(named);
        follow(&signals, &base, self.directives.nofollow, plan, outlinks).await;
        self.title = signals.title.or(self.title.take());
        None
    }

    /// Adds the page that is named as canonical, if it is another one and can be visited.
    pub fn settle_canonical(&mut self, address: &Address, outlinks: &mut Outlinks<'_>) {
        if self.canonical.is_none() {
            let named = self.named.take();
            self.canonical = named.filter(|named| !address.is_target_of(named) && outlinks.add_instead(named));
        }
    }
}

async fn signals(page: &FetchedPage, token: &str) -> PageSignals {
    let (bytes, charset, token) = (page.body.clone(), page.charset.clone(), token.to_owned());
    let reading = tokio::task::spawn_blocking(move || {
        // Binary data has no signals.
        let text = extract::decode_html(&bytes[..bytes.len().min(MAX_HTML)], charset.as_deref());
        html::read(&text.unwrap_or_default(), &token)
    });
    reading.await.unwrap_or_default()
}

/// Adds the links of a page.
async fn follow(signals: &PageSignals, base: &Url, nofollow: bool, plan: &Plan, outlinks: &mut Outlinks<'_>) {
    if plan.sitemaps != Sitemaps::Off {
        let feeds = signals.feeds.iter().filter_map(|link| Address::resolve(link, base));
        feeds.for_each(|address| outlinks.add_sitemap(&address, None));
    }
    if plan.sitemaps == Sitemaps::Only {
        return;
    }
    outlinks.skip_many("too_many_links", signals.dropped, base.as_str());
    let links = signals.links.iter().map(|link| (link.nofollow, link.target.as_str()));
    let translations = signals.translations.iter().map(|target| (false, target.as_str()));
    for (link_nofollow, target) in links.chain(translations) {
        // Yields from time to time, since thousands of links take many milliseconds.
        consume_budget().await;
        let Some(address) = Address::resolve(target, base) else { continue };
        if nofollow || link_nofollow {
            outlinks.skip("nofollow", &address.url);
        } else {
            outlinks.add_link(&address);
        }
    }
}

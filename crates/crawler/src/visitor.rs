//! Visit of one URL: request, reading, outcome.

use std::sync::Arc;
use std::time::Duration;

use docstore::{CrawlUrl, NewCrawlUrl, NextVisit, PageChange, SkippedLinks};
use extract::Extracted;
use extract_worker::{Extractor, WorkError};
use fetcher::{Accept, FetchError, FetchedPage, Fetcher, HostRules, Validators, Visit, VisitBody, VisitRequest};
use file_types::FileKind;
use ingest::scripted::{RenderTurn, Rendering, Scripted, Scripts, needs_scripts};
use model::{CrawlUrlKind, CrawlUrlState, DocId, OrganizationId, Timestamp};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::coop::consume_budget;
use url::Url;

use crate::address::Address;
use crate::directives::Directives;
use crate::outcome::{FEED, Reading, Trouble, next_visit, settle, trouble_with};
use crate::outlinks::Outlinks;
use crate::pace::{MAX_WAIT, Pace};
use crate::plan::{Plan, Sitemaps};
use crate::scope::Scope;
use crate::signs::Signs;
use crate::{document, feed, link_header, soft_404};

/// Sitemaps and feeds that are read at a time, until their links are stored: each may take the memory of many pages.
const FEEDS_AT_A_TIME: usize = 2;
/// Redirects to other spellings of a URL that one visit follows: one for the spelling, and one for a parameter.
const MAX_SPELLINGS: usize = 2;

/// Plan of a crawl with its scope.
pub struct Context {
    /// Settings that the plan was read from; `None` if visits hold under other plans too.
    pub settings: Option<String>,
    pub plan: Plan,
    pub scope: Scope,
}

/// Visitor of URLs.
pub struct Visitor {
    pub fetcher: Fetcher,
    pub extractor: Arc<dyn Extractor>,
    pub scripted: Scripted,
    /// Name of this crawler in robots.txt and directives.
    pub token: String,
    feeds: Arc<Semaphore>,
}

/// Content of a page in the index before its visit.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// The page is in the index, whoever listed it.
    pub is_listed: bool,
    /// The stored content is the one that the validators belong to.
    pub is_current: bool,
}

/// Outcome of a visit.
pub struct Outcome {
    pub url: CrawlUrl,
    pub change: PageChange,
    pub canonical: Option<DocId>,
    pub next_if_unchanged: NextVisit,
    pub links: Vec<NewCrawlUrl>,
    pub skipped: Vec<SkippedLinks>,
    /// Turn of a feed, to be kept until the links are stored.
    pub turn: Option<OwnedSemaphorePermit>,
    /// Time to leave the host alone.
    pub pause: Duration,
    /// The host, or its robots.txt, cannot be reached.
    pub is_unreachable: bool,
}

impl Visitor {
    pub fn new(fetcher: Fetcher, extractor: Arc<dyn Extractor>, scripted: Scripted, token: String) -> Self {
        Self { fetcher, extractor, scripted, token, feeds: Arc::new(Semaphore::new(FEEDS_AT_A_TIME)) }
    }

    /// Visits a URL.
    pub async fn visit(
        &self,
        context: &Context,
        before: &CrawlUrl,
        known: Known,
        pace: &mut Pace,
        now: Timestamp,
    ) -> Outcome {
        let mut outlinks = Outlinks::new(&context.plan, &context.scope, before);
        let outcome = self.read(context, before, known, pace, &mut outlinks, now).await;
        let (links, skipped, turn) = outlinks.finish();
        let mut url = CrawlUrl { fetched_at: Some(now), ..before.clone() };
        url.visits = url.visits.saturating_add(1);
        let every = context.plan.every();
        let next_if_unchanged = next_visit(before, every, false, now);
        let (change, canonical, pause, is_unreachable) = match outcome {
            Ok(reading) => {
                // The delay after the last request is over.
                let pause = if reading.is_requested { pace.delay() } else { Duration::ZERO };
                let (change, canonical) = settle(&mut url, before, reading, every, now);
                (change, canonical, pause, false)
            }
            Err(trouble) => trouble_with(&mut url, before, known.is_listed, &trouble, every, pace, now),
        };
        Outcome { url, change, canonical, next_if_unchanged, links, skipped, turn, pause, is_unreachable }
    }

    async fn read(
        &self,
        context: &Context,
        url: &CrawlUrl,
        known: Known,
        pace: &mut Pace,
        outlinks: &mut Outlinks<'_>,
        now: Timestamp,
    ) -> Result<Reading, Trouble> {
        // Links have no session id, but seeds, pages of sitemaps and imported pages may have one.
        let address = Address::exact(&url.url).map_err(|_| FetchError::InvalidUrl { reason: "is malformed" })?;
        // The URL may be known from former settings. Seeds and what they redirect to are visited for their links.
        if url.kind == CrawlUrlKind::Page
            && url.depth > 0
            && let Some(outside) = context.scope.refuses_page(&address)
        {
            return Ok(Reading::refused(outside.as_str()));
        }
        let rules = self.fetcher.robots(&url.url).await?;
        pace.crawl_delay = rules.crawl_delay;
        if rules.is_fresh {
            if rules.is_truncated {
                outlinks.skip("robots_too_long", &url.url);
            }
            if rules.allows {
                // The file was a request like any other.
                tokio::time::sleep(pace.delay()).await;
            }
        }
        if url.depth == 0 && url.kind == CrawlUrlKind::Page && context.plan.sitemaps != Sitemaps::Off {
            add_sitemaps(&rules, &address, outlinks);
        }
        if !rules.allows {
            // The file may have been requested just now.
            return Ok(Reading { is_requested: rules.is_fresh, ..Reading::skipped("robots") });
        }
        let is_feed = url.kind == CrawlUrlKind::Sitemap;
        if is_feed {
            self.wait_for_turn(outlinks).await;
        }
        let request = VisitRequest {
            url: url.url.clone(),
            validators: validators(url).filter(|_| known.is_current),
            accept: if is_feed { Accept::Data } else { Accept::Pages },
        };
        let Visit { body, robots_tags, links, .. } = match self.request(&address, request, pace).await {
            Ok(visit) => visit,
            // The rules allow the URL, but not the spelling that it redirects to.
            Err(FetchError::Robots) => return Ok(Reading::skipped("robots")),
            Err(error) => return Err(error.into()),
        };
        let mut directives = Directives::default();
        robots_tags.iter().for_each(|value| directives.add_header(value, &self.token));
        match body {
            // The header is of this response, not of the copy.
            VisitBody::NotModified if directives.noindex && !is_feed => Ok(Reading::skipped("noindex")),
            VisitBody::NotModified => Ok(Reading {
                change: PageChange::Confirm,
                validators: validators(url),
                digest: url.content_digest.clone(),
                ..Reading::of(url.state, None)
            }),
            VisitBody::Redirect { target, is_permanent } => redirect(&address, target.as_str(), is_permanent, outlinks),
            VisitBody::Data { bytes, is_truncated, validators } => {
                let base = Url::parse(&url.url).ok();
                let read = tokio::task::spawn_blocking(move || feed::read(&bytes)).await.ok().flatten();
                let Some(mut feed) = read else { return Err(Trouble::Useless("not_a_sitemap")) };
                feed.is_cut |= is_truncated;
                // What was left out is read again, since the limits may be raised.
                let validators = validators.filter(|_| feed.is_complete());
                add_feed(feed, base.as_ref(), &url.url, outlinks).await;
                Ok(Reading { validators, change: PageChange::Keep, ..Reading::of(CrawlUrlState::Listed, None) })
            }
            VisitBody::Page(page) => {
                let canonical = link_header::canonical(&links);
                self.read_page(context, url, known, &address, *page, (directives, canonical), outlinks, now).await
            }
        }
    }

    /// Requests a page or list. Follows redirects to other spellings of its own URL, which are no other URL of the frontier, unless the
    /// host has a longer delay than is waited for in a visit.
    async fn request(
        &self,
        address: &Address,
        mut request: VisitRequest,
        pace: &mut Pace,
    ) -> Result<Visit, FetchError> {
        let mut followed = 0;
        loop {
            let visit = self.fetcher.visit(&request).await?;
            pace.is_public = visit.is_public;
            pace.responded(visit.response_time);
            if let VisitBody::Redirect { target, .. } = &visit.body
                && followed < MAX_SPELLINGS
                && pace.delay() <= MAX_WAIT
                && address.is_named_by(target.as_str())
            {
                request.url = target.to_string();
            } else {
                return Ok(visit);
            }
            followed += 1;
            tokio::time::sleep(pace.delay()).await;
        }
    }

    /// Waits for the turn of a feed, which bounds the memory of feeds and of their links.
    async fn wait_for_turn(&self, outlinks: &mut Outlinks<'_>) {
        // A visit that waited for a second turn would not give up its first one.
        if outlinks.turn.is_none() {
            outlinks.turn = Arc::clone(&self.feeds).acquire_owned().await.ok();
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a response")]
    async fn read_page(
        &self,
        context: &Context,
        url: &CrawlUrl,
        known: Known,
        address: &Address,
        page: FetchedPage,
        (directives, canonical): (Directives, Option<String>),
        outlinks: &mut Outlinks<'_>,
        now: Timestamp,
    ) -> Result<Reading, Trouble> {
        let is_seed = url.depth == 0;
        // A text is a document of its own unless the operator gave it.
        let is_list = is_seed && page.kind == FileKind::Txt && is_url_list(&page).await;
        if is_list || (page.kind != FileKind::Pdf && feed::is_xml_feed(&page.body)) {
            if is_seed || context.plan.sitemaps != Sitemaps::Off {
                self.wait_for_turn(outlinks).await;
                let bytes = page.body.clone();
                let read = tokio::task::spawn_blocking(move || feed::read(&bytes)).await.ok().flatten();
                add_feed(read.unwrap_or_default(), Some(&page.final_url), &url.url, outlinks).await;
            }
            return Ok(Reading::skipped(FEED));
        }
        let named = canonical.and_then(|link| Address::resolve(&link, &page.final_url));
        let mut signs = Signs::new(directives, named);
        if let Some(ended) = self.read_signs(&mut signs, context, address, &page, outlinks).await? {
            return Ok(ended);
        }
        let mut page = page;
        let mut extracted = self.extract(&page).await?;
        match self.run_scripts(&page, &extracted).await? {
            Scripts::NotNeeded => {}
            Scripts::Wrote(written) => {
                (page, extracted) = *written;
                if let Some(ended) = self.read_signs(&mut signs, context, address, &page, outlinks).await? {
                    return Ok(ended);
                }
            }
            // What the page says without its scripts must not replace what they wrote.
            Scripts::Failed if known.is_listed => return Err(Trouble::Useless("not_rendered")),
            Scripts::Failed => {}
        }
        if needs_scripts(&page, &extracted.markdown) {
            page.validators = None;
        }
        let Signs { canonical, title, .. } = signs;
        if extracted.markdown.trim().is_empty() {
            // A page that had a text may be empty because of a failure elsewhere.
            let was_listed = url.state == CrawlUrlState::Listed;
            return if was_listed { Err(Trouble::Useless("no_text")) } else { Ok(Reading::skipped("no_text")) };
        }
        if soft_404::is_missing(title.as_deref().or(extracted.title.as_deref()), &extracted.markdown) {
            return Err(Trouble::Missing("soft_404".to_owned()));
        }
        let (address, validators) = (address.clone(), page.validators.clone());
        let preparing = tokio::task::spawn_blocking(move || document::prepare(&address, &page, extracted, now));
        let Ok(new) = preparing.await else { return Err(Trouble::Useless("crashed")) };
        Ok(Reading {
            digest: Some(new.capture.content_digest.clone()),
            change: PageChange::Save(Box::new(new)),
            canonical: canonical.map(|canonical| canonical.doc_id()),
            validators,
            ..Reading::of(CrawlUrlState::Listed, None)
        })
    }

    /// Reads what a page says about itself, and its links. Returns the outcome if it is not to be listed.
    async fn read_signs(
        &self,
        signs: &mut Signs,
        context: &Context,
        address: &Address,
        page: &FetchedPage,
        outlinks: &mut Outlinks<'_>,
    ) -> Result<Option<Reading>, Trouble> {
        if page.kind == FileKind::Html
            && let Some(target) = signs.read(page, &self.token, address, &context.plan, outlinks).await
        {
            // A refresh does not say for how long it holds.
            return redirect(address, &target.url, false, outlinks).map(Some);
        }
        if signs.directives.noindex {
            return Ok(Some(Reading::skipped("noindex")));
        }
        if let Some(outside) = context.scope.refuses_page(address) {
            return Ok(Some(Reading::skipped(outside.as_str())));
        }
        signs.settle_canonical(address, outlinks);
        Ok(None)
    }

    async fn extract(&self, page: &FetchedPage) -> Result<Extracted, Trouble> {
        match document::extract(self.extractor.as_ref(), page).await {
            Ok(extracted) => Ok(extracted),
            Err(WorkError::Document(error)) => Err(Trouble::Useless(error.kind.as_str())),
            Err(WorkError::Overloaded { .. } | WorkError::Postponed | WorkError::Unavailable(_)) => {
                Err(Trouble::Unread)
            }
        }
    }

    /// Runs the scripts of a page that has hardly any text without them.
    async fn run_scripts(&self, page: &FetchedPage, extracted: &Extracted) -> Result<Scripts, Trouble> {
        let turn = RenderTurn { organization_id: OrganizationId::NOBODY, is_patient: true };
        let rendering = self.scripted.render(turn, page, &extracted.markdown).await;
        let rendered = match rendering.map_err(|_| Trouble::Unread)? {
            Rendering::NotNeeded => return Ok(Scripts::NotNeeded),
            Rendering::Failed => return Ok(Scripts::Failed),
            Rendering::Rendered(rendered) => rendered,
        };
        let written = match self.extract(&rendered).await {
            Ok(written) => Some(written),
            Err(Trouble::Unread) => return Err(Trouble::Unread),
            Err(_) => None,
        };
        Ok(Scripts::compare(*rendered, written, &extracted.markdown))
    }
}

/// Adds the sitemaps of robots.txt, or the usual one.
fn add_sitemaps(rules: &HostRules, address: &Address, outlinks: &mut Outlinks) {
    let Ok(base) = Url::parse(&address.url) else { return };
    let usual = ["/sitemap.xml".to_owned()];
    let named = if rules.sitemaps.is_empty() { &usual[..] } else { &rules.sitemaps };
    for sitemap in named.iter().filter_map(|link| Address::resolve_exact(link, &base)) {
        outlinks.add_sitemap(&sitemap, None);
    }
}

async fn is_url_list(page: &FetchedPage) -> bool {
    let bytes = page.body.clone();
    tokio::task::spawn_blocking(move || feed::is_url_list(&bytes)).await.unwrap_or_default()
}

async fn add_feed(feed: feed::Feed, base: Option<&Url>, url: &str, outlinks: &mut Outlinks<'_>) {
    if feed.is_cut {
        outlinks.skip("sitemap_cut", url);
    }
    outlinks.skip_many("sitemap_too_long", feed.dropped, url);
    let Some(base) = base else { return };
    for link in feed.links {
        // Yields from time to time, since thousands of links take many milliseconds.
        consume_budget().await;
        let Some(address) = Address::resolve_exact(&link.target, base) else {
            outlinks.skip("invalid_url", url);
            continue;
        };
        if link.is_sitemap {
            outlinks.add_sitemap(&address, link.modified_at);
        } else {
            outlinks.add_listed(&address, link.modified_at);
        }
    }
}

/// Follows a redirect. If its target is not visited, a permanent one takes the page out of the index, whoever listed it. A
/// temporary one promises that the page returns.
fn redirect(from: &Address, target: &str, is_permanent: bool, outlinks: &mut Outlinks) -> Result<Reading, Trouble> {
    let target = Address::parse(target).map_err(|_| Trouble::Useless("invalid_redirect"))?;
    if from.is_target_of(&target) {
        return Err(Trouble::Useless("redirect_loop"));
    }
    if !outlinks.add_target(&target) {
        return Ok(Reading::skipped(if is_permanent { "moved_outside" } else { "redirect_outside" }));
    }
    Ok(Reading { target: Some(target.doc_id()), ..Reading::of(CrawlUrlState::Redirected, None) })
}

fn validators(url: &CrawlUrl) -> Option<Validators> {
    let (etag, last_modified) = (url.etag.clone(), url.last_modified.clone());
    let known = etag.is_some() || last_modified.is_some();
    known.then(|| Validators { url: url.fetched_from.clone().unwrap_or_default(), etag, last_modified })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use extract_worker::InProcess;
    use fetcher::FetcherOptions;
    use model::CrawlId;
    use test_support::crawl_site::{CrawlSite, generated};
    use test_support::site::Page;
    use uuid::Uuid;

    use super::*;
    use crate::outlinks;
    use crate::pace::PaceLimits;

    fn visitor() -> Visitor {
        let mut options = FetcherOptions::new("testbot", "1.0", None);
        options.allow_networks = vec!["127.0.0.0/8".parse().unwrap()];
        let fetcher = Fetcher::new(options).unwrap();
        Visitor::new(fetcher, Arc::new(InProcess), Scripted::default(), "testbot".to_owned())
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn feeds_keep_their_turn_with_their_links() {
        let site = CrawlSite::start("127.0.0.2", |path| match path {
            "/feed" => Page::of("application/xml", "<rss><channel><item><link>/a</link></item></channel></rss>"),
            "/list.txt" => Page::of("text/plain", "http://127.0.0.2/a"),
            "/page" => generated(1, &[]),
            _ => Page::status(404),
        });
        let visitor = visitor();
        let plan = Plan { seeds: vec![site.url("/")], sitemaps: Sitemaps::Off, ..Plan::default() };
        let scope = Scope::of(&plan);
        let context = Context { settings: None, plan, scope };
        let limits = PaceLimits {
            min_delay: Duration::ZERO,
            max_delay: Duration::ZERO,
            max_crawl_delay: Duration::ZERO,
            max_back_off: Duration::ZERO,
        };
        let mut pace = Pace { limits, response: Duration::ZERO, crawl_delay: None, failures: 0, is_public: true };
        let known = Known { is_listed: false, is_current: false };
        for (path, kind, expected) in [
            ("/feed", CrawlUrlKind::Page, 1),
            ("/list.txt", CrawlUrlKind::Page, 1),
            ("/feed", CrawlUrlKind::Sitemap, 1),
            ("/page", CrawlUrlKind::Page, 0),
        ] {
            let seed = outlinks::seed(&Address::parse(&site.url(path)).unwrap());
            let before = CrawlUrl { kind, ..seed.into_row(CrawlId(Uuid::nil())) };
            let outcome = visitor.visit(&context, &before, known, &mut pace, Timestamp::UNIX_EPOCH).await;
            let turns = FEEDS_AT_A_TIME - visitor.feeds.available_permits();
            assert_eq!(turns, expected, "{path}: {:?}", outcome.url);
            drop(outcome);
            assert_eq!(visitor.feeds.available_permits(), FEEDS_AT_A_TIME, "{path}");
        }
    }
}

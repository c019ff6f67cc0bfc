//! Management of the shared web index through the API, for keys with the scope `web:manage`.

use docstore::WebPageEntry;
use model::DocId;
use tracing::Instrument;

use super::crawls::{self, CrawlRequest, Removal};
use super::pages::{self, Refreshed, Removed, Selection};
use super::report::{self, CrawlView, Outcomes};
use super::stats::{self, Stats};
use crate::cursor::{self, List};
use crate::error::Result;
use crate::{App, Error, Viewer, audit};

/// Transactions of a removal in one request: 10,000 URLs or pages.
const STEPS: usize = 20;

/// Page of the list of pages.
#[derive(Clone, Debug, Default)]
pub struct PagesQuery {
    pub selection: Selection,
    /// Cursor of the previous page.
    pub cursor: Option<String>,
    pub limit: usize,
}

impl App {
    /// Returns all crawls, oldest first.
    pub async fn list_crawls(&self, _: &Viewer) -> Result<Vec<CrawlView>> {
        report::list(&self.store).await
    }

    /// Starts a crawl, or goes on with the one of this name. The former URLs of a new round are queued after the answer.
    ///
    /// # Errors
    /// `Invalid` for a malformed URL, pattern, interval or name, and for a plan beyond the limits.
    pub async fn start_crawl(&self, viewer: &Viewer, request: CrawlRequest) -> Result<CrawlView> {
        let new = crawls::checked(request, self.options.max_crawl_urls)?;
        let now = self.clock.now();
        let crawl = crawls::begin(&self.store, &audit::actor(viewer), now, new).await?;
        let (store, round) = (self.store.clone(), crawl.clone());
        // A large frontier takes longer than a request. What is missing after a crash is queued by the next start.
        let queueing = trace_context::carried(async move {
            if let Err(error) = crawler::requeue(&store, &round, now).await {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(error, crawl = round.name, "a round of a crawl is not complete: start the crawl again");
            }
        });
        self.runtime.spawn(queueing.in_current_span());
        Ok(CrawlView::new(crawl))
    }

    /// Returns a crawl with its URLs by outcome.
    ///
    /// # Errors
    /// `CrawlNotFound`.
    pub async fn show_crawl(&self, _: &Viewer, name: &str) -> Result<(CrawlView, Outcomes)> {
        report::show(&self.store, name).await
    }

    /// Stops a crawl. A later start of its name goes on.
    ///
    /// # Errors
    /// `CrawlNotFound`.
    pub async fn stop_crawl(&self, viewer: &Viewer, name: &str) -> Result<CrawlView> {
        let crawl = crawls::stop(&self.store, &audit::actor(viewer), self.clock.now(), name).await?;
        Ok(CrawlView::new(crawl))
    }

    /// Removes a crawl, and pages that no other crawl lists if `with_pages`. A large one takes several calls.
    ///
    /// # Errors
    /// `CrawlNotFound`.
    pub async fn remove_crawl(&self, viewer: &Viewer, name: &str, with_pages: bool) -> Result<Removal> {
        crawls::remove(&self.store, &audit::actor(viewer), self.clock.now(), name, with_pages, STEPS).await
    }

    /// Returns a page of the list of pages, and the cursor of the next one.
    ///
    /// # Errors
    /// `Invalid` for a malformed host, prefix or cursor.
    pub async fn list_web_pages(&self, _: &Viewer, query: PagesQuery) -> Result<(Vec<WebPageEntry>, Option<String>)> {
        let after = query.cursor.map(|cursor| parse_cursor(&cursor)).transpose()?;
        let limit = query.limit.max(1);
        // One more tells if there is a further page.
        let wanted = i64::try_from(limit + 1).unwrap_or(i64::MAX);
        let mut found = pages::list(&self.store, &query.selection, after, wanted).await?;
        let has_more = found.len() > limit;
        found.truncate(limit);
        let last = found.last().filter(|_| has_more);
        let next = last.map(|page| cursor::encode(List::WebPages, &page.doc_id.to_string()));
        Ok((found, next))
    }

    /// Returns the size of the shared web index and of the frontier, with the `hosts` largest hosts.
    pub async fn web_stats(&self, _: &Viewer, hosts: usize) -> Result<Stats> {
        stats::stats(&self.store, hosts).await
    }

    /// Removes one page.
    ///
    /// # Errors
    /// `Invalid` for a malformed URL.
    pub async fn remove_web_page(&self, viewer: &Viewer, url: &str) -> Result<Removed> {
        pages::remove_one(&self.store, &audit::actor(viewer), self.clock.now(), url).await
    }

    /// Removes selected pages. Many of them take several calls.
    ///
    /// # Errors
    /// `Invalid` for a malformed host or prefix, and without any.
    pub async fn remove_web_pages(&self, viewer: &Viewer, selection: &Selection) -> Result<Removed> {
        pages::remove(&self.store, &audit::actor(viewer), self.clock.now(), selection, STEPS).await
    }

    /// Queues visits of pages.
    ///
    /// # Errors
    /// `Invalid` for a malformed URL.
    pub async fn refresh_web_pages(&self, _: &Viewer, urls: &[String]) -> Result<Vec<Refreshed>> {
        pages::refresh(&self.store, self.clock.now(), urls, self.options.max_crawl_urls).await
    }
}

fn parse_cursor(text: &str) -> Result<DocId> {
    let id = cursor::decode(List::WebPages, text)?;
    id.parse().map_err(|_| Error::invalid("cursor", "cursor must be the `next_cursor` of an earlier page of this list"))
}

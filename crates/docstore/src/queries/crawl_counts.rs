use std::collections::BTreeMap;

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::CrawlId;

use super::Conn;
use crate::crawls::SkippedLinks;
use crate::error::Result;
use crate::rows::{CrawlCount, CrawlUrl};
use crate::schema::crawl_counts;
use crate::types::Bind;

/// Kind of the counts of links.
pub const LINK: &str = "link";

/// Differences to the counts of a crawl. The transaction holds the lock of the crawl.
#[derive(Default)]
pub struct Deltas(BTreeMap<(String, String), (i64, Option<String>)>);

impl Deltas {
    pub fn add(&mut self, kind: &str, reason: &str, count: i64, example: Option<&str>) {
        let entry = self.0.entry((kind.to_owned(), reason.to_owned())).or_insert((0, None));
        entry.0 += count;
        entry.1 = entry.1.take().or(example.map(str::to_owned));
    }

    /// Counts a URL in its state.
    pub fn add_url(&mut self, url: &CrawlUrl, count: i64) {
        self.add(url.state.as_str(), url.reason.as_deref().unwrap_or_default(), count, Some(&url.url));
    }

    pub fn add_skipped(&mut self, skipped: &[SkippedLinks]) {
        for links in skipped {
            self.add(LINK, &links.reason, links.count, Some(&links.example));
        }
    }

    pub async fn write(self, connection: &mut Conn, crawl_id: CrawlId) -> Result<()> {
        for ((kind, reason), (count, example)) in self.0 {
            if count == 0 {
                continue;
            }
            let row = crawl_counts::table.find((Bind(crawl_id), kind.clone(), reason.clone()));
            let changed = diesel::update(row)
                .set(crawl_counts::count.eq(crawl_counts::count + count))
                .execute(connection)
                .await?;
            if changed == 0 {
                let row = CrawlCount { crawl_id, kind, reason, count, example };
                insert_rows!(connection, crawl_counts::table, vec![row])?;
            }
        }
        Ok(())
    }
}

pub async fn list_crawl_counts(connection: &mut Conn, crawl_id: CrawlId) -> Result<Vec<CrawlCount>> {
    Ok(crawl_counts::table
        .filter(crawl_counts::crawl_id.eq(Bind(crawl_id)))
        .filter(crawl_counts::count.gt(0))
        .order((crawl_counts::kind, crawl_counts::count.desc(), crawl_counts::reason))
        .select(CrawlCount::as_select())
        .load(connection)
        .await?)
}

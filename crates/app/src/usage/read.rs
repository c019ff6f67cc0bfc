//! Counts of a window, read from rollups. The number of rows depends on the length of the window and on the identities in it,
//! not on its requests. They are read in pages, so the memory depends on neither.

use std::collections::HashSet;

use docstore::{Docstore, DurationHistogram, MINUTE, RollupPosition};
use model::{OrganizationId, Timestamp};

use super::count::{Count, SEARCH};
use super::window::{Part, Window, round_down, round_up};
use crate::error::Result;

/// Maximum number of single requests, and of ledger entries, that are read for a partial minute. If it has more, or if some
/// requests of the minute are not kept, the whole minute counts.
const MAX_EXACT: i64 = 1_000;
/// Maximum number of requests in a minute whose kept ones are counted, which takes some ten milliseconds.
const MAX_COMPARED: i64 = 100_000;
/// Rollups in memory at once. A tenant that creates and revokes keys in a loop has any number of them.
const PAGE: i64 = 5_000;
/// Identities that a breakdown names.
const MAX_NAMED: usize = 100;

/// Reader of the counts of one organization.
pub struct Counter<'a> {
    pub store: &'a Docstore,
    pub organization_id: OrganizationId,
    /// Time since which single requests are kept.
    pub exact_since: Timestamp,
}

impl Counter<'_> {
    /// Passes the counts of the window to `add`, each with its time, identity and route.
    pub async fn read(&self, window: &Window, mut add: impl FnMut(Timestamp, String, String, &Count)) -> Result<()> {
        for part in window.parts() {
            match part {
                Part::Rollups { period, from, to } => self.read_rollups(period, from, to, &mut add).await?,
                Part::Requests { from, to } => {
                    if !self.read_requests(from, to, &mut add).await? {
                        let (from, to) = (round_down(from, MINUTE), round_up(to, MINUTE));
                        self.read_rollups(MINUTE, from, to, &mut add).await?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the identities with the most requests on the days of the window, if there are more than a breakdown names.
    pub async fn named_identities(&self, window: &Window) -> Result<Option<HashSet<String>>> {
        let limit = MAX_NAMED as i64 + 1;
        let busiest = self.store.list_busiest_identities(self.organization_id, window.from, window.to, limit).await?;
        Ok((busiest.len() > MAX_NAMED).then(|| busiest.into_iter().take(MAX_NAMED).collect()))
    }

    async fn read_rollups(
        &self,
        period: i64,
        from: Timestamp,
        to: Timestamp,
        add: &mut impl FnMut(Timestamp, String, String, &Count),
    ) -> Result<()> {
        let mut next = Some(RollupPosition::before(from));
        while let Some(after) = next {
            let rows = self.store.list_usage_rollups(self.organization_id, period, after, to, PAGE).await?;
            let is_last = (rows.len() as i64) < PAGE;
            next = rows.last().filter(|_| !is_last).map(RollupPosition::of);
            for row in rows {
                let one = Count {
                    requests: row.requests,
                    client_errors: row.client_errors,
                    server_errors: row.server_errors,
                    duration_us: row.duration_us,
                    spend_cents: row.spend_cents,
                    durations: DurationHistogram::from_bytes(&row.histogram).unwrap_or_default(),
                };
                add(row.start, row.identity, row.route, &one);
            }
        }
        Ok(())
    }

    /// Counts single requests and ledger entries. Returns false, and adds nothing, if they are too many or not all kept.
    async fn read_requests(
        &self,
        from: Timestamp,
        to: Timestamp,
        add: &mut impl FnMut(Timestamp, String, String, &Count),
    ) -> Result<bool> {
        if from < self.exact_since {
            return Ok(false);
        }
        let events = self.store.list_usage_events(self.organization_id, from, to, MAX_EXACT + 1).await?;
        let spending = self.store.list_spending(self.organization_id, from, to, MAX_EXACT + 1).await?;
        if events.len().max(spending.len()) as i64 > MAX_EXACT || !self.keeps_each_request(from, to).await? {
            return Ok(false);
        }
        for event in events {
            let one = Count::of(event.status, event.duration_us);
            add(event.created_at, event.identity, event.route, &one);
        }
        for (at, identity, spend_cents) in spending {
            add(at, identity, SEARCH.to_owned(), &Count { spend_cents, ..Count::default() });
        }
        Ok(true)
    }

    /// Returns true if all requests in the minutes of a partial one are stored one by one, which refused ones are not.
    async fn keeps_each_request(&self, from: Timestamp, to: Timestamp) -> Result<bool> {
        let (from, to) = (round_down(from, MINUTE), round_up(to, MINUTE));
        let mut counted = 0;
        let mut sum = |_: Timestamp, _: String, _: String, count: &Count| counted += count.requests;
        self.read_rollups(MINUTE, from, to, &mut sum).await?;
        if counted > MAX_COMPARED {
            return Ok(false);
        }
        Ok(self.store.count_usage_events(self.organization_id, from, to).await? == counted)
    }
}

//! Search: candidates of each collection, ranked by what they say, blended, recorded.

mod rank;
pub(crate) mod record;
mod retrieve;
pub(crate) mod second_stage;
pub(crate) mod vectors;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use docstore::{Grant, LoadedDocument, Search};
use engine::SearchEngine;
use ingest::prepare::storable;
use model::{BalanceReason, Collection, DocId, OrganizationId, SearchId, SessionId};
use retrieval_core::blend;
use retrieval_core::shape::SearchHit;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::error::Result;
use crate::{App, Error, Viewer, accounts};
use retrieve::{Policy, Retrieved};
use second_stage::Order;
pub use second_stage::SecondStage;

/// A validated search. Shaping by verbosity and budget happens where the answer is serialized.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    pub query: String,
    pub search_queries: Vec<String>,
    pub max_results: usize,
    pub web: bool,
    pub workspace: bool,
    /// As sent; checked against the viewer's organization when `workspace` is asked.
    pub workspace_id: Option<OrganizationId>,
    pub language: Option<String>,
    pub country: Option<String>,
    pub exact_match: bool,
    pub session_id: SessionId,
    pub published_after: Option<OffsetDateTime>,
    pub source_policy: SourcePolicy,
    /// How much of each hit to prepare: `None` for ids alone.
    pub detail: Detail,
}

#[derive(Clone, Debug, Default)]
pub struct SourcePolicy {
    /// As sent; paths in errors are `source_policy.include_domains[i]`.
    pub include_domains: Vec<String>,
    pub exclude_domains: Vec<String>,
    pub require_domain_match: bool,
}

/// What the answer will show, so that nothing else is read or computed.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Detail {
    Ids,
    Snippets,
    Passages,
}

/// A complete answer, best first, with everything that the largest preset may show.
#[derive(Clone, Debug)]
pub struct SearchOutcome {
    pub search_id: SearchId,
    pub hits: Vec<SearchHit>,
    pub ranker_version: String,
    /// Present when the workspace index was asked.
    pub workspace: Option<WorkspaceCounts>,
    pub rerank_unavailable: bool,
    /// Results that `source_policy` removed.
    pub filtered_results: usize,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct WorkspaceCounts {
    /// Matching workspace documents.
    pub total: u64,
    /// Those among the hits.
    pub selected: u64,
}

impl App {
    /// Searches. A billed search that fails through no fault of the caller is refunded.
    pub async fn search(&self, viewer: &Viewer, request: SearchRequest) -> Result<SearchOutcome> {
        let engine = self.engine.clone().ok_or(Error::NoRetrieval)?;
        if request.workspace && request.workspace_id != Some(viewer.organization_id) {
            // The same answer whether or not such an organization exists.
            let message = "workspace_id must be the id of the API key's organization";
            return Err(Error::invalid("scope.workspace_id", message));
        }
        let policy = Policy::parse(&request)?;
        let search_id = SearchId(Uuid::now_v7());
        self.charge(viewer, search_id).await?;
        let outcome = self.run_search(engine, viewer, Arc::new(request), policy, search_id).await;
        if let Err(error) = &outcome
            && error.is_ours()
        {
            self.refund(viewer, search_id).await;
        }
        outcome
    }

    async fn run_search(
        &self,
        engine: Arc<dyn SearchEngine>,
        viewer: &Viewer,
        request: Arc<SearchRequest>,
        policy: Policy,
        search_id: SearchId,
    ) -> Result<SearchOutcome> {
        let organization_id = viewer.organization_id;
        let mut watch = Stopwatch::start();
        let web = async {
            if !request.web {
                return Ok(None);
            }
            self.retrieve(engine.as_ref(), &request, Collection::Web, &policy).await.map(Some)
        };
        let workspace = async {
            if !request.workspace {
                return Ok(None);
            }
            self.retrieve(engine.as_ref(), &request, Collection::Workspace(organization_id), &policy).await.map(Some)
        };
        let (web, workspace) = futures_util::try_join!(web, workspace)?;
        let retrieved = watch.lap();
        let total = workspace.as_ref().map(|found| found.total);
        let filtered_results = web.as_ref().map_or(0, |found| found.filtered);
        let (hits, order) = self.rank_and_record(viewer, &request, search_id, [web, workspace], policy).await?;
        tracing::debug!(%search_id, ?retrieved, ranked = ?watch.lap(), "searched");
        Ok(SearchOutcome {
            search_id,
            ranker_version: order.ranker_version,
            workspace: total.map(|total| WorkspaceCounts {
                total,
                selected: hits.iter().filter(|hit| hit.index.as_deref() == Some("workspace")).count() as u64,
            }),
            rerank_unavailable: order.unavailable,
            filtered_results,
            hits,
        })
    }

    /// Ranks, blends, and stores the ranked list while what is shown of it is read. Ranking and making snippets are
    /// computation: they leave the threads that answer other requests.
    async fn rank_and_record(
        &self,
        viewer: &Viewer,
        request: &Arc<SearchRequest>,
        search_id: SearchId,
        found: [Option<Retrieved>; 2],
        policy: Policy,
    ) -> Result<(Vec<SearchHit>, Order)> {
        let assessing = self.runtime.spawn_blocking({
            let request = Arc::clone(request);
            let vectors = self.vectors.clone();
            let now = self.clock.now();
            move || {
                let [web, workspace] = found;
                let assess = |found, workspace| rank::assess(&request, found, workspace, &vectors, now);
                [web.map(|found| assess(found, false)), workspace.map(|found| assess(found, true))]
            }
        });
        let mut lists = assessing.await.map_err(Error::internal)?;
        let order = self.second_stage.order(&request.query, &mut lists, &self.rerank_failures).await;
        let placed = match lists.map(|list| list.map(|list| list.place(&policy, request.max_results))) {
            [Some(web), Some(workspace)] => blend::interleave(web, workspace, request.max_results),
            [web, workspace] => web.or(workspace).unwrap_or_default(),
        };
        let doc_ids: Vec<DocId> = placed.iter().map(|placed| placed.document.doc_id()).collect();
        let recording = self.record_search(viewer, request, search_id, &doc_ids);
        let dressing = async {
            let loaded = self.load_placed(viewer, &placed).await?;
            let request = Arc::clone(request);
            let dressing = self.runtime.spawn_blocking(move || rank::dress(&request, placed, loaded));
            dressing.await.map_err(Error::internal)
        };
        let (hits, ()) = futures_util::try_join!(dressing, recording)?;
        Ok((hits, order))
    }

    /// The text of those that are shown and were ranked by what was known of them.
    async fn load_placed(&self, viewer: &Viewer, placed: &[rank::Placed]) -> Result<HashMap<DocId, LoadedDocument>> {
        let missing = |workspace: bool| {
            let missing = placed.iter().filter(|placed| placed.loaded.is_none() && placed.workspace == workspace);
            missing.map(|placed| placed.document.state.doc_id).collect()
        };
        let own = Collection::Workspace(viewer.organization_id);
        let (mut loaded, workspace) = futures_util::try_join!(
            self.load_by_id(Collection::Web, missing(false)),
            self.load_by_id(own, missing(true))
        )?;
        loaded.extend(workspace);
        Ok(loaded)
    }

    /// Before the answer: what it shows can be read by `doc_id` the moment it arrives.
    async fn record_search(
        &self,
        viewer: &Viewer,
        request: &SearchRequest,
        search_id: SearchId,
        doc_ids: &[DocId],
    ) -> Result<()> {
        let now = self.clock.now();
        let organization_id = viewer.organization_id;
        let row = Search {
            search_id,
            organization_id,
            identity: viewer.identity.rate_key(),
            session_id: request.session_id,
            query: storable(request.query.clone()),
            results: doc_ids.to_vec(),
            created_at: now,
        };
        let granted =
            doc_ids.iter().map(|doc_id| Grant { organization_id, doc_id: *doc_id, granted_at: now }).collect();
        self.searches.record(row, granted).await
    }

    async fn charge(&self, viewer: &Viewer, search_id: SearchId) -> Result<()> {
        let cents = i64::from(self.options.search_cents);
        if !viewer.billed || cents == 0 {
            return Ok(());
        }
        let balance = self.post_search(viewer, -cents, BalanceReason::Search, search_id).await?;
        balance.map(|_| ()).ok_or(Error::InsufficientBalance)
    }

    async fn post_search(
        &self,
        viewer: &Viewer,
        cents: i64,
        reason: BalanceReason,
        search_id: SearchId,
    ) -> Result<Option<i64>> {
        let search = Some((search_id, &viewer.identity));
        accounts::post(&self.store, viewer.organization_id, cents, reason, search, self.clock.now()).await
    }

    async fn refund(&self, viewer: &Viewer, search_id: SearchId) {
        let cents = i64::from(self.options.search_cents);
        if !viewer.billed || cents == 0 {
            return;
        }
        if let Err(error) = self.post_search(viewer, cents, BalanceReason::Refund, search_id).await {
            let organization_id = viewer.organization_id;
            tracing::error!(%organization_id, %search_id, error = &error as &dyn std::error::Error, "a refund failed");
        }
    }
}

/// Times the steps of a search for the log.
struct Stopwatch(Instant);

impl Stopwatch {
    fn start() -> Self {
        Self(Instant::now())
    }

    /// Since the last lap.
    fn lap(&mut self) -> Duration {
        let now = Instant::now();
        now - std::mem::replace(&mut self.0, now)
    }
}

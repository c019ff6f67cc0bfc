//! Charges of single searches, and their refunds. Searches that were not recorded before a crash are refunded by [`crate::refunds`].

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use docstore::{BalanceEntry, Docstore, StoreError};
use ingest::Supervisor;
use model::{BalanceReason, Clock, OrganizationId, ResearchId, SearchId, Timestamp};
use moka::sync::Cache;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tracing::Instrument;

use crate::accounts::{self, BilledSearch};
use crate::batches::Batches;
use crate::error::Result;
use crate::refunds::refund_searches;
use crate::{App, Error, Viewer};

/// Time to wait for the ledger.
const CHARGE_TIMEOUT: Duration = Duration::from_secs(5);
/// Time after which a search that could not be charged may be retried.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// Time to wait for a refund, which goes on afterwards.
const REFUND_WAIT: Duration = Duration::from_secs(1);
/// Time for which a refund is repeated while the database is unavailable. The sweep for lost searches does not find recorded ones.
const REFUND_PATIENCE: Duration = Duration::from_mins(10);
const REFUND_DELAY: Duration = Duration::from_secs(1);

/// Searches that an ample balance covers.
const AMPLE_SEARCHES: i64 = 1_000;
/// Time for which an ample balance is remembered. Other instances spend it too.
const AMPLE_FOR: Duration = Duration::from_secs(10);

/// Organizations whose last charge left an ample balance.
pub(crate) struct AmpleBalances(Cache<OrganizationId, ()>);

impl Default for AmpleBalances {
    fn default() -> Self {
        Self(Cache::builder().max_capacity(10_000).time_to_live(AMPLE_FOR).build())
    }
}

impl AmpleBalances {
    fn update(&self, viewer: &Viewer, is_ample: bool) {
        match is_ample {
            true => self.0.insert(viewer.organization_id, ()),
            false => self.0.invalidate(&viewer.organization_id),
        }
    }
}

/// Writer of the entries of searches. Concurrent searches of an organization change its balance once.
pub(crate) type Ledger = Batches<BalanceEntry, Option<i64>>;

/// Starts the writer. Must be called on a runtime.
pub(crate) fn start_ledger(store: Docstore, supervisor: &Supervisor) -> Ledger {
    Batches::start("ledger", supervisor, move |entries| {
        let store = store.clone();
        async move { store.post_balance_entries(entries).await }
    })
}

impl App {
    /// Checks that the balance of a billed organization covers a search.
    ///
    /// # Errors
    /// `InsufficientBalance`.
    pub async fn check_balance(&self, viewer: &Viewer) -> Result<()> {
        let cents = i64::from(self.options.search_cents);
        if !viewer.billed || cents == 0 {
            return Ok(());
        }
        let balance = self.store.find_balance(viewer.organization_id).await?.unwrap_or(0);
        if balance >= cents { Ok(()) } else { Err(Error::InsufficientBalance) }
    }

    /// Charges a billed organization for a search. Returns `None` for others.
    ///
    /// # Errors
    /// `InsufficientBalance` if the balance does not cover the price; `Overloaded` if the ledger cannot be written in time.
    pub(crate) async fn charge_search(
        &self,
        viewer: &Viewer,
        search_id: SearchId,
        research_id: Option<ResearchId>,
    ) -> Result<Option<Charge>> {
        let cents = i64::from(self.options.search_cents);
        if !viewer.billed || cents == 0 {
            return Ok(None);
        }
        let payment = Payment {
            store: self.store.clone(),
            ledger: self.ledger.clone(),
            clock: Arc::clone(&self.clock),
            paid_at: self.clock.now(),
            viewer: viewer.clone(),
            search_id,
            research_id,
            cents,
            runtime: self.runtime.clone(),
        };
        // A task of its own: if the caller leaves before the debit is stored, the charge is dropped here, which refunds it.
        let paying = async move {
            let balance = payment.pay().await.map_err(not_charged)?;
            balance.map(|left| (Charge(Some(payment)), left)).ok_or(Error::InsufficientBalance)
        };
        let paying = self.runtime.spawn(paying.in_current_span());
        let paid = tokio::time::timeout(CHARGE_TIMEOUT, paying).await.map_err(not_charged)?;
        let (charge, left) =
            paid.map_err(Error::internal)?.inspect_err(|_| self.ample_balances.update(viewer, false))?;
        self.ample_balances.update(viewer, left / cents >= AMPLE_SEARCHES);
        Ok(Some(charge))
    }

    /// Returns true if the next charge will hardly fail for lack of money: nothing is charged, or the last balance was ample.
    pub(crate) fn is_solvent(&self, viewer: &Viewer) -> bool {
        !viewer.billed || self.options.search_cents == 0 || self.ample_balances.0.contains_key(&viewer.organization_id)
    }
}

/// Returns the error of a search that was not run because the ledger cannot be written.
fn not_charged(cause: impl std::error::Error + 'static) -> Error {
    tracing::warn!(error = error_causes::describe(&cause), "a search was not charged");
    let message = "the search cannot be charged at the moment".to_owned();
    Error::Overloaded { message, retry_after: RETRY_AFTER }
}

/// Price that an organization has paid for one search. Dropping it refunds the search, unless its answer was [kept](Self::keep).
#[must_use = "dropping a charge refunds it"]
pub struct Charge(Option<Payment>);

/// The parts of a ledger entry, and the means to post and refund it.
struct Payment {
    store: Docstore,
    ledger: Ledger,
    clock: Arc<dyn Clock>,
    paid_at: Timestamp,
    viewer: Viewer,
    search_id: SearchId,
    /// Run that the search belongs to.
    research_id: Option<ResearchId>,
    cents: i64,
    runtime: Handle,
}

impl Charge {
    /// Returns the search that was paid for.
    pub fn search_id(&self) -> Option<SearchId> {
        self.0.as_ref().map(|payment| payment.search_id)
    }

    /// Keeps the charge. To be called once the answer is complete.
    pub fn keep(mut self) {
        self.0 = None;
    }

    /// Refunds the search. Returns once that is stored, or after a second: then it is stored in the background.
    pub async fn refund(mut self) {
        if let Some(refunding) = self.begin_refund() {
            let _ = tokio::time::timeout(REFUND_WAIT, refunding).await;
        }
    }

    /// Starts a task of its own, which does not end with its request. `None` if there is nothing to refund.
    fn begin_refund(&mut self) -> Option<JoinHandle<()>> {
        let payment = self.0.take()?;
        let runtime = payment.runtime.clone();
        Some(runtime.spawn(async move { payment.refund().await }.in_current_span()))
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.begin_refund();
    }
}

impl fmt::Debug for Charge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Charge").field(&self.search_id()).finish()
    }
}

impl Payment {
    async fn pay(&self) -> Result<Option<i64>> {
        let Self { search_id, research_id, cents, paid_at, .. } = *self;
        let search = Some(BilledSearch { search_id, research_id, identity: &self.viewer.identity });
        let organization_id = self.viewer.organization_id;
        let entry = accounts::balance_entry(organization_id, -cents, BalanceReason::Search, search, paid_at);
        self.ledger.write(entry).await
    }

    /// Refunds the search, unless another process that took its run over has. A failure is logged.
    async fn refund(&self) {
        let (organization_id, search_id) = (self.viewer.organization_id, self.search_id);
        let end = Instant::now() + REFUND_PATIENCE;
        loop {
            let now = self.clock.now();
            match refund_searches(&self.store, organization_id, vec![search_id], now).await {
                Ok(_) => return,
                Err(StoreError::Unavailable(_) | StoreError::Aborted(_)) if Instant::now() < end => {
                    tokio::time::sleep(REFUND_DELAY).await;
                }
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::error!(%organization_id, %search_id, error, "refund failed");
                    return;
                }
            }
        }
    }
}

//! Charges of single searches, and their refunds. Searches lost in a crash are refunded by [`crate::refunds`].

use std::fmt;
use std::sync::Arc;

use docstore::Docstore;
use model::{BalanceReason, Clock, SearchId};
use tokio::runtime::Handle;

use crate::error::Result;
use crate::{App, Error, Viewer, accounts};

impl App {
    /// Charges a billed organization for a search. Returns `None` for others.
    ///
    /// # Errors
    /// `InsufficientBalance` if the balance does not cover the price.
    pub(crate) async fn charge_search(&self, viewer: &Viewer, search_id: SearchId) -> Result<Option<Charge>> {
        let cents = i64::from(self.options.search_cents);
        if !viewer.billed || cents == 0 {
            return Ok(None);
        }
        let payment = Payment {
            store: self.store.clone(),
            clock: Arc::clone(&self.clock),
            viewer: viewer.clone(),
            search_id,
            cents,
            runtime: self.runtime.clone(),
        };
        // A task of its own: if the caller leaves before the debit is stored, the charge is dropped here, which refunds it.
        let paying = self.runtime.spawn(async move {
            let balance = payment.post(-payment.cents, BalanceReason::Search).await?;
            balance.map(|_| Charge(Some(payment))).ok_or(Error::InsufficientBalance)
        });
        paying.await.map_err(Error::internal)?.map(Some)
    }
}

/// Price that an organization has paid for one search. Dropping it refunds the search, unless its answer was [kept](Self::keep).
#[must_use = "dropping a charge refunds it"]
pub struct Charge(Option<Payment>);

/// The parts of a ledger entry, and the means to post it.
struct Payment {
    store: Docstore,
    clock: Arc<dyn Clock>,
    viewer: Viewer,
    search_id: SearchId,
    cents: i64,
    runtime: Handle,
}

impl Charge {
    /// Keeps the charge. To be called once the answer is complete.
    pub fn keep(mut self) {
        self.0 = None;
    }

    /// Refunds the search, and returns once that is stored.
    pub async fn refund(mut self) {
        if let Some(payment) = self.0.take() {
            payment.refund().await;
        }
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        let Some(payment) = self.0.take() else { return };
        let runtime = payment.runtime.clone();
        runtime.spawn(async move { payment.refund().await });
    }
}

impl fmt::Debug for Charge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let search_id = self.0.as_ref().map(|payment| payment.search_id);
        f.debug_tuple("Charge").field(&search_id).finish()
    }
}

impl Payment {
    async fn post(&self, cents: i64, reason: BalanceReason) -> Result<Option<i64>> {
        let search = Some((self.search_id, &self.viewer.identity));
        accounts::post(&self.store, self.viewer.organization_id, cents, reason, search, self.clock.now()).await
    }

    /// Refunds the search. A failure is logged.
    async fn refund(&self) {
        if let Err(error) = self.post(self.cents, BalanceReason::Refund).await {
            let (organization_id, search_id) = (self.viewer.organization_id, self.search_id);
            tracing::error!(%organization_id, %search_id, error = &error as &dyn std::error::Error, "refund failed");
        }
    }
}

//! Charges and refunds of single searches. Searches lost in a crash are refunded by [`crate::refunds`].

use std::time::Duration;

use model::{BalanceReason, SearchId};

use crate::error::Result;
use crate::{App, Error, Viewer, accounts};

/// Time to wait for the ledger.
const CHARGE_TIMEOUT: Duration = Duration::from_secs(5);

impl App {
    /// Charges a billed organization for a search.
    ///
    /// # Errors
    /// `InsufficientBalance` if the balance does not cover the price; `NotCharged` if the ledger cannot be written in time. A
    /// charge that is written later is refunded as that of a lost search.
    pub(crate) async fn charge_search(&self, viewer: &Viewer, search_id: SearchId) -> Result<()> {
        let cents = i64::from(self.options.search_cents);
        if !viewer.billed || cents == 0 {
            return Ok(());
        }
        let charging = self.post_search(viewer, -cents, BalanceReason::Search, search_id);
        let balance = match tokio::time::timeout(CHARGE_TIMEOUT, charging).await {
            Ok(Ok(balance)) => balance,
            Ok(Err(error)) => return Err(Error::NotCharged(error.into())),
            Err(elapsed) => return Err(Error::NotCharged(elapsed.into())),
        };
        balance.map(|_| ()).ok_or(Error::InsufficientBalance)
    }

    /// Refunds a charged search that ends without an answer, such as one that cannot meet its budget. A failure is logged.
    pub async fn refund_search(&self, viewer: &Viewer, search_id: SearchId) {
        let cents = i64::from(self.options.search_cents);
        if !viewer.billed || cents == 0 {
            return;
        }
        if let Err(error) = self.post_search(viewer, cents, BalanceReason::Refund, search_id).await {
            let organization_id = viewer.organization_id;
            tracing::error!(%organization_id, %search_id, error = &error as &dyn std::error::Error, "refund failed");
        }
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
}

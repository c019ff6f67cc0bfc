use std::time::Duration;

use app::App;
use tokio::time::Instant;

/// Time between two checks. With the 3 s for which a key is cached, a stream ends within the 5 s that hold for requests.
const INTERVAL: Duration = Duration::from_secs(1);

/// The credential of a stream, which may be revoked or expire before the stream ends.
pub(super) struct Credential {
    token: String,
    checked_at: Instant,
}

impl Credential {
    /// Takes a credential that has just been admitted.
    pub fn admitted(token: String) -> Self {
        Self { token, checked_at: Instant::now() }
    }

    /// Time of the next check.
    pub fn due_at(&self) -> Instant {
        self.checked_at + INTERVAL
    }

    /// Checks the credential if that is due. One that cannot be checked counts as invalid, as it does for requests.
    pub async fn is_valid(&mut self, app: &App) -> bool {
        if Instant::now() < self.due_at() {
            return true;
        }
        self.checked_at = Instant::now();
        match app.authenticate(&self.token).await {
            Ok(viewer) => viewer.is_some(),
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "the credential of a stream cannot be checked"
                );
                false
            }
        }
    }
}

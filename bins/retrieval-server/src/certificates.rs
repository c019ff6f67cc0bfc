//! Certificate of the listeners: loaded from the settings, watched, and replaced without a restart.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use metrics::gauge;
use model::{Clock, SystemClock};
use server_tls::{CertificateError, PairFiles, Reload, ServerTls};
use settings::Settings;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Interval of looks at the files. A change is taken over at the second look that finds it.
const POLL: Duration = Duration::from_secs(5);
/// Interval of warnings about a certificate that expires.
const REMINDER: Duration = Duration::from_secs(24 * 60 * 60);
pub const EXPIRY: &str = "retrieval_certificate_expiry_timestamp_seconds";

/// Returns the TLS of the public listeners; `None` if they speak plain HTTP.
///
/// # Errors
/// Names the setting and the file at fault.
pub fn load(settings: &Settings) -> anyhow::Result<Option<ServerTls>> {
    let server = &settings.server;
    if !settings.has_tls() {
        return Ok(None);
    }
    let files = PairFiles { certificate: server.tls_cert.clone().into(), key: server.tls_key.clone().into() };
    let tls = ServerTls::load(files).map_err(|error| {
        let setting = setting(&error, Path::new(&server.tls_key));
        anyhow::Error::from(error).context(setting)
    })?;
    Ok(Some(tls))
}

fn setting(error: &CertificateError, key: &Path) -> &'static str {
    if error.path() == Some(key) { "server.tls_key" } else { "server.tls_cert" }
}

/// Returns the problem of a certificate that works no longer, or not much longer.
pub fn problem(tls: &ServerTls) -> Option<String> {
    tls.problem(now())
}

/// Returns true if clients refuse the certificate at this time.
pub fn is_unusable(tls: &ServerTls) -> bool {
    !tls.is_valid_at(now())
}

fn now() -> Duration {
    Duration::from_millis(u64::try_from(SystemClock.now().as_millis()).unwrap_or(0))
}

/// Takes over changed files until `stop`, and at once after SIGHUP.
pub async fn watch(tls: Arc<ServerTls>, stop: CancellationToken) {
    let mut hangup = match signal(SignalKind::hangup()) {
        Ok(hangup) => hangup,
        Err(error) => {
            return tracing::error!(error = &error as &dyn std::error::Error, "watching the certificate failed");
        }
    };
    report(&tls);
    let mut reminder = tokio::time::interval(REMINDER);
    reminder.tick().await;
    loop {
        let outcome = tokio::select! {
            () = stop.cancelled() => return,
            _ = reminder.tick() => {
                report(&tls);
                continue;
            }
            _ = hangup.recv() => look(&tls, ServerTls::reload).await,
            () = tokio::time::sleep(POLL) => look(&tls, ServerTls::poll).await,
        };
        match outcome {
            Ok(Reload::Unchanged) => {}
            Ok(Reload::Replaced) => {
                tracing::info!("new connections get the new certificate");
                report(&tls);
            }
            Err(error) => {
                let error = error_causes::describe(&error);
                tracing::error!(error, "the new certificate is not used, the one before stays in use");
            }
        }
    }
}

/// Reads the files on a blocking thread.
async fn look(
    tls: &Arc<ServerTls>,
    look: fn(&ServerTls) -> Result<Reload, CertificateError>,
) -> Result<Reload, CertificateError> {
    let tls = Arc::clone(tls);
    // A panic of the thread would be a defect; the next look tries again.
    tokio::task::spawn_blocking(move || look(&tls)).await.unwrap_or(Ok(Reload::Unchanged))
}

/// Publishes the end of the certificate, and warns if it is near.
fn report(tls: &ServerTls) {
    gauge!(EXPIRY).set(tls.expires_at().map_or(0.0, |end| end.as_secs_f64()));
    if let Some(problem) = problem(tls) {
        tracing::warn!("{problem}");
    }
}

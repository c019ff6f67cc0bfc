//! Comparison of this machine's clock with those of its dependencies.

use std::time::Duration;

use docstore::{Docstore, Location};
use model::{Clock, SystemClock, Timestamp};
use settings::{IndexBackend, Settings, StorageBackend};

use super::report::Finding;
use super::{TIMEOUT, probe};
use crate::compose;

/// Difference that leases and signatures tolerate; dates in HTTP are whole seconds.
const TOLERATED: Duration = Duration::from_secs(2);
/// Difference that breaks access tokens and rate limits.
const BROKEN: Duration = Duration::from_secs(30);

pub async fn check(settings: &Settings) -> Finding {
    let (check, hint) = ("clock", "synchronize the clocks of all machines with NTP");
    // Dependencies that do not answer have checks of their own.
    let found = tokio::time::timeout(TIMEOUT, differences(settings)).await.unwrap_or_default();
    let Some((name, worst)) = found.iter().max_by_key(|(_, difference)| *difference) else {
        return Finding::pass(check, "no other clock to compare with");
    };
    let detail = format!("differs from that of {name} by {:.1} s", worst.as_secs_f64());
    if *worst > BROKEN {
        Finding::fail(check, detail, hint)
    } else if *worst > TOLERATED {
        Finding::warn(check, detail, hint)
    } else {
        let names: Vec<&str> = found.iter().map(|(name, _)| *name).collect();
        Finding::pass(check, format!("agrees with {}", names.join(", ")))
    }
}

/// Returns the difference to each dependency that tells its time.
async fn differences(settings: &Settings) -> Vec<(&'static str, Duration)> {
    let mut found = Vec::new();
    if let Some(difference) = database(settings).await {
        found.push(("PostgreSQL", difference));
    }
    let mut services = Vec::new();
    if settings.index.backend == IndexBackend::Meilisearch {
        services.push(("Meilisearch", &settings.index.url));
    }
    if settings.storage.backend == StorageBackend::S3 && !settings.storage.endpoint.is_empty() {
        services.push(("the object store", &settings.storage.endpoint));
    }
    if !settings.auth.oauth.issuer.is_empty() {
        services.push(("the issuer of access tokens", &settings.auth.oauth.jwks_url));
    }
    for (name, url) in services {
        found.extend(service(url).await.map(|difference| (name, difference)));
    }
    found
}

async fn database(settings: &Settings) -> Option<Duration> {
    let location = compose::location(settings).ok().filter(|location| matches!(location, Location::Postgres(_)))?;
    let store = Docstore::open(&location, 1).ok()?;
    // Connects, so that the second query measures little else than the clock.
    store.server_time().await.ok()?;
    let before = SystemClock.now();
    let theirs = store.server_time().await.ok()??;
    Some(difference(before, theirs, SystemClock.now()))
}

/// Compares with the header `Date` of any response.
async fn service(url: &str) -> Option<Duration> {
    let before = SystemClock.now();
    let response = probe::http_client().ok()?.head(url).send().await.ok()?;
    let after = SystemClock.now();
    let date = httpdate::parse_http_date(response.headers().get("date")?.to_str().ok()?).ok()?;
    let theirs = date.duration_since(std::time::UNIX_EPOCH).ok()?;
    let theirs = Timestamp::from_millis(i64::try_from(theirs.as_millis()).ok()?);
    // The date is rounded down to a second.
    Some(difference(before - Duration::from_secs(1), theirs, after))
}

/// Returns the distance of a time from the span in which it was read.
fn difference(before: Timestamp, theirs: Timestamp, after: Timestamp) -> Duration {
    before.since(theirs).max(theirs.since(after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn difference_is_the_distance_from_the_request() {
        let at = Timestamp::from_millis;
        for (theirs, expected) in [(4_000, 1_000), (5_000, 0), (6_000, 0), (7_000, 0), (9_500, 2_500)] {
            assert_eq!(difference(at(5_000), at(theirs), at(7_000)), Duration::from_millis(expected), "{theirs}");
        }
    }
}

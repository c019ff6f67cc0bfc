//! Lookups of names in blocking threads.
//!
//! A lookup cannot be stopped: one whose fetch has ended continues in its thread and keeps its place. Fetches of the same name
//! join it, so a name without an answer has one place, however often it is asked for. Many such names take the share of one
//! organization, and leave the other places.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use admission::{FairSemaphore, Limits, Permit};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use model::OrganizationId;
use tokio::sync::oneshot;

/// Maximum wait for a place: well below the time of a lookup, which it is a part of.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// Lookups of one organization that wait for a place, beyond which further ones are refused.
const MAX_WAITING: usize = 256;

type Lookup = Shared<BoxFuture<'static, Result<Vec<IpAddr>, Arc<io::Error>>>>;
type Running = Mutex<HashMap<String, Lookup>>;

/// Running lookups, up to a number of places.
pub(crate) struct Lookups {
    places: FairSemaphore,
    running: Arc<Running>,
}

impl Lookups {
    pub fn new(places: u32, per_organization: u32) -> Self {
        let limits = Limits { permits: places, per_organization, max_waiting: MAX_WAITING, max_wait: MAX_WAIT };
        Self { places: FairSemaphore::new(limits), running: Arc::default() }
    }

    /// Returns the outcome of the running lookup of `host`, whoever began it, or of `find` in a blocking thread.
    ///
    /// # Errors
    /// Those of the lookup. `ResourceBusy` if all places, or all that the organization may have, are taken for too long.
    pub async fn find(
        &self,
        host: &str,
        organization: OrganizationId,
        find: impl FnOnce(&str) -> io::Result<Vec<IpAddr>> + Send + 'static,
    ) -> io::Result<Vec<IpAddr>> {
        let running = lock(&self.running).get(host).cloned();
        let lookup = match running {
            Some(lookup) => lookup,
            None => {
                let place = self.place(organization).await?;
                self.begin(host, place, find)
            }
        };
        lookup.await.map_err(|error| io::Error::new(error.kind(), error))
    }

    async fn place(&self, organization: OrganizationId) -> io::Result<Permit> {
        let place = self.places.acquire_within(organization, 1, MAX_WAIT).await;
        place.map_err(|_| io::Error::new(io::ErrorKind::ResourceBusy, "too many names are being looked up"))
    }

    fn begin(
        &self,
        host: &str,
        place: Permit,
        find: impl FnOnce(&str) -> io::Result<Vec<IpAddr>> + Send + 'static,
    ) -> Lookup {
        let (found, finding) = oneshot::channel();
        let lookup = {
            let mut running = lock(&self.running);
            // Another fetch may have begun it meanwhile.
            if let Some(lookup) = running.get(host) {
                return lookup.clone();
            }
            let outcome = finding.map(|found: Result<io::Result<Vec<IpAddr>>, _>| {
                found.unwrap_or_else(|ended| Err(io::Error::other(ended))).map_err(Arc::new)
            });
            let lookup = outcome.boxed().shared();
            running.insert(host.to_owned(), lookup.clone());
            lookup
        };
        let entry = Entry { running: Arc::clone(&self.running), host: host.to_owned(), _place: place };
        tokio::task::spawn_blocking(move || {
            let outcome = find(entry.host.as_str());
            // Before the answer, so that whoever gets it can look the name up again.
            drop(entry);
            // Nobody may wait for it any more.
            let _ = found.send(outcome);
        });
        lookup
    }
}

/// Entry of a running lookup. Removed when it is dropped, also by a panic.
struct Entry {
    running: Arc<Running>,
    host: String,
    _place: Permit,
}

impl Drop for Entry {
    fn drop(&mut self) {
        lock(&self.running).remove(&self.host);
    }
}

fn lock(running: &Running) -> MutexGuard<'_, HashMap<String, Lookup>> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use std::net::Ipv4Addr;
    use std::sync::mpsc;

    use uuid::Uuid;

    use super::*;

    const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
    const ORGANIZATION: OrganizationId = OrganizationId(Uuid::from_u128(1));
    const OTHER: OrganizationId = OrganizationId(Uuid::from_u128(2));

    #[tokio::test]
    async fn abandoned_lookup_is_joined_by_the_next_of_its_name() {
        let lookups = Lookups::new(1, 1);
        let (release, released) = mpsc::channel::<()>();
        let mut first = Box::pin(lookups.find("a.test", ORGANIZATION, move |_| {
            let _ = released.recv();
            Ok(vec![ADDRESS])
        }));
        assert!(first.as_mut().now_or_never().is_none());
        drop(first);
        let mut second = Box::pin(lookups.find("a.test", OTHER, |_| Err(io::Error::other("looked up twice"))));
        assert!(second.as_mut().now_or_never().is_none());
        release.send(()).unwrap();
        assert_eq!(second.await.unwrap(), [ADDRESS]);
        // The place is free again, and the answer is not kept.
        let later = lookups.find("a.test", OTHER, |_| Err(io::ErrorKind::NotFound.into())).await;
        assert_eq!(later.map_err(|error| error.kind()), Err(io::ErrorKind::NotFound));
    }

    #[tokio::test(start_paused = true)]
    async fn lookup_without_a_place_is_refused_as_busy() {
        let lookups = Lookups::new(1, 1);
        let _taken = lookups.places.try_acquire(ORGANIZATION, 1).unwrap();
        let refused = lookups.find("a.test", OTHER, |_| Ok(vec![ADDRESS])).await;
        assert_eq!(refused.map_err(|error| error.kind()), Err(io::ErrorKind::ResourceBusy));
    }

    #[tokio::test(start_paused = true)]
    async fn lookup_beyond_the_share_of_its_organization_is_refused_as_busy() {
        let lookups = Lookups::new(4, 1);
        let _taken = lookups.places.try_acquire(ORGANIZATION, 1).unwrap();
        let refused = lookups.find("a.test", ORGANIZATION, |_| Ok(vec![ADDRESS])).await;
        assert_eq!(refused.map_err(|error| error.kind()), Err(io::ErrorKind::ResourceBusy));
    }

    #[tokio::test]
    async fn abandoned_lookups_of_an_organization_leave_places_for_others() {
        let lookups = Lookups::new(4, 1);
        let mut silent = Vec::new();
        for host in ["1.test", "2.test", "3.test", "4.test"] {
            let (release, released) = mpsc::channel::<()>();
            silent.push(release);
            let abandoned = lookups.find(host, ORGANIZATION, move |_| {
                let _ = released.recv();
                Ok(vec![ADDRESS])
            });
            assert!(abandoned.now_or_never().is_none());
        }
        assert_eq!(lookups.places.in_use(), 1);
        let other = lookups.find("a.test", OTHER, |_| Ok(vec![ADDRESS])).await;
        assert_eq!(other.unwrap(), [ADDRESS]);
        // Their threads end before the runtime waits for them.
        drop(silent);
    }
}

use std::convert::Infallible;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use model::OrganizationId;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

use crate::queues::{Grant, Queues, Ticket};
use crate::{Limits, Overloaded};

/// Weighted permits that organizations share fairly: the next ones go to the waiting organization that holds the least, then to
/// the one that was served longest ago. Cheap to clone.
#[derive(Clone)]
pub struct FairSemaphore {
    shared: Arc<Shared>,
}

struct Shared {
    queues: Mutex<Queues<oneshot::Sender<Permit>>>,
    permits: u32,
}

/// Permits of an organization. Dropping it returns them.
pub struct Permit {
    shared: Arc<Shared>,
    organization: OrganizationId,
    weight: u32,
    /// Time at which the request arrived.
    since: Instant,
    is_abandoned: bool,
}

impl FairSemaphore {
    pub fn new(limits: Limits) -> Self {
        let limits = Limits { permits: limits.permits.max(1), ..limits };
        Self { shared: Arc::new(Shared { queues: Mutex::new(Queues::new(limits)), permits: limits.permits }) }
    }

    /// Waits for `weight` permits, or for all if there are fewer. Dropping the future leaves the queue.
    ///
    /// # Errors
    /// The request would wait too long.
    pub async fn acquire(&self, organization: OrganizationId, weight: u32) -> Result<Permit, Overloaded> {
        let place = self.enter(organization, weight, |queues| queues.check_wait(organization, Instant::now()))?;
        Ok(place.granted().await)
    }

    /// Waits for permits like [`acquire`](Self::acquire), for at most `max_wait`. A refusal after that does not count as a
    /// client that left, as dropping the future does.
    ///
    /// # Errors
    /// The request would wait too long, or did.
    pub async fn acquire_within(
        &self,
        organization: OrganizationId,
        weight: u32,
        max_wait: Duration,
    ) -> Result<Permit, Overloaded> {
        let place = self.enter(organization, weight, |queues| queues.check_wait(organization, Instant::now()))?;
        let ticket = place.ticket();
        let mut granted = pin!(place.granted());
        if let Ok(permit) = timeout(max_wait, &mut granted).await {
            return Ok(permit);
        }
        let refuse = |ticket| self.shared.lock().refuse(organization, ticket, max_wait, Instant::now());
        match ticket.and_then(refuse) {
            Some(overloaded) => Err(overloaded),
            // Granted at the last moment.
            None => Ok(granted.await),
        }
    }

    /// Refuses a request for one permit as [`acquire`](Self::acquire) would at this moment. Spares the work before it.
    ///
    /// # Errors
    /// The request would wait too long.
    pub fn check(&self, organization: OrganizationId) -> Result<(), Overloaded> {
        self.shared.lock().check_wait(organization, Instant::now())
    }

    /// Waits for permits like [`acquire`](Self::acquire), however long that takes. For background work.
    pub async fn wait(&self, organization: OrganizationId, weight: u32) -> Permit {
        match self.enter(organization, weight, |_| Ok::<_, Infallible>(())) {
            Ok(place) => place.granted().await,
            Err(never) => match never {},
        }
    }

    /// Takes permits if they are free and no request waits.
    pub fn try_acquire(&self, organization: OrganizationId, weight: u32) -> Option<Permit> {
        let weight = weight.min(self.shared.permits);
        let taken = self.shared.lock().try_take(organization, weight);
        taken.then(|| self.shared.permit(organization, weight, Instant::now()))
    }

    /// Returns true if a holder of permits of `organization` that can do without them should return them: a request waits, of the
    /// same organization or of one that holds less, and no organization holds more.
    pub fn is_wanted(&self, organization: OrganizationId) -> bool {
        self.shared.lock().is_wanted(organization)
    }

    /// Returns the number of free permits.
    pub fn available(&self) -> u32 {
        self.shared.lock().available()
    }

    /// Returns the number of permits that are held.
    pub fn in_use(&self) -> u32 {
        self.shared.permits - self.available()
    }

    /// Returns the number of waiting requests.
    pub fn waiting(&self) -> usize {
        self.shared.lock().waiting()
    }

    /// Takes permits, or a place in the queue if `check` permits that.
    fn enter<E>(
        &self,
        organization: OrganizationId,
        weight: u32,
        check: impl FnOnce(&mut Queues<oneshot::Sender<Permit>>) -> Result<(), E>,
    ) -> Result<Place, E> {
        let weight = weight.min(self.shared.permits);
        let mut queues = self.shared.lock();
        if queues.try_take(organization, weight) {
            drop(queues);
            return Ok(Place::Granted(self.shared.permit(organization, weight, Instant::now())));
        }
        check(&mut queues)?;
        let (notify, granted) = oneshot::channel();
        let ticket = queues.push(organization, weight, Instant::now(), notify);
        drop(queues);
        // Others may wait only because their organizations have their share.
        self.shared.grant();
        let leaving = Leaving { shared: Arc::clone(&self.shared), organization, ticket };
        Ok(Place::Waiting { granted, leaving })
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queues<oneshot::Sender<Permit>>> {
        // Code under this lock does not panic.
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn permit(self: &Arc<Self>, organization: OrganizationId, weight: u32, since: Instant) -> Permit {
        Permit { shared: Arc::clone(self), organization, weight, since, is_abandoned: false }
    }

    /// Grants permits as long as there are enough for the next request.
    fn grant(self: &Arc<Self>) {
        loop {
            let next = self.lock().grant(Instant::now());
            let Some(Grant { organization, weight, since, notify }) = next else { return };
            // The permit of a client that has just left is dropped here, outside the lock, and returned.
            let _ = notify.send(self.permit(organization, weight, since));
        }
    }
}

impl Permit {
    /// Adds `other`, which the same organization took from the same semaphore.
    pub fn merge(&mut self, mut other: Permit) {
        debug_assert!(Arc::ptr_eq(&self.shared, &other.shared) && self.organization == other.organization);
        self.weight += std::mem::take(&mut other.weight);
    }

    /// Returns all permits beyond `weight`.
    pub fn shrink(&mut self, weight: u32) {
        let excess = self.weight.saturating_sub(weight);
        self.weight -= excess;
        self.shared.lock().release(self.organization, excess);
        self.shared.grant();
    }

    /// Returns the permits of a request whose client left before its answer. Later requests of the organization may wait less.
    pub fn abandon(mut self) {
        self.is_abandoned = true;
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let now = Instant::now();
        let waited = now - self.since;
        self.shared.lock().put_back(self.organization, self.weight, self.is_abandoned, waited, now);
        self.shared.grant();
    }
}

/// Outcome of a request for permits.
enum Place {
    Granted(Permit),
    Waiting { granted: oneshot::Receiver<Permit>, leaving: Leaving },
}

impl Place {
    fn ticket(&self) -> Option<Ticket> {
        match self {
            Place::Granted(_) => None,
            Place::Waiting { leaving, .. } => Some(leaving.ticket),
        }
    }

    async fn granted(self) -> Permit {
        match self {
            Place::Granted(permit) => permit,
            Place::Waiting { granted, leaving } => match granted.await {
                Ok(permit) => permit,
                // The queue drops a waiting request only when it leaves, and `leaving` is still here.
                Err(_) => {
                    let _still_here = leaving;
                    std::future::pending().await
                }
            },
        }
    }
}

/// Leaves the queue on drop.
struct Leaving {
    shared: Arc<Shared>,
    organization: OrganizationId,
    ticket: Ticket,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        self.shared.lock().leave(self.organization, self.ticket, Instant::now());
        // A request that needed much may have been all that the others waited for.
        self.shared.grant();
    }
}

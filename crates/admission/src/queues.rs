//! Queues of waiting requests by organization, and the order in which they are served.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::time::Duration;

use model::OrganizationId;
use tokio::time::Instant;

use crate::limits::{Limits, Overloaded};
use crate::patience::{LONGEST_RETRY, Patience};

/// Identifies a waiting request.
pub type Ticket = u64;

/// A waiting request of any kind of notification `N`.
struct Waiter<N> {
    ticket: Ticket,
    weight: u32,
    since: Instant,
    notify: N,
}

/// A request that has its permits.
pub struct Grant<N> {
    pub organization: OrganizationId,
    pub weight: u32,
    /// Time at which the request arrived.
    pub since: Instant,
    pub notify: N,
}

/// Place of an organization in the order: permits held, last grant, arrival.
type Place = (u32, u64, Ticket, OrganizationId);

/// Requests of one organization.
struct Queue<N> {
    waiting: VecDeque<Waiter<N>>,
    /// Ticket of the request that found no other one waiting: among organizations served equally long ago, the earlier one is next.
    arrival: Ticket,
    /// Permits that these need.
    needed: usize,
    /// Permits held.
    held: u32,
    /// Number of the last grant: among organizations that hold the same, the one served longest ago is next.
    last_grant: u64,
    patience: Patience,
}

impl<N> Queue<N> {
    fn new(last_grant: u64) -> Self {
        let patience = Patience::default();
        Self { waiting: VecDeque::new(), arrival: 0, needed: 0, held: 0, last_grant, patience }
    }

    fn place(&self, organization: OrganizationId) -> Place {
        (self.held, self.last_grant, self.arrival, organization)
    }
}

/// All queues of a semaphore. Pure: it neither waits nor locks.
pub struct Queues<N> {
    limits: Limits,
    available: u32,
    queues: HashMap<OrganizationId, Queue<N>>,
    /// Organizations with waiting requests, the next to be served first.
    order: BTreeSet<Place>,
    grants: u64,
    tickets: Ticket,
    waiting: usize,
}

impl<N> Queues<N> {
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            available: limits.permits,
            queues: HashMap::new(),
            order: BTreeSet::new(),
            grants: 0,
            tickets: 0,
            waiting: 0,
        }
    }

    pub fn available(&self) -> u32 {
        self.available
    }

    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// Returns true if the shares were fairer without a permit of `organization`: none holds more, and a request waits of the same
    /// organization or of one that holds less.
    pub fn is_wanted(&self, organization: OrganizationId) -> bool {
        let own = self.queues.get(&organization).map_or(0, |queue| queue.held);
        self.queues.values().all(|queue| queue.held <= own)
            && self.order.iter().any(|(held, _, _, waiting)| *waiting == organization || *held < own)
    }

    /// Takes permits without waiting. Never overtakes a waiting request.
    pub fn try_take(&mut self, organization: OrganizationId, weight: u32) -> bool {
        let held = self.queues.get(&organization).map_or(0, |queue| queue.held);
        let fits = self.order.is_empty() && weight <= self.available && self.is_within_share(held, weight);
        if fits {
            self.take(organization, weight);
        }
        fits
    }

    /// Refuses a request that would wait too long.
    pub fn check_wait(&mut self, organization: OrganizationId, now: Instant) -> Result<(), Overloaded> {
        let Some(queue) = self.queues.get_mut(&organization) else { return Ok(()) };
        let (waiting, patience) = (queue.waiting.len(), &mut queue.patience);
        let is_short = patience.expected_wait(waiting) <= patience.permitted(now, self.limits.max_wait);
        if queue.needed < self.limits.max_waiting && is_short {
            return Ok(());
        }
        Err(Overloaded { retry_after: patience.refused(waiting) })
    }

    /// Queues a request.
    pub fn push(&mut self, organization: OrganizationId, weight: u32, now: Instant, notify: N) -> Ticket {
        self.tickets += 1;
        self.waiting += 1;
        let ticket = self.tickets;
        // An idle organization is forgotten, so it must not count as never served: it would overtake those that wait, each time. It
        // comes right before the organization served last, so that one with a queue gets no second turn before it.
        let last_grant = self.grants.saturating_sub(1);
        let queue = self.queues.entry(organization).or_insert_with(|| Queue::new(last_grant));
        if queue.waiting.is_empty() {
            queue.arrival = ticket;
        }
        queue.waiting.push_back(Waiter { ticket, weight, since: now, notify });
        queue.needed += weight as usize;
        self.order.insert(queue.place(organization));
        ticket
    }

    /// Removes a request whose client has left. Does nothing if it has been granted.
    pub fn leave(&mut self, organization: OrganizationId, ticket: Ticket, now: Instant) {
        let max_wait = self.limits.max_wait;
        self.remove(organization, ticket, |queue, since| queue.patience.left(now - since, now, max_wait));
    }

    /// Refuses a request whose client is still there after `max_wait`. `None` if it has been granted.
    pub fn refuse(
        &mut self,
        organization: OrganizationId,
        ticket: Ticket,
        max_wait: Duration,
        now: Instant,
    ) -> Option<Overloaded> {
        self.remove(organization, ticket, |queue, since| {
            queue.patience.stayed(now - since, now);
            Overloaded { retry_after: queue.patience.refused(queue.waiting.len()).max(max_wait).min(LONGEST_RETRY) }
        })
    }

    /// Removes a waiting request, and records its end with the time of its arrival. `None` if it has been granted.
    fn remove<T>(
        &mut self,
        organization: OrganizationId,
        ticket: Ticket,
        record: impl FnOnce(&mut Queue<N>, Instant) -> T,
    ) -> Option<T> {
        let queue = self.queues.get_mut(&organization)?;
        let position = queue.waiting.iter().position(|waiter| waiter.ticket == ticket)?;
        let waiter = queue.waiting.remove(position)?;
        self.waiting -= 1;
        queue.needed -= waiter.weight as usize;
        let recorded = record(queue, waiter.since);
        if queue.waiting.is_empty() {
            self.order.remove(&queue.place(organization));
            self.forget_if_idle(organization);
        }
        Some(recorded)
    }

    /// Returns permits of a request that arrived `waited` ago, and whose client left or received its answer.
    pub fn put_back(&mut self, organization: OrganizationId, weight: u32, left: bool, waited: Duration, now: Instant) {
        if let Some(queue) = self.queues.get_mut(&organization) {
            match left {
                true => queue.patience.left(waited, now, self.limits.max_wait),
                false => queue.patience.stayed(waited, now),
            }
        }
        self.release(organization, weight);
    }

    /// Returns permits that an organization holds.
    pub fn release(&mut self, organization: OrganizationId, weight: u32) {
        self.available += weight;
        let Some(queue) = self.queues.get_mut(&organization) else { return };
        let is_waiting = self.order.remove(&queue.place(organization));
        queue.held -= weight;
        if is_waiting {
            self.order.insert(queue.place(organization));
        } else {
            self.forget_if_idle(organization);
        }
    }

    /// Grants permits to the next request if there are enough: to the organization that holds the least. If its request needs
    /// more than is available, the others wait too, so that a large request is not overtaken forever.
    pub fn grant(&mut self, now: Instant) -> Option<Grant<N>> {
        let next = self.order.iter().find_map(|(held, _, _, organization)| {
            let weight = self.queues.get(organization)?.waiting.front()?.weight;
            self.is_within_share(*held, weight).then_some((*organization, weight))
        });
        let (organization, weight) = next.filter(|(_, weight)| *weight <= self.available)?;
        let queue = self.queues.get_mut(&organization)?;
        self.order.remove(&queue.place(organization));
        let waiter = queue.waiting.pop_front()?;
        self.waiting -= 1;
        queue.needed -= waiter.weight as usize;
        queue.patience.granted(now, queue.waiting.len());
        let waits = !queue.waiting.is_empty();
        self.take(organization, weight);
        if waits && let Some(queue) = self.queues.get(&organization) {
            self.order.insert(queue.place(organization));
        }
        Some(Grant { organization, weight, since: waiter.since, notify: waiter.notify })
    }

    fn take(&mut self, organization: OrganizationId, weight: u32) {
        self.available -= weight;
        self.grants += 1;
        let last_grant = self.grants;
        let queue = self.queues.entry(organization).or_insert_with(|| Queue::new(last_grant));
        queue.held += weight;
        queue.last_grant = last_grant;
    }

    /// Returns true if an organization that holds `held` permits may hold `weight` more. One request is always possible.
    fn is_within_share(&self, held: u32, weight: u32) -> bool {
        held == 0 || held.saturating_add(weight) <= self.limits.per_organization
    }

    fn forget_if_idle(&mut self, organization: OrganizationId) {
        if self.queues.get(&organization).is_some_and(|queue| queue.held == 0 && queue.waiting.is_empty()) {
            self.queues.remove(&organization);
        }
    }
}

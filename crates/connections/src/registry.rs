//! Accounting of the connections of a listener: plain data, without locks and sockets.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;

use crate::Limits;

/// Connections by id. A connection waits for its next request, or serves one.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    last_id: u64,
    /// Orders connections by the begin of their wait.
    last_ticket: u64,
    open: HashMap<u64, Entry>,
    trusted: usize,
    /// Connections per limited source.
    sources: HashMap<IpAddr, usize>,
    /// Waiting connections of limited sources, by ticket.
    waiting: BTreeMap<u64, u64>,
    /// Their tickets, by source.
    waiting_of: BTreeSet<(IpAddr, u64)>,
    /// Waiting connections of trusted sources, by ticket.
    waiting_trusted: BTreeMap<u64, u64>,
}

#[derive(Debug)]
struct Entry {
    /// `None` for trusted sources.
    source: Option<IpAddr>,
    /// Uses in progress; 0 while it waits for a request.
    uses: usize,
    /// Set while it waits.
    ticket: Option<u64>,
}

/// Answer to a new connection.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Admission {
    Admitted { id: u64, replaced: Option<u64> },
    Refused(Reason),
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Reason {
    /// The listener has its maximum of connections.
    Full,
    /// The source has its maximum of connections.
    Address,
}

impl Reason {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Reason::Full => "full",
            Reason::Address => "address",
        }
    }
}

impl Registry {
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Admits a connection of `source` (`None`: trusted). At the limit of its source it replaces the connection of that
    /// source that has waited longest, at the limit of the listener the one of any source.
    pub fn admit(&mut self, source: Option<IpAddr>, limits: &Limits) -> Admission {
        let (victim, reason) = match source {
            Some(source) if self.is_source_full(source, limits) => (self.longest_waiting_of(source), Reason::Address),
            _ if self.is_full(source, limits) => (self.longest_waiting(source, limits), Reason::Full),
            _ => return Admission::Admitted { id: self.insert(source), replaced: None },
        };
        match victim {
            Some(victim) => {
                self.remove(victim);
                Admission::Admitted { id: self.insert(source), replaced: Some(victim) }
            }
            None => Admission::Refused(reason),
        }
    }

    /// Begins a use of a connection. Connections that were replaced are unknown and ignored.
    pub fn begin(&mut self, id: u64) {
        let Some(entry) = self.open.get_mut(&id) else { return };
        entry.uses += 1;
        if let Some(ticket) = entry.ticket.take() {
            let source = entry.source;
            self.forget(source, ticket);
        }
    }

    /// Ends a use. After the last one the connection waits for its next request.
    pub fn end(&mut self, id: u64) {
        let Some(entry) = self.open.get_mut(&id) else { return };
        entry.uses = entry.uses.saturating_sub(1);
        if entry.uses == 0 && entry.ticket.is_none() {
            self.last_ticket += 1;
            entry.ticket = Some(self.last_ticket);
            match entry.source {
                Some(source) => {
                    self.waiting.insert(self.last_ticket, id);
                    self.waiting_of.insert((source, self.last_ticket));
                }
                None => {
                    self.waiting_trusted.insert(self.last_ticket, id);
                }
            }
        }
    }

    pub fn remove(&mut self, id: u64) {
        let Some(entry) = self.open.remove(&id) else { return };
        if let Some(ticket) = entry.ticket {
            self.forget(entry.source, ticket);
        }
        let Some(source) = entry.source else {
            self.trusted -= 1;
            return;
        };
        if let Some(count) = self.sources.get_mut(&source) {
            *count -= 1;
            if *count == 0 {
                self.sources.remove(&source);
            }
        }
    }

    fn insert(&mut self, source: Option<IpAddr>) -> u64 {
        self.last_id += 1;
        match source {
            Some(source) => *self.sources.entry(source).or_default() += 1,
            None => self.trusted += 1,
        }
        self.open.insert(self.last_id, Entry { source, uses: 1, ticket: None });
        self.end(self.last_id);
        self.last_id
    }

    /// Removes a connection from those that wait.
    fn forget(&mut self, source: Option<IpAddr>, ticket: u64) {
        match source {
            Some(source) => {
                self.waiting.remove(&ticket);
                self.waiting_of.remove(&(source, ticket));
            }
            None => {
                self.waiting_trusted.remove(&ticket);
            }
        }
    }

    fn is_source_full(&self, source: IpAddr, limits: &Limits) -> bool {
        let count = self.sources.get(&source).copied().unwrap_or(0);
        limits.per_address > 0 && count >= limits.per_address
    }

    fn is_full(&self, source: Option<IpAddr>, limits: &Limits) -> bool {
        let limited = self.open.len() - self.trusted;
        let unreserved = limits.connections - limits.reserved();
        self.open.len() >= limits.connections || (source.is_some() && limited >= unreserved)
    }

    /// Returns the connection that has waited longest. Trusted ones count only if there is no other, and within their
    /// reserve only for a trusted source.
    fn longest_waiting(&self, source: Option<IpAddr>, limits: &Limits) -> Option<u64> {
        let trusted = if source.is_none() || self.trusted > limits.reserved() {
            self.waiting_trusted.values().next()
        } else {
            None
        };
        self.waiting.values().next().or(trusted).copied()
    }

    fn longest_waiting_of(&self, source: IpAddr) -> Option<u64> {
        let (_, ticket) = self.waiting_of.range((source, 0)..=(source, u64::MAX)).next()?;
        self.waiting.get(ticket).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(last: u8) -> Option<IpAddr> {
        Some(IpAddr::from([203, 0, 113, last]))
    }

    fn limits(connections: usize, per_address: usize) -> Limits {
        Limits { connections, per_address, trusted: vec![] }
    }

    fn admitted(registry: &mut Registry, source: Option<IpAddr>, limits: &Limits) -> (u64, Option<u64>) {
        match registry.admit(source, limits) {
            Admission::Admitted { id, replaced } => (id, replaced),
            Admission::Refused(reason) => panic!("refused: {reason:?}"),
        }
    }

    #[test]
    fn the_connection_that_waited_longest_is_replaced() {
        let (mut registry, limits) = (Registry::default(), limits(3, 0));
        let ids = [1, 2, 3].map(|last| admitted(&mut registry, source(last), &limits).0);
        // The first one is used again, so it has waited for the shortest time.
        registry.begin(ids[0]);
        registry.end(ids[0]);
        assert_eq!(admitted(&mut registry, source(4), &limits).1, Some(ids[1]));
        assert_eq!(admitted(&mut registry, source(5), &limits).1, Some(ids[2]));
        assert_eq!(admitted(&mut registry, source(6), &limits).1, Some(ids[0]));
        assert_eq!(registry.len(), 3);
    }

    #[test]
    fn connections_in_use_are_never_replaced() {
        let (mut registry, limits) = (Registry::default(), limits(2, 0));
        for last in [1, 2] {
            let (id, _) = admitted(&mut registry, source(last), &limits);
            registry.begin(id);
            registry.begin(id);
            registry.end(id);
        }
        assert_eq!(registry.admit(source(3), &limits), Admission::Refused(Reason::Full));
    }

    #[test]
    fn a_source_at_its_limit_replaces_its_own_connections_only() {
        let (mut registry, limits) = (Registry::default(), limits(100, 2));
        let (other, _) = admitted(&mut registry, source(9), &limits);
        let (first, _) = admitted(&mut registry, source(1), &limits);
        let (second, _) = admitted(&mut registry, source(1), &limits);
        let (third, replaced) = admitted(&mut registry, source(1), &limits);
        assert_eq!(replaced, Some(first));
        registry.begin(second);
        registry.begin(third);
        assert_eq!(registry.admit(source(1), &limits), Admission::Refused(Reason::Address));
        registry.remove(second);
        assert_eq!(admitted(&mut registry, source(1), &limits).1, None);
        registry.begin(other);
        assert_eq!(registry.len(), 3);
    }

    #[test]
    fn the_rest_is_reserved_for_trusted_sources() {
        let (mut registry, limits) = (Registry::default(), limits(16, 0));
        for last in 0..14 {
            let (id, _) = admitted(&mut registry, source(last), &limits);
            registry.begin(id);
        }
        assert_eq!(registry.admit(source(99), &limits), Admission::Refused(Reason::Full));
        let trusted = [(); 2].map(|()| admitted(&mut registry, None, &limits).0);
        // The reserve stays with trusted sources, too, while they are idle.
        assert_eq!(registry.admit(source(99), &limits), Admission::Refused(Reason::Full));
        assert_eq!(admitted(&mut registry, None, &limits).1, Some(trusted[0]));
    }

    #[test]
    fn idle_connections_of_a_proxy_beyond_the_reserve_give_way() {
        let (mut registry, limits) = (Registry::default(), limits(8, 0));
        let trusted = [(); 8].map(|()| admitted(&mut registry, None, &limits).0);
        let (id, replaced) = admitted(&mut registry, source(1), &limits);
        assert_eq!(replaced, Some(trusted[0]));
        registry.begin(id);
        assert_eq!(admitted(&mut registry, source(2), &limits).1, Some(trusted[1]));
    }

    #[test]
    fn removed_connections_leave_nothing_behind() {
        let (mut registry, limits) = (Registry::default(), limits(2, 1));
        for round in 0..10 {
            let (id, replaced) = admitted(&mut registry, if round % 2 == 0 { source(1) } else { None }, &limits);
            assert_eq!(replaced, None);
            registry.begin(id);
            registry.remove(id);
            registry.end(id);
        }
        assert!(registry.open.is_empty() && registry.sources.is_empty());
        assert!(registry.waiting.is_empty() && registry.waiting_of.is_empty());
        assert!(registry.waiting_trusted.is_empty() && registry.trusted == 0);
    }
}

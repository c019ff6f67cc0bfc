//! Order of queued work: organizations in turn.

use std::collections::HashMap;

use docstore::{EmbeddingJob, OutboxEntry};
use model::OrganizationId;

/// Work of one organization, or of the web (`None`).
pub trait Owned {
    fn owner(&self) -> Option<OrganizationId>;
}

impl Owned for OutboxEntry {
    fn owner(&self) -> Option<OrganizationId> {
        self.organization_id
    }
}

impl Owned for EmbeddingJob {
    fn owner(&self) -> Option<OrganizationId> {
        self.organization_id
    }
}

/// Orders work so that every organization's first piece precedes all second ones, and so on. A batch that takes only the first
/// pieces takes as many of each organization.
pub fn in_turn<T: Owned>(work: Vec<T>) -> Vec<T> {
    let mut counts: HashMap<Option<OrganizationId>, usize> = HashMap::new();
    let mut numbered: Vec<(usize, T)> = work
        .into_iter()
        .map(|piece| {
            let count = counts.entry(piece.owner()).or_default();
            *count += 1;
            (*count, piece)
        })
        .collect();
    // Stable: pieces with the same number stay in order.
    numbered.sort_by_key(|(number, _)| *number);
    numbered.into_iter().map(|(_, piece)| piece).collect()
}

/// Orders work in turn, beginning with the owners after the one that was served last, in the order of their ids. The web is the first.
pub fn in_turn_after<T: Owned>(served: Option<OrganizationId>, mut work: Vec<T>) -> Vec<T> {
    work.sort_by_key(|piece| (piece.owner() <= served, piece.owner()));
    in_turn(work)
}

#[cfg(test)]
mod tests {
    use docstore::OutboxWork;
    use model::{DocId, IndexName};
    use uuid::Uuid;

    use super::*;

    #[test]
    fn organizations_take_turns_in_the_order_of_their_entries() {
        let entry = |id: i64, organization: u128| OutboxEntry {
            id,
            index_name: IndexName::Workspace,
            work: OutboxWork::Document(DocId(Uuid::from_u128(7))),
            organization_id: (organization > 0).then(|| OrganizationId(Uuid::from_u128(organization))),
        };
        let entries = vec![entry(1, 1), entry(2, 1), entry(3, 1), entry(4, 2), entry(5, 0), entry(6, 2)];
        let ids: Vec<i64> = in_turn(entries).into_iter().map(|entry| entry.id).collect();
        assert_eq!(ids, [1, 4, 5, 2, 6, 3]);
    }

    #[test]
    fn turns_go_on_after_the_owner_that_was_served_last() {
        struct Job(u128);
        impl Owned for Job {
            fn owner(&self) -> Option<OrganizationId> {
                (self.0 > 0).then(|| OrganizationId(Uuid::from_u128(self.0)))
            }
        }
        let order = |served| -> Vec<u128> {
            let jobs = vec![Job(1), Job(1), Job(2), Job(3), Job(0)];
            in_turn_after(Job(served).owner(), jobs).into_iter().map(|job| job.0).collect()
        };
        assert_eq!(order(0), [1, 2, 3, 0, 1]);
        assert_eq!(order(1), [2, 3, 0, 1, 1]);
        assert_eq!(order(3), [0, 1, 2, 3, 1]);
    }
}

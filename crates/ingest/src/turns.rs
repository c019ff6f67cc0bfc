//! Order of outbox entries within a pass: organizations in turn.

use std::collections::HashMap;

use docstore::OutboxEntry;
use model::OrganizationId;

/// Orders entries so that every organization's first entry precedes all second ones, and so on. A batch that takes only the first
/// entries takes as many of each organization.
pub fn in_turn(entries: Vec<OutboxEntry>) -> Vec<OutboxEntry> {
    let mut counts: HashMap<Option<OrganizationId>, usize> = HashMap::new();
    let mut numbered: Vec<(usize, OutboxEntry)> = entries
        .into_iter()
        .map(|entry| {
            let count = counts.entry(entry.organization_id).or_default();
            *count += 1;
            (*count, entry)
        })
        .collect();
    // Stable: entries with the same number stay in the order of their ids.
    numbered.sort_by_key(|(number, _)| *number);
    numbered.into_iter().map(|(_, entry)| entry).collect()
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
}

//! Numbers of list items (HTML, 4.4.5 and 4.4.8).

use dom_query::NodeRef;

/// Largest number of an item in markdown (CommonMark, 5.2). It has no negative numbers.
const MAX: i64 = 999_999_999;

/// Numbers of the items of a list, in order.
pub(super) struct Numbers {
    next: i64,
    step: i64,
}

impl Numbers {
    pub(super) fn of(list: &NodeRef) -> Self {
        let reversed = list.has_attr("reversed");
        let items = || list.children_it(false).filter(|child| child.has_name("li")).count();
        let first = || if reversed { i64::try_from(items()).unwrap_or(MAX) } else { 1 };
        let start = list.attr("start").and_then(|start| integer(&start));
        Self { next: start.unwrap_or_else(first), step: if reversed { -1 } else { 1 } }
    }

    /// Sets the number of the next item to that of its `value` attribute, if it has one.
    pub(super) fn set(&mut self, value: Option<&str>) {
        self.next = value.and_then(integer).unwrap_or(self.next);
    }

    /// Moves on behind an item.
    pub(super) fn advance(&mut self) {
        self.next = self.next.saturating_add(self.step);
    }

    /// Returns the marker of the next item.
    pub(super) fn marker(&self, ordered: bool) -> String {
        if ordered { format!("{}. ", self.next.clamp(0, MAX)) } else { "- ".to_owned() }
    }
}

fn integer(value: &str) -> Option<i64> {
    value.trim().parse().ok()
}

//! Libraries that must not be in the build at all, however deep.

use super::Breach;
use cargo_metadata::{DependencyKind, Metadata, PackageId};
use std::collections::{BTreeMap, VecDeque};

/// A Rust toolchain and a C compiler must suffice to build, and one TLS implementation is enough: rustls on ring.
const BANNED: &[&str] = &["openssl", "openssl-sys", "native-tls", "aws-lc-rs", "aws-lc-sys", "cmake"];

/// Looks for banned libraries among what the workspace's crates are built with, and shows the way to each.
///
/// Dev-dependencies count too, where they are a crate's own: a test that needs OpenSSL fails on a bare machine as well.
pub fn check(metadata: &Metadata) -> Vec<Breach> {
    let Some(resolve) = &metadata.resolve else {
        return vec![Breach::new("cargo metadata has no dependency graph", "run it without --no-deps")];
    };
    let names: BTreeMap<&PackageId, &str> = metadata.packages.iter().map(|p| (&p.id, p.name.as_str())).collect();
    let edges = resolve.nodes.iter().map(|node| {
        let own = metadata.workspace_members.contains(&node.id);
        let used = node.deps.iter().filter(move |dependency| {
            own || dependency.dep_kinds.iter().any(|kind| kind.kind != DependencyKind::Development)
        });
        (&node.id, used.map(|dependency| &dependency.pkg).collect())
    });
    let ways = ways(&metadata.workspace_members.iter().collect::<Vec<_>>(), &edges.collect());
    let mut breaches = Vec::new();
    for way in ways.values() {
        let way: Vec<&str> = way.iter().map(|id| names.get(*id).copied().unwrap_or("?")).collect();
        let Some(last) = way.last().filter(|last| BANNED.contains(last)) else { continue };
        breaches.push(Breach::new(
            format!("`{last}` is built: {}", way.join(" -> ")),
            "turn the feature off that asks for it; TLS is rustls with ring",
        ));
    }
    breaches
}

/// The shortest way from any of `starts` to everything that can be reached.
fn ways<'a, T: Ord>(starts: &[&'a T], edges: &BTreeMap<&'a T, Vec<&'a T>>) -> BTreeMap<&'a T, Vec<&'a T>> {
    let mut ways: BTreeMap<&T, Vec<&T>> = starts.iter().map(|start| (*start, vec![*start])).collect();
    let mut queue: VecDeque<&T> = starts.iter().copied().collect();
    while let Some(here) = queue.pop_front() {
        for next in edges.get(here).into_iter().flatten() {
            if !ways.contains_key(next) {
                let way = ways[here].iter().copied().chain([*next]).collect();
                ways.insert(next, way);
                queue.push_back(next);
            }
        }
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::ways;
    use std::collections::BTreeMap;

    #[test]
    fn the_shortest_way_is_found_and_cycles_end() {
        let edges =
            BTreeMap::from([(&1, vec![&2, &3]), (&2, vec![&4]), (&3, vec![&1]), (&4, vec![&5]), (&6, vec![&7])]);
        let ways = ways(&[&1, &4], &edges);
        assert_eq!(ways[&3], [&1, &3]);
        assert_eq!(ways[&5], [&4, &5]);
        assert!(!ways.contains_key(&7));
    }
}

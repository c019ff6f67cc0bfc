//! Modules of a crate do not depend on each other in circles.
//!
//! The graph is textual: a file is a module, and the paths that it names lead to other files. Names that a module passes
//! on (`pub use`) or imports lead to the module that defines them, and passing a name on is no use of it. A module may use
//! the modules that it is part of, the crate's root included: a folder is one unit, and `super` stays inside it.

use super::paths::{self, Paths};
use super::sources::Source;
use super::{Breach, allowed};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Chains of imports longer than this are not followed.
const MAX_IMPORTS: usize = 8;

/// Finds the cycles of every crate that are not in the list of known ones.
pub fn check(sources: &[Source]) -> Vec<Breach> {
    let mut crates: BTreeMap<&str, Modules> = BTreeMap::new();
    for source in sources {
        if let Some(module) = source.module() {
            crates.entry(&source.krate).or_default().0.insert(module, paths::read(&source.tokens()));
        }
    }
    let mut breaches = Vec::new();
    for (krate, modules) in &crates {
        for cycle in cycles(&modules.edges()) {
            if !is_known(krate, &cycle) {
                breaches.push(Breach::new(
                    format!("`{krate}`: {}", cycle.join(" -> ")),
                    "move what both need into a module of its own, or pass it as an argument",
                ));
            }
        }
    }
    breaches
}

/// Returns true for a cycle whose modules are all in one known group of the crate.
fn is_known(krate: &str, cycle: &[String]) -> bool {
    allowed::CYCLES
        .iter()
        .any(|(known, group)| *known == krate && cycle.iter().all(|module| group.contains(&module.as_str())))
}

/// The modules of a crate by their segments below its root.
#[derive(Default)]
struct Modules(BTreeMap<Vec<String>, Paths>);

impl Modules {
    /// Returns the modules that each module uses.
    fn edges(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (module, paths) in self.0.iter().filter(|(module, _)| !module.is_empty()) {
            let used = edges.entry(module.join("::")).or_default();
            for path in &paths.used {
                let Some(target) = self.resolve(module, &path.segments, MAX_IMPORTS) else { continue };
                let is_part_of_target = module.starts_with(&target);
                let passes_on = path.reexport && target.starts_with(module);
                if !is_part_of_target && !passes_on {
                    used.insert(target.join("::"));
                }
            }
        }
        edges
    }

    /// Returns the module that defines the last name of `path`, as far as files and imports tell.
    fn resolve(&self, from: &[String], path: &[String], imports_left: usize) -> Option<Vec<String>> {
        let mut here = from.to_vec();
        let mut rest = path;
        while let [first, more @ ..] = rest {
            match first.as_str() {
                "crate" => here.clear(),
                "self" => {}
                "super" => drop(here.pop()?),
                _ => break,
            }
            rest = more;
        }
        let relative = rest.len() == path.len();
        for (position, segment) in rest.iter().enumerate() {
            let child = [here.as_slice(), std::slice::from_ref(segment)].concat();
            if self.0.contains_key(&child) {
                here = child;
                continue;
            }
            if relative && position == 0 {
                // The path of another crate, or of an import, which is a path of its own.
                return None;
            }
            let Some(import) = self.0.get(&here).and_then(|paths| paths.imports.get(segment)) else { break };
            let remaining = imports_left.checked_sub(1)?;
            here = self.resolve(&here, import, remaining)?;
        }
        self.0.contains_key(&here).then_some(here)
    }
}

/// Returns one shortest cycle for each group of modules that reach each other.
fn cycles(edges: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<String>> {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut cycles = Vec::new();
    for start in edges.keys() {
        if seen.contains(start) {
            continue;
        }
        if let Some(cycle) = shortest_cycle(edges, start) {
            seen.extend(cycle.iter().cloned());
            cycles.push(cycle);
        }
    }
    cycles
}

/// Returns the shortest way from `start` back to itself.
fn shortest_cycle(edges: &BTreeMap<String, BTreeSet<String>>, start: &str) -> Option<Vec<String>> {
    let mut came_from: BTreeMap<&str, &str> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(here) = queue.pop_front() {
        for next in edges.get(here).into_iter().flatten().map(String::as_str) {
            if next == start {
                let mut cycle = vec![start.to_owned(), here.to_owned()];
                let mut at = here;
                while let Some(previous) = came_from.get(at) {
                    cycle.push((*previous).to_owned());
                    at = previous;
                }
                cycle.reverse();
                return Some(cycle);
            }
            if !came_from.contains_key(next) {
                came_from.insert(next, here);
                queue.push_back(next);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::sources::fake::source;
    use super::check;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<_> = files.iter().map(|(file, text)| source("new-crate", file, text)).collect();
        check(&sources).into_iter().map(|breach| breach.what).collect()
    }

    #[test]
    fn a_cycle_between_siblings_is_found() {
        let files = [
            ("lib.rs", "mod feeder; mod rebuild; mod clock;"),
            ("feeder.rs", "use crate::{clock, rebuild::queue};"),
            ("rebuild.rs", "fn f() { super::feeder::CLEAR; }"),
            ("clock.rs", ""),
        ];
        assert_eq!(found(&files), ["`new-crate`: feeder -> rebuild -> feeder"]);
    }

    #[test]
    fn a_longer_cycle_is_reported_once() {
        let files = [("a.rs", "use crate::b::B;"), ("b.rs", "use crate::c::C;"), ("c/mod.rs", "use crate::a::A;")];
        assert_eq!(found(&files), ["`new-crate`: a -> b -> c -> a"]);
    }

    #[test]
    fn names_passed_on_lead_to_their_definition() {
        let files = [
            ("rows/mod.rs", "mod run; mod id; pub use run::Run; pub use id::Id;"),
            ("rows/run.rs", "use super::Id; use crate::rows::Id as Own;"),
            ("rows/id.rs", ""),
            ("error.rs", "use crate::rows::Run;"),
        ];
        assert_eq!(found(&files), Vec::<String>::new());
    }

    #[test]
    fn a_module_may_use_what_it_is_part_of() {
        let files =
            [("run/mod.rs", "mod file; fn f() { file::read() } struct Job;"), ("run/file.rs", "use super::Job;")];
        assert_eq!(found(&files), Vec::<String>::new());
    }

    #[test]
    fn a_cycle_through_a_child_is_found() {
        let files = [
            ("run/mod.rs", "mod file; fn f() { file::read() }"),
            ("run/file.rs", "use crate::feeder::Feeder;"),
            ("feeder.rs", "use crate::run::file::Job;"),
        ];
        assert_eq!(found(&files), ["`new-crate`: feeder -> run::file -> feeder"]);
    }

    #[test]
    fn the_root_unit_tests_and_other_crates_do_not_count() {
        let files = [
            ("lib.rs", "mod a; use a::A; pub struct Root;"),
            ("a.rs", "use crate::Root; use b::B; use self::Own; mod tests { use crate::b::B; }"),
            ("b.rs", "use crate::a::A;"),
            ("a/tests.rs", "use crate::b::B;"),
        ];
        assert_eq!(found(&files), Vec::<String>::new());
    }
}

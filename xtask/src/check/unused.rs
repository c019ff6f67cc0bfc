//! Each dependency of a manifest is named in the crate's code: those of `[dependencies]` in `src`, those for tests anywhere.

use super::Breach;
use super::sources::Source;
use super::workspace::Crate;
use toml::{Table, Value};

/// Dependencies that no code names, with the reason to keep them.
const KEPT: &[(&str, &str, &str)] = &[
    ("blobs-s3", "md-5", "its library is named `md5`"),
    ("blobs-s3", "xml-rs", "its library is named `xml`"),
    ("docstore", "libsqlite3-sys", "its feature `bundled` builds SQLite, which diesel links"),
    ("extract-worker", "zip", "the tests include a file of the tests of `extract`, which uses it"),
    ("retrieval-server", "base64", "the tests include a file of the tests of `access-tokens`, which uses it"),
    ("retrieval-server", "seccompiler", "the tests include a file of the tests of `extract-worker`, which uses it"),
    ("s3-server", "md-5", "its library is named `md5`"),
];

/// Finds dependencies that no code of their crate names.
pub fn check(crates: &[Crate], sources: &[Source]) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for krate in crates {
        let own: Vec<&Source> = sources.iter().filter(|source| source.krate == krate.name).collect();
        for (name, for_tests) in dependencies(&krate.manifest) {
            let identifier = name.replace('-', "_");
            let kept = KEPT.iter().any(|(owner, kept, _)| *owner == krate.name && *kept == name);
            let mut places = own.iter().filter(|source| for_tests || source.is_built());
            if !kept && !places.any(|source| names(&source.text, &identifier)) {
                let place = if for_tests { "any file" } else { "`src`" };
                breaches.push(Breach::new(
                    format!("`{}` depends on `{name}` and does not name it in {place}", krate.name),
                    "remove it, make it a dev-dependency, or add it with a reason to KEPT in xtask/src/check/unused.rs",
                ));
            }
        }
    }
    breaches
}

/// Returns the names in the dependency tables, with `true` for those that only tests use.
fn dependencies(manifest: &Table) -> Vec<(&str, bool)> {
    let for_targets = manifest.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
    let tables = std::iter::once(manifest).chain(for_targets.filter_map(Value::as_table));
    let kinds = [("dependencies", false), ("build-dependencies", false), ("dev-dependencies", true)];
    tables
        .flat_map(|table| kinds.map(|(kind, for_tests)| (table.get(kind).and_then(Value::as_table), for_tests)))
        .flat_map(|(entries, for_tests)| {
            entries.into_iter().flat_map(Table::keys).map(move |name| (name.as_str(), for_tests))
        })
        .collect()
}

/// Returns true where `text` has `identifier` as the start of a path, or imports it.
fn names(text: &str, identifier: &str) -> bool {
    text.match_indices(identifier).any(|(start, _)| {
        let (before, after) = (&text[..start], &text[start + identifier.len()..]);
        let whole = !before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
            && !after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        let imported = before.ends_with("use ") || before.ends_with("extern crate ");
        whole && (imported || after.starts_with("::") || after.starts_with("!("))
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may end early")]
    use super::super::sources::{Source, fake::source};
    use super::super::workspace::{Crate, fake::library};
    use super::check;

    const MANIFEST: &str = "
        [dependencies]
        tokio-util = { workspace = true }
        [dev-dependencies]
        tempfile.workspace = true
        [target.'cfg(unix)'.dependencies]
        rustix.workspace = true
    ";

    fn found(sources: &[Source]) -> Vec<String> {
        let krate = Crate { manifest: MANIFEST.parse().unwrap(), ..library("app", vec![]) };
        check(&[krate], sources).into_iter().map(|breach| breach.what).collect()
    }

    #[test]
    fn named_dependencies_hold() {
        let test = Source { in_src: None, ..source("app", "it.rs", "use tempfile;") };
        assert_eq!(found(&[source("app", "a.rs", "tokio_util::f(); rustix::g();"), test]), Vec::<String>::new());
    }

    #[test]
    fn dependencies_that_no_code_names_are_found() {
        let code = "// the tokio_util of old\nlet my_rustix = rustixes::f();";
        assert_eq!(
            found(&[source("app", "a.rs", code)]),
            [
                "`app` depends on `tokio-util` and does not name it in `src`",
                "`app` depends on `tempfile` and does not name it in any file",
                "`app` depends on `rustix` and does not name it in `src`",
            ]
        );
    }

    #[test]
    fn a_dependency_that_only_tests_name_is_found() {
        let test = Source { in_src: None, ..source("app", "it.rs", "tokio_util::f(); tempfile::g(); rustix::h();") };
        assert_eq!(
            found(&[test]),
            [
                "`app` depends on `tokio-util` and does not name it in `src`",
                "`app` depends on `rustix` and does not name it in `src`",
            ]
        );
    }
}

//! Manifests take what is shared from the workspace, so that it is changed in one place.

use super::Breach;
use super::workspace::Crate;
use toml::{Table, Value};

const INHERITED: &[&str] = &["version", "edition", "rust-version", "license", "publish"];
const DEPENDENCY_TABLES: &[&str] = &["dependencies", "dev-dependencies", "build-dependencies"];

/// Checks every crate's manifest.
pub fn check(crates: &[Crate]) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for krate in crates {
        for what in faults(&krate.manifest) {
            let cure = format!("write `{}`", what.cure);
            breaches.push(Breach::new(format!("`{}`: {}", krate.name, what.what), cure));
        }
    }
    breaches
}

fn faults(manifest: &Table) -> Vec<Breach> {
    let mut faults = Vec::new();
    let package = manifest.get("package").and_then(Value::as_table);
    for key in INHERITED {
        if !package.and_then(|package| package.get(*key)).is_some_and(from_workspace) {
            faults.push(Breach::new(format!("`{key}` is not the workspace's"), format!("{key}.workspace = true")));
        }
    }
    if !manifest.get("lints").is_some_and(from_workspace) {
        faults.push(Breach::new("the lints are not the workspace's", "[lints] workspace = true"));
    }
    let for_targets = manifest.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
    for tables in std::iter::once(manifest).chain(for_targets.filter_map(Value::as_table)) {
        let entries = DEPENDENCY_TABLES.iter().filter_map(|name| tables.get(*name)?.as_table()).flatten();
        for (name, _) in entries.filter(|(_, entry)| !from_workspace(entry)) {
            faults.push(Breach::new(
                format!("the version of `{name}` is not the workspace's"),
                format!("{name}.workspace = true (and its version into the root's [workspace.dependencies])"),
            ));
        }
    }
    faults
}

fn from_workspace(value: &Value) -> bool {
    value.get("workspace").and_then(Value::as_bool) == Some(true)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may end early")]
    use super::faults;

    const GOOD: &str = "
        [package]
        name = 'x'
        version.workspace = true
        edition.workspace = true
        rust-version.workspace = true
        license.workspace = true
        publish.workspace = true
        [lints]
        workspace = true
        [dependencies]
        tokio = { workspace = true, features = ['io-std'] }
        [target.'cfg(unix)'.dependencies]
        rustix.workspace = true
    ";

    fn found(manifest: &str) -> Vec<String> {
        faults(&manifest.parse().unwrap()).into_iter().map(|breach| breach.what).collect()
    }

    #[test]
    fn a_manifest_that_inherits_holds() {
        assert_eq!(found(GOOD), Vec::<String>::new());
    }

    #[test]
    fn what_is_not_inherited_is_found() {
        assert_eq!(
            found(&GOOD.replace("edition.workspace = true", "edition = '2021'")),
            ["`edition` is not the workspace's"]
        );
        assert_eq!(found(&GOOD.replace("[lints]", "[other]")), ["the lints are not the workspace's"]);
        assert_eq!(
            found(&GOOD.replace("rustix.workspace = true", "rustix = '1'")),
            ["the version of `rustix` is not the workspace's"]
        );
    }
}

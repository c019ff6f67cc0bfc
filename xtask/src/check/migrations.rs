//! Migrations come in pairs: one set of names for both databases, each with a way up and a way down.

use super::Breach;
use anyhow::Context;
use std::collections::BTreeSet;
use std::path::Path;

const DATABASES: [&str; 2] = ["postgres", "sqlite"];

/// Compares `migrations/postgres` with `migrations/sqlite` below `root`.
///
/// # Errors
///
/// When a folder that exists cannot be read.
pub fn check(root: &Path) -> anyhow::Result<Vec<Breach>> {
    let mut breaches = Vec::new();
    let [postgres, sqlite] = DATABASES.map(|database| root.join("migrations").join(database));
    let (in_postgres, in_sqlite) = (folders(&postgres)?, folders(&sqlite)?);
    for (database, names) in [("postgres", &in_postgres), ("sqlite", &in_sqlite)] {
        if names.is_empty() {
            breaches.push(Breach::new(
                format!("migrations/{database} holds no migration"),
                "add a folder for each migration, with up.sql and down.sql",
            ));
        }
        for name in names {
            for file in ["up.sql", "down.sql"] {
                if !root.join("migrations").join(database).join(name).join(file).is_file() {
                    breaches.push(Breach::new(
                        format!("migrations/{database}/{name} has no {file}"),
                        "write it; where nothing is to be done, a comment that says why",
                    ));
                }
            }
        }
    }
    for name in in_postgres.symmetric_difference(&in_sqlite) {
        let missing = if in_sqlite.contains(name) { "postgres" } else { "sqlite" };
        breaches.push(Breach::new(
            format!("migrations/{missing}/{name} is missing"),
            "add it under the same name; where that database needs nothing, a comment that says why",
        ));
    }
    Ok(breaches)
}

/// The names of the folders in `path`; none where it does not exist.
fn folders(path: &Path) -> anyhow::Result<BTreeSet<String>> {
    if !path.is_dir() {
        return Ok(BTreeSet::new());
    }
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(path).with_context(|| format!("cannot read `{}`", path.display()))? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            names.insert(entry.file_name().to_string_lossy().into_owned());
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may end early")]
    use super::check;
    use std::fs;

    fn write(root: &std::path::Path, file: &str) {
        let path = root.join("migrations").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "-- nothing\n").unwrap();
    }

    #[test]
    fn pairs_hold_and_a_missing_half_is_found() {
        let root = tempfile::tempdir().unwrap();
        for file in ["postgres/1_a/up.sql", "postgres/1_a/down.sql", "sqlite/1_a/up.sql", "sqlite/1_a/down.sql"] {
            write(root.path(), file);
        }
        assert_eq!(check(root.path()).unwrap(), []);
        write(root.path(), "sqlite/2_b/up.sql");
        let found: Vec<_> = check(root.path()).unwrap().into_iter().map(|breach| breach.what).collect();
        assert_eq!(found, ["migrations/sqlite/2_b has no down.sql", "migrations/postgres/2_b is missing"]);
    }

    #[test]
    fn no_migrations_at_all_is_a_breach() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(check(root.path()).unwrap().len(), 2);
    }
}

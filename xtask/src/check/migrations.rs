//! Migrations come in pairs: one set of names for both databases, each with a way up and a way down. They only add, since
//! instances of the version before run beside them; one that takes something away records that, and older versions then refuse
//! to start.

use super::Breach;
use anyhow::Context;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const DATABASES: [&str; 2] = ["postgres", "sqlite"];

/// The newest migration from before the rule that migrations only add. Never raise it: earlier ones cannot be changed any more,
/// later ones follow the rule.
const LAST_WITHOUT_RULE: &str = "2026-11-23-000000_term_vectors";
/// Start of the line that says which release stopped using what a migration takes away.
const CONTRACT: &str = "-- contract:";
/// Words after `DROP` in an `ALTER TABLE` that takes no column away.
const NO_COLUMN_DROPPED: [&str; 5] = ["CONSTRAINT", "NOT", "DEFAULT", "EXPRESSION", "IDENTITY"];
/// Words after `ADD` in an `ALTER TABLE` that adds no column.
const NO_COLUMN_ADDED: [&str; 6] = ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "EXCLUDE"];

/// Compares `migrations/postgres` with `migrations/sqlite` below `root`, and finds later migrations that take something away.
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
            let up = root.join("migrations").join(database).join(name).join("up.sql");
            if name.as_str() > LAST_WITHOUT_RULE && up.is_file() {
                let sql = fs::read_to_string(&up).with_context(|| format!("cannot read `{}`", up.display()))?;
                breaches.extend(breaches_of(&format!("migrations/{database}/{name}/up.sql"), name, &sql));
            }
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

/// Finds what is wrong with the `file` of the migration `name`: it takes something away undeclared, or without recording that.
fn breaches_of(file: &str, name: &str, sql: &str) -> Vec<Breach> {
    let record = format!("INSERT INTO contractions (migration) VALUES ('{}');", version(name));
    if !sql.lines().any(|line| line.starts_with(CONTRACT)) {
        let breach = |statement| {
            Breach::new(
                format!("{file} has `{statement}` beside the old version"),
                format!("wait for a later release, and say in a line `{CONTRACT} ...` since when it is unused"),
            )
        };
        return contractions(sql).into_iter().map(breach).collect();
    }
    if sql.lines().any(|line| line.trim() == record) {
        return Vec::new();
    }
    let what = format!("{file} takes something away, and versions that do not know it would start on its database");
    vec![Breach::new(what, format!("add the line `{record}`"))]
}

/// The version of a migration as diesel records it: the digits of its time.
fn version(name: &str) -> String {
    let time = name.split_once('_').map_or(name, |(time, _)| time);
    time.chars().filter(char::is_ascii_digit).collect()
}

/// The statements that versions before cannot work with.
fn contractions(sql: &str) -> Vec<&'static str> {
    let code = sql.lines().map(|line| line.split_once("--").map_or(line, |(code, _)| code));
    let code = code.collect::<Vec<_>>().join("\n").to_uppercase();
    let words = words_of(&code);
    let has = |wanted: &[&str]| contains(&words, wanted);
    let statements: Vec<Vec<&str>> = code.split(';').map(words_of).collect();
    let alters = |is_contraction: fn(&[&str]) -> bool| {
        statements.iter().filter_map(|statement| altered(statement)).any(is_contraction)
    };
    let found = [
        ("DROP TABLE", has(&["DROP", "TABLE"])),
        ("DROP COLUMN", alters(drops_column)),
        ("RENAME", has(&["RENAME"])),
        ("ALTER ... TYPE", (0..words.len()).any(|at| changes_type(&words[at..]))),
        ("SET NOT NULL", has(&["SET", "NOT", "NULL"])),
        ("ADD COLUMN ... NOT NULL", alters(adds_required_column)),
    ];
    found.into_iter().filter(|(_, is_used)| *is_used).map(|(statement, _)| statement).collect()
}

/// The words of a text, without quotes and punctuation.
fn words_of(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect()
}

fn contains(words: &[&str], wanted: &[&str]) -> bool {
    words.windows(wanted.len()).any(|found| found == wanted)
}

/// The words after `ALTER TABLE`; `None` for a statement that alters no table.
fn altered<'a>(statement: &'a [&'a str]) -> Option<&'a [&'a str]> {
    let at = statement.windows(2).position(|found| found == ["ALTER", "TABLE"])?;
    statement.get(at + 2..)
}

/// Returns true if the words after `ALTER TABLE` take a column away. `COLUMN` may be omitted.
fn drops_column(words: &[&str]) -> bool {
    words.windows(2).any(|pair| matches!(pair, ["DROP", next] if !NO_COLUMN_DROPPED.contains(next)))
}

/// Returns true if the words after `ALTER TABLE` add a column which a version before does not fill, as it must. `COLUMN` may be
/// omitted.
fn adds_required_column(words: &[&str]) -> bool {
    let mut additions = words.split(|word| *word == "ADD");
    // The name of the table, and actions before the first addition.
    additions.next();
    additions.any(|addition| {
        // Up to the next action.
        let column = addition.split(|word| ["ALTER", "DROP"].contains(word)).next().unwrap_or_default();
        let adds_column = column.first().is_some_and(|word| !NO_COLUMN_ADDED.contains(word));
        adds_column && contains(column, &["NOT", "NULL"]) && !column.contains(&"DEFAULT")
    })
}

/// Returns true for `ALTER [COLUMN] name [SET DATA] TYPE`; a column that is merely named `type` is none.
fn changes_type(words: &[&str]) -> bool {
    let Some(rest) = words.strip_prefix(&["ALTER"]) else { return false };
    if rest.first() == Some(&"TABLE") {
        return false;
    }
    let rest = rest.strip_prefix(&["COLUMN"]).unwrap_or(rest);
    let rest = rest.get(1..).unwrap_or_default();
    rest.strip_prefix(&["SET", "DATA"]).unwrap_or(rest).first() == Some(&"TYPE")
}

/// The names of the folders in `path`; none where it does not exist.
fn folders(path: &Path) -> anyhow::Result<BTreeSet<String>> {
    if !path.is_dir() {
        return Ok(BTreeSet::new());
    }
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(path).with_context(|| format!("cannot read `{}`", path.display()))? {
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
    use super::{LAST_WITHOUT_RULE, breaches_of, check, contractions};
    use std::fs;

    fn write(root: &std::path::Path, file: &str) {
        write_sql(root, file, "-- nothing\n");
    }

    fn write_sql(root: &std::path::Path, file: &str, sql: &str) {
        let path = root.join("migrations").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, sql).unwrap();
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
    fn later_migrations_only_add() {
        let root = tempfile::tempdir().unwrap();
        for name in [LAST_WITHOUT_RULE, "2026-12-01-000000_a", "2026-12-02-000000_b", "2026-12-03-000000_c"] {
            for database in ["postgres", "sqlite"] {
                let declared = match name.rsplit_once('_') {
                    Some((_, "b")) => {
                        "-- contract: unused since 1.4\nINSERT INTO contractions (migration) VALUES ('20261202000000');\n"
                    }
                    Some((_, "c")) => "-- contract: unused since 1.4\n",
                    _ => "",
                };
                let sql = format!("{declared}ALTER TABLE t DROP COLUMN c;\n");
                write_sql(root.path(), &format!("{database}/{name}/up.sql"), &sql);
                write(root.path(), &format!("{database}/{name}/down.sql"));
            }
        }
        let found: Vec<_> = check(root.path()).unwrap().into_iter().map(|breach| breach.what).collect();
        let expected = [
            "migrations/postgres/2026-12-01-000000_a/up.sql has `DROP COLUMN`",
            "migrations/postgres/2026-12-03-000000_c/up.sql takes something away",
            "migrations/sqlite/2026-12-01-000000_a/up.sql has `DROP COLUMN`",
            "migrations/sqlite/2026-12-03-000000_c/up.sql takes something away",
        ];
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.starts_with(expected), "{found}");
        }
    }

    #[test]
    fn only_a_line_that_starts_with_the_mark_declares() {
        let record = "INSERT INTO contractions (migration) VALUES ('20261201000000');";
        let cases = [
            (format!("  -- contract: not at the start of a line\n{record}\nDROP TABLE t;"), 1),
            (format!("-- contract: unused since 1.4\n{record}\nDROP TABLE t;"), 0),
            ("-- contract: unused since 1.4\nDROP TABLE t;".to_owned(), 1),
        ];
        for (sql, expected) in cases {
            assert_eq!(breaches_of("up.sql", "2026-12-01-000000_a", &sql).len(), expected, "{sql}");
        }
    }

    #[test]
    fn contractions_are_found_in_statements_only() {
        let cases: [(&str, &[&str]); 16] = [
            ("CREATE TABLE t (type TEXT NOT NULL);", &[]),
            ("ALTER TABLE t ADD COLUMN type TEXT; -- no DROP TABLE", &[]),
            ("ALTER TABLE t ALTER COLUMN c DROP NOT NULL;", &[]),
            ("DROP INDEX i; CREATE TABLE IF NOT EXISTS t (a TEXT);", &[]),
            ("drop table\n  if exists t;", &["DROP TABLE"]),
            ("ALTER TABLE t RENAME COLUMN a TO b;", &["RENAME"]),
            ("ALTER TABLE t ALTER COLUMN c TYPE TEXT COLLATE \"C\";", &["ALTER ... TYPE"]),
            ("ALTER TABLE t ALTER c SET DATA TYPE TEXT, ALTER d SET NOT NULL;", &["ALTER ... TYPE", "SET NOT NULL"]),
            ("  -- a comment\nDROP TABLE t;", &["DROP TABLE"]),
            ("ALTER TABLE t DROP c;", &["DROP COLUMN"]),
            ("ALTER TABLE t ADD a INT, DROP COLUMN IF EXISTS c;", &["DROP COLUMN"]),
            ("ALTER TABLE t DROP CONSTRAINT c, ALTER d DROP DEFAULT; DROP TRIGGER r ON t;", &[]),
            ("ALTER TABLE t ADD c INT NOT NULL;", &["ADD COLUMN ... NOT NULL"]),
            ("ALTER TABLE t ADD a INT, ADD CONSTRAINT c CHECK (b IS NOT NULL), ALTER d DROP NOT NULL;", &[]),
            ("ALTER TABLE t ADD COLUMN a INT NOT NULL;", &["ADD COLUMN ... NOT NULL"]),
            (
                "ALTER TABLE t ADD COLUMN a INT NOT NULL DEFAULT 0, ADD COLUMN b INT; CREATE TABLE u (c INT NOT NULL);",
                &[],
            ),
        ];
        for (sql, expected) in cases {
            assert_eq!(contractions(sql), expected, "{sql}");
        }
    }

    #[test]
    fn no_migrations_at_all_is_a_breach() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(check(root.path()).unwrap().len(), 2);
    }
}

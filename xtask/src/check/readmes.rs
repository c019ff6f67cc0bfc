//! Each crate has a README whose first heading is the package's name.

use super::Breach;
use super::openings::headings;
use super::workspace::Crate;

/// Checks the README of every crate.
pub fn check(crates: &[Crate]) -> Vec<Breach> {
    crates
        .iter()
        .filter_map(|krate| fault(&krate.name, std::fs::read_to_string(krate.folder.join("README.md"))))
        .collect()
}

fn fault(name: &str, readme: std::io::Result<String>) -> Option<Breach> {
    let readme = readme.unwrap_or_default();
    if readme.trim().is_empty() {
        return Some(Breach::new(
            format!("`{name}` has no README.md"),
            "state the crate's purpose, its shape and its invariants",
        ));
    }
    let first = headings(&readme).first().map_or("", |(_, heading)| heading);
    (first != name).then(|| {
        Breach::new(format!("the README of `{name}` begins with the heading `{first}`"), format!("write `# {name}`"))
    })
}

#[cfg(test)]
mod tests {
    use super::fault;

    fn found(readme: std::io::Result<String>) -> Option<String> {
        fault("app", readme).map(|breach| breach.what)
    }

    #[test]
    fn the_first_heading_is_the_package_name() {
        assert_eq!(found(Ok("# app\n\n## More\n".to_owned())), None);
        assert_eq!(
            found(Ok("# Use cases\n".to_owned())).as_deref(),
            Some("the README of `app` begins with the heading `Use cases`")
        );
    }

    #[test]
    fn a_missing_or_empty_readme_is_found() {
        let missing = Err(std::io::ErrorKind::NotFound.into());
        for readme in [missing, Ok("\n".to_owned())] {
            assert_eq!(found(readme).as_deref(), Some("`app` has no README.md"));
        }
    }
}

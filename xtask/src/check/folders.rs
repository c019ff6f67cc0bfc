//! Each crate's folder is named after its package.

use super::workspace::Crate;
use super::{Breach, allowed};

/// Compares the folder of each crate below `crates/` and `bins/` with its package name.
pub fn check(crates: &[Crate]) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for krate in crates {
        let folder = krate.folder.file_name().unwrap_or_default().to_string_lossy();
        if folder != krate.name && !allowed::FOLDERS.contains(&krate.name.as_str()) {
            breaches.push(Breach::new(
                format!("the folder of `{}` is `{folder}`", krate.name),
                format!("rename it with `git mv`, and its path in the root's Cargo.toml, to `{}`", krate.name),
            ));
        }
    }
    breaches
}

#[cfg(test)]
mod tests {
    use super::super::workspace::{Crate, fake::library};
    use super::check;

    #[test]
    fn a_folder_with_another_name_is_found() {
        let krate = |name, folder: &str| Crate { folder: folder.into(), ..library(name, vec![]) };
        let found = check(&[krate("app", "crates/app"), krate("engine", "crates/search-engine")]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].what, "the folder of `engine` is `search-engine`");
    }
}

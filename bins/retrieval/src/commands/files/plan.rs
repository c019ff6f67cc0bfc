//! Upload plan of a selection.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::SystemTime;

use retrieval_client::types::FileEntry;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::select::Selected;
use crate::cli::Names;
use crate::failure::Failure;

/// Maximum number of collisions shown.
const MAX_SHOWN: usize = 10;

/// Rejects a selection with two files of the same stored name, because the second would replace the first.
///
/// # Errors
/// Returns [`Failure::Usage`] with the names and paths.
pub fn reject_collisions(files: &[Selected], names: Names) -> Result<(), Failure> {
    let mut by_name: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for file in files {
        by_name.entry(&file.name).or_default().push(file.path.display().to_string());
    }
    let collisions: Vec<String> = by_name
        .iter()
        .filter(|(_, paths)| paths.len() > 1)
        .map(|(name, paths)| format!("  {name}: {}", paths.join(", ")))
        .collect();
    if collisions.is_empty() {
        return Ok(());
    }
    let more = collisions.len().saturating_sub(MAX_SHOWN);
    let more = if more > 0 { format!("\n  and {more} more") } else { String::new() };
    let shown = collisions[..collisions.len().min(MAX_SHOWN)].join("\n");
    let advice = match names {
        Names::File => "use --names path to include folders in names",
        Names::Path => "rename some of them",
    };
    let message =
        format!("several files would have the same stored name; nothing was uploaded: {advice}\n{shown}{more}");
    Err(Failure::Usage(message))
}

/// Splits files into changed and unchanged ones.
///
/// A file is unchanged if the workspace has one of the same name and size that was uploaded after the local file was
/// last written, and it has the given labels, which are [normalized](super::labels::normalize). The API does not expose
/// file digests, so a file reset to an older time with the same size is missed; `--force` uploads it.
/// Uploads in the second in which the file was written may be repeated: the times of stored files have whole seconds.
pub fn split_changed(
    files: Vec<Selected>,
    stored: &[FileEntry],
    labels: Option<&[String]>,
) -> (Vec<Selected>, Vec<Selected>) {
    let stored: HashMap<&str, &FileEntry> = stored.iter().map(|entry| (entry.name.as_str(), entry)).collect();
    let labels = labels.map(|labels| labels.iter().collect::<BTreeSet<_>>());
    let has_labels = |entry: &FileEntry| {
        labels.as_ref().is_none_or(|labels| *labels == entry.labels.iter().collect::<BTreeSet<_>>())
    };
    files.into_iter().partition(|file| {
        !stored.get(file.name.as_str()).is_some_and(|entry| is_unchanged(file, entry) && has_labels(entry))
    })
}

fn is_unchanged(file: &Selected, entry: &FileEntry) -> bool {
    let Ok(uploaded) = OffsetDateTime::parse(&entry.last_modified, &Rfc3339) else { return false };
    let same_size = u64::try_from(entry.size) == Ok(file.size);
    same_size && file.modified.is_some_and(|modified| modified <= SystemTime::from(uploaded))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::files::labels;
    use std::time::Duration;

    fn file(name: &str, path: &str, size: u64, seconds: u64) -> Selected {
        let modified = Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        Selected { path: path.into(), name: name.to_owned(), original_name: name.to_owned(), size, modified }
    }

    #[test]
    fn name_collisions_are_rejected() {
        let files = [file("a.md", "x/a.md", 1, 0), file("b.md", "x/b.md", 1, 0), file("a.md", "y/a.md", 1, 0)];
        let rejected = |names| match reject_collisions(&files, names) {
            Err(Failure::Usage(message)) => message,
            other => panic!("{other:?}"),
        };
        let message = rejected(Names::File);
        assert!(message.contains("a.md: x/a.md, y/a.md") && !message.contains("b.md"), "{message}");
        assert!(message.contains("--names path") && !rejected(Names::Path).contains("--names"));
        assert!(reject_collisions(&files[..2], Names::File).is_ok());
    }

    fn entry(name: &str, size: i64, labels: &[&str]) -> FileEntry {
        FileEntry {
            name: name.to_owned(),
            size,
            last_modified: "1970-01-01T00:01:40.5Z".to_owned(),
            doc_id: None,
            canonical_url: None,
            status: None,
            reason: None,
            indexed_at: None,
            labels: labels.iter().map(|label| (*label).to_owned()).collect(),
        }
    }

    #[test]
    fn labels_are_compared_as_they_are_stored() {
        for (given, stored, is_unchanged) in [
            ("e\u{301}", "\u{e9}", true),
            ("Finance|finance", "Finance", true),
            (" Q3|finance", "finance|Q3", true),
            ("finance", "finance|Q3", false),
            ("Finance", "finance", false),
        ] {
            let given: Vec<String> = given.split('|').map(str::to_owned).collect();
            let labels = labels::normalize(&given).expect("valid labels");
            let stored: Vec<&str> = stored.split('|').collect();
            let files = vec![file("a.md", "a.md", 5, 100)];
            let (_, unchanged) = split_changed(files, &[entry("a.md", 5, &stored)], labels.as_deref());
            assert_eq!(unchanged.len() == 1, is_unchanged, "{given:?} {stored:?}");
        }
    }

    #[test]
    fn unchanged_files_have_equal_size_and_older_time() {
        let entry = |name: &str, size| entry(name, size, &["finance"]);
        let stored = [entry("same", 5), entry("longer", 5), entry("newer", 5), entry("odd", 5)];
        let files = vec![
            file("same", "same", 5, 100),
            file("longer", "longer", 6, 100),
            file("newer", "newer", 5, 101),
            file("missing", "missing", 5, 100),
        ];
        let names = |files: Vec<Selected>| files.into_iter().map(|file| file.name).collect::<Vec<_>>();
        let relabelled = split_changed(files.clone(), &stored, Some(&["other".to_owned()]));
        assert_eq!(names(relabelled.1), Vec::<String>::new());
        let (upload, keep) = split_changed(files, &stored, Some(&["finance".to_owned()]));
        assert_eq!(
            (names(upload), names(keep)),
            (vec!["longer".into(), "newer".into(), "missing".into()], vec!["same".to_owned()])
        );
    }
}

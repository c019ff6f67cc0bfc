//! Doc comments open with a verb or a noun phrase, and README headings do not open with a question word.

use super::Breach;
use super::allowed;
use super::ratchet::Places;
use super::sources::Source;
use super::workspace::Crate;
use std::path::Path;

const BANNED: &[&str] = &[
    "What", "Who", "Whose", "Whom", "For whom", "Whether", "Where", "When", "Why", "How", "That", "As above",
    "The same",
];

const CURE: &str = "open with a verb (`Returns ...`) or a noun phrase (`Fixed-window counter ...`)";

/// Checks the first line of every doc comment and every heading of the documentation.
///
/// # Errors
///
/// When a documentation file that exists cannot be read.
pub fn check(sources: &[Source], crates: &[Crate], root: &Path) -> anyhow::Result<Vec<Breach>> {
    let mut places = Places::default();
    for source in sources {
        for (line, text) in doc_openings(&source.text).filter(|(_, text)| is_banned(text)) {
            places.add(&source.krate, format!("{}:{line} {text}", source.file));
        }
    }
    let readmes = crates.iter().map(|krate| (krate.name.clone(), krate.folder.join("README.md")));
    let shared = documents(root)?.into_iter().map(|path| ("docs".to_owned(), path));
    for (owner, path) in readmes.chain(shared) {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let file = path.strip_prefix(root).unwrap_or(&path).display();
        for (line, heading) in headings(&text).into_iter().filter(|(_, heading)| is_banned(heading)) {
            places.add(&owner, format!("{file}:{line} {heading}"));
        }
    }
    Ok(places.beyond(allowed::OPENINGS, CURE))
}

/// Returns the documents of the repository as a whole: those at its root, in `docs` and one level below it.
fn documents(root: &Path) -> anyhow::Result<Vec<std::path::PathBuf>> {
    let mut documents = Vec::new();
    for folder in [root.to_path_buf(), root.join("docs"), root.join("docs/adr")] {
        if folder.is_dir() {
            for entry in std::fs::read_dir(folder)? {
                documents.push(entry?.path());
            }
        }
    }
    documents.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    documents.sort();
    Ok(documents)
}

/// Returns the first line of each doc comment with its line number.
fn doc_openings(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut previous = None;
    text.lines().enumerate().filter_map(move |(number, line)| {
        let doc = doc_line(line);
        let opens = doc.is_some() && doc.map(|(mark, _)| mark) != previous;
        previous = doc.map(|(mark, _)| mark);
        doc.filter(|_| opens).map(|(_, text)| (number + 1, text))
    })
}

/// Returns the mark and the text of a line of a doc comment.
fn doc_line(line: &str) -> Option<(&'static str, &str)> {
    let line = line.trim_start();
    ["///", "//!"].into_iter().find_map(|mark| {
        let text = line.strip_prefix(mark)?;
        (!text.starts_with('/')).then(|| (mark, text.trim()))
    })
}

/// Returns the headings of a markdown text, without those that only look so inside code blocks.
pub fn headings(markdown: &str) -> Vec<(usize, &str)> {
    let mut in_code = false;
    let mut headings = Vec::new();
    for (number, line) in markdown.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code && line.starts_with('#') {
            headings.push((number + 1, line.trim_start_matches('#').trim()));
        }
    }
    headings
}

fn is_banned(text: &str) -> bool {
    let text = text.trim_start_matches(['*', '_']);
    BANNED.iter().any(|opening| {
        text.strip_prefix(opening).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    })
}

#[cfg(test)]
mod tests {
    use super::super::sources::fake::source;
    use super::{check, doc_openings, headings, is_banned};
    use std::path::Path;

    #[test]
    fn question_words_are_found_as_whole_words_only() {
        for text in ["What it is", "That which", "How", "The same, later", "**When** it fails", "Whether, or not"] {
            assert!(is_banned(text), "{text}");
        }
        for text in ["Whatever comes", "Returns what it is", "Howl", "The sameness", "Thatch", ""] {
            assert!(!is_banned(text), "{text}");
        }
    }

    #[test]
    fn only_the_first_line_of_a_doc_comment_counts() {
        let marks = ["//", "/"].concat();
        let text = format!("{marks} A\n{marks} What\nfn a() {{}}\n    {marks} Who\n{marks}/ How\n// Why\n");
        assert_eq!(doc_openings(&text).collect::<Vec<_>>(), [(1, "A"), (4, "Who")]);
    }

    #[test]
    fn headings_in_code_blocks_do_not_count() {
        assert_eq!(headings("# a\n```sh\n# What\n```\ntext\n## b\n"), [(1, "a"), (6, "b")]);
    }

    #[test]
    fn a_banned_opening_is_reported_with_its_place() {
        let text = format!("{} Whether it is\nfn a() {{}}\n", ["//", "/"].concat());
        let found = check(&[source("new-crate", "a.rs", &text)], &[], Path::new("no-such-folder")).unwrap_or_default();
        assert_eq!(
            found[0].what,
            "`new-crate` has 1, none is allowed:\n           crates/new-crate/src/a.rs:1 Whether it is"
        );
    }
}

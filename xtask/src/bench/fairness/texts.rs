//! Long text files of an organization.

use crate::bench::generate::Writer;
use crate::bench::workspace::{File, Workspace};
use anyhow::Context;

/// Long text whose rotations are different files with the same sentences.
pub struct LongText {
    text: String,
}

impl LongText {
    /// Generates `bytes` of prose.
    pub fn new(seed: u64, bytes: usize) -> Self {
        Self { text: Writer::new(seed).text(bytes) }
    }

    /// Returns the file `number` of `count`.
    pub fn file(&self, number: usize, count: usize) -> File {
        let middle = self.text.len() * number / count.max(1);
        let cut = self.text[middle..].find("\n\n").map_or(0, |at| middle + at);
        let (head, tail) = self.text.split_at(cut);
        File { name: format!("long {number}.txt"), bytes: format!("File {number}.\n\n{tail}\n\n{head}").into_bytes() }
    }

    /// Returns `count` phrases of three words, which occur in every file.
    pub fn phrases(&self, count: usize) -> Vec<String> {
        let sentences = self.text.split(['.', '\n']).filter(|sentence| sentence.split_whitespace().count() > 4);
        let step = (self.text.len() / 200 / count.max(1)).max(1);
        let phrase = |sentence: &str| sentence.split_whitespace().skip(1).take(3).collect::<Vec<_>>().join(" ");
        sentences.step_by(step).take(count).map(phrase).collect()
    }
}

/// Uploads files one by one, so that only one is in memory, and indexes them.
///
/// # Errors
///
/// Returns an error if an upload or the run fails.
pub fn index(workspace: &Workspace<'_>, files: impl Iterator<Item = File>) -> anyhow::Result<()> {
    for file in files {
        workspace.upload(&[file], 1)?;
    }
    let run = workspace.index("incremental", || ())?;
    anyhow::ensure!(run.count("failed") == 0, "the run could not index some files: {}", run.stats);
    Ok(())
}

/// Indexes one text file of `bytes` and returns the id of its document.
///
/// # Errors
///
/// Returns an error if it cannot be indexed or found.
pub fn document(workspace: &Workspace<'_>, seed: u64, bytes: usize) -> anyhow::Result<String> {
    let text = LongText::new(seed, bytes);
    let query = text.phrases(1).concat();
    index(workspace, std::iter::once(text.file(0, 1)))?;
    let found = workspace.search(&query)?;
    let id = found["results"][0]["doc_id"].as_str().context("the indexed file is not found")?;
    Ok(id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::LongText;

    #[test]
    fn files_differ_and_have_the_same_phrases() {
        let text = LongText::new(1, 200_000);
        let [first, second] = [0, 3].map(|number| String::from_utf8_lossy(&text.file(number, 4).bytes).into_owned());
        assert!(first.len() > 200_000 && first[10..100] != second[10..100]);
        let phrases = text.phrases(8);
        assert_eq!(phrases.len(), 8);
        for phrase in phrases {
            assert!(first.contains(&phrase) && second.contains(&phrase), "{phrase}");
        }
    }
}

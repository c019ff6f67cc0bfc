//! Documents and queries for measurements.

use anyhow::{Context, bail};
use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;

/// Documents to import and queries to send.
pub struct Collection {
    pub name: String,
    pub documents: Vec<Document>,
    pub queries: Vec<String>,
}

/// Document in BEIR format (`corpus.jsonl`).
#[derive(Debug, Deserialize, PartialEq, Eq)]
pub struct Document {
    #[serde(rename = "_id")]
    pub id: String,
    #[serde(default)]
    pub title: String,
    pub text: String,
}

impl Document {
    /// Returns title and text as one, as models read them.
    pub fn whole(&self) -> String {
        format!("{}\n{}", self.title, self.text)
    }
}

/// Query in BEIR format (`queries.jsonl`).
#[derive(Deserialize)]
struct Query {
    text: String,
}

impl Collection {
    /// Reads a folder in BEIR format. Skips documents without text.
    ///
    /// # Errors
    ///
    /// Returns an error for a missing file, an invalid line, or a collection without documents or queries.
    pub fn read(folder: &Path) -> anyhow::Result<Self> {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut documents: Vec<Document> = lines(folder, "corpus.jsonl")?;
        documents.retain(|document| !document.text.trim().is_empty());
        let queries: Vec<Query> = lines(folder, "queries.jsonl")?;
        let queries: Vec<String> = queries.into_iter().map(|query| query.text).collect();
        if documents.is_empty() || queries.is_empty() {
            bail!("`{}` has no documents or no queries", folder.display());
        }
        Ok(Self { name, documents, queries })
    }

    /// Returns the title for reports.
    pub fn title(&self) -> String {
        let Self { name, documents, queries } = self;
        format!("{name} ({} documents, {} queries)", documents.len(), queries.len())
    }

    /// Returns the size of all titles and texts in bytes.
    pub fn bytes(&self) -> usize {
        self.documents.iter().map(|document| document.title.len() + document.text.len()).sum()
    }

    /// Writes the documents as JSON lines for `retrieval-server web import`.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written.
    pub fn write_import(&self, path: &Path) -> anyhow::Result<()> {
        let mut out = std::io::BufWriter::new(File::create(path)?);
        for document in &self.documents {
            let url = format!("https://{}.example/{}", self.name, document.id);
            let line =
                serde_json::json!({"url": url, "title": document.title, "text": document.text, "language": "en"});
            serde_json::to_writer(&mut out, &line)?;
            out.write_all(b"\n")?;
        }
        Ok(out.flush()?)
    }
}

/// Reads JSON lines from `name` or `name`.gz in `folder`.
pub fn lines<T: DeserializeOwned>(folder: &Path, name: &str) -> anyhow::Result<Vec<T>> {
    let (plain, packed) = (folder.join(name), folder.join(format!("{name}.gz")));
    let (path, is_packed) = if plain.is_file() { (plain, false) } else { (packed, true) };
    let file = File::open(&path).with_context(|| format!("`{}` has no {name} or {name}.gz", folder.display()))?;
    let reader: Box<dyn Read> = if is_packed { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
    let mut values = Vec::new();
    for (number, line) in BufReader::new(reader).lines().enumerate() {
        let line = line.with_context(|| format!("cannot read `{}`", path.display()))?;
        if !line.trim().is_empty() {
            let at = || format!("{}:{}", path.display(), number + 1);
            values.push(serde_json::from_str(&line).with_context(at)?);
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may end early")]
    use super::Collection;
    use std::fs;
    use std::io::Write;

    #[test]
    fn packed_collection_is_read_and_written_as_an_import() {
        let folder = tempfile::tempdir().unwrap();
        let corpus = fs::File::create(folder.path().join("corpus.jsonl.gz")).unwrap();
        let mut corpus = flate2::write::GzEncoder::new(corpus, flate2::Compression::fast());
        corpus
            .write_all(b"{\"_id\":\"1\",\"title\":\"A\",\"text\":\"b c\"}\n{\"_id\":\"2\",\"text\":\" \"}\n")
            .unwrap();
        corpus.finish().unwrap();
        fs::write(folder.path().join("queries.jsonl"), "{\"_id\":\"q\",\"text\":\"b?\"}\n").unwrap();

        let collection = Collection::read(folder.path()).unwrap();
        assert_eq!((collection.documents.len(), collection.bytes()), (1, 4));
        assert_eq!(collection.queries, ["b?"]);

        let import = folder.path().join("import.jsonl");
        collection.write_import(&import).unwrap();
        let line: serde_json::Value = serde_json::from_str(&fs::read_to_string(import).unwrap()).unwrap();
        assert_eq!((&line["title"], &line["text"]), (&"A".into(), &"b c".into()));
        assert!(line["url"].as_str().unwrap().starts_with("https://"));
    }

    #[test]
    fn invalid_line_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("corpus.jsonl"), "{\"_id\":\"1\",\"text\":\"a\"}\n{\"id\":2}\n").unwrap();
        let error = Collection::read(folder.path()).err().unwrap();
        assert!(format!("{error:#}").contains("corpus.jsonl:2"), "{error:#}");
    }
}

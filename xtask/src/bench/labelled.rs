//! Collection with judged queries, and the measure of ranking quality on it.

use super::check_interrupt;
use super::collection::{self, Collection};
use anyhow::Context;
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;

/// Cut-off of the measure.
pub const K: usize = 10;

/// Query in BEIR format.
#[derive(Deserialize)]
pub struct Query {
    #[serde(rename = "_id")]
    pub id: String,
    pub text: String,
}

/// Collection with its queries and judgements.
pub struct Labelled {
    pub collection: Collection,
    pub queries: Vec<Query>,
    pub judgements: Judgements,
}

impl Labelled {
    /// Reads a folder in BEIR format, with `qrels/test.tsv`.
    ///
    /// # Errors
    ///
    /// Returns an error for a missing file or an invalid line.
    pub fn read(folder: &Path) -> anyhow::Result<Self> {
        Ok(Self {
            collection: Collection::read(folder)?,
            queries: collection::lines(folder, "queries.jsonl")?,
            judgements: Judgements::read(&folder.join("qrels/test.tsv"))?,
        })
    }

    /// Returns the mean nDCG@10 of the judged queries. `search` returns ids of documents, best first.
    ///
    /// # Errors
    ///
    /// Returns the first error of a search.
    pub fn ndcg(&self, mut search: impl FnMut(&str) -> anyhow::Result<Vec<String>>) -> anyhow::Result<f64> {
        let mut found = Vec::new();
        for query in self.queries.iter().filter(|query| self.judgements.0.contains_key(&query.id)) {
            check_interrupt()?;
            found.push((query.id.clone(), search(&query.text)?));
        }
        Ok(self.judgements.ndcg(&found))
    }
}

/// Returns the ids of the documents that a search of the service found, best first: the last segments of their addresses.
pub fn found(answer: &Value) -> Vec<String> {
    let urls = answer["results"].as_array().into_iter().flatten().filter_map(|hit| hit["canonical_url"].as_str());
    urls.filter_map(|url| url.rsplit('/').next()).map(str::to_owned).collect()
}

/// Grades of relevant documents by query.
pub struct Judgements(HashMap<String, HashMap<String, f64>>);

impl Judgements {
    /// Returns the ids of the documents that are relevant to a query.
    pub fn relevant(&self, query: &str) -> impl Iterator<Item = &str> {
        self.0.get(query).into_iter().flatten().map(|(document, _)| document.as_str())
    }

    /// Reads lines of query, document and grade, after a heading. Skips documents that are not relevant.
    fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
        let mut judgements: HashMap<String, HashMap<String, f64>> = HashMap::new();
        for line in text.lines().skip(1) {
            let mut columns = line.split('\t');
            if let (Some(query), Some(document), Some(grade)) = (columns.next(), columns.next(), columns.next()) {
                let grade: f64 = grade.trim().parse().with_context(|| format!("`{line}` in `{}`", path.display()))?;
                if grade > 0.0 {
                    judgements.entry(query.to_owned()).or_default().insert(document.to_owned(), grade);
                }
            }
        }
        Ok(Self(judgements))
    }

    /// Returns the mean of nDCG@10 over the queries with relevant documents, given the ids that each found, best first.
    pub fn ndcg(&self, found: &[(String, Vec<String>)]) -> f64 {
        let gain = |grades: &mut dyn Iterator<Item = f64>| {
            grades.take(K).zip(2..).map(|(grade, rank)| grade / f64::from(rank).log2()).sum::<f64>()
        };
        let values = found.iter().filter_map(|(query, found)| {
            let grades = self.0.get(query)?;
            let mut ideal: Vec<f64> = grades.values().copied().collect();
            ideal.sort_by(|one, other| other.total_cmp(one));
            let reached = gain(&mut found.iter().map(|id| grades.get(id).copied().unwrap_or_default()));
            Some(reached / gain(&mut ideal.into_iter()))
        });
        let values: Vec<f64> = values.collect();
        values.iter().sum::<f64>() / values.len().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ndcg_compares_with_the_best_order() {
        let grades = HashMap::from([("a".to_owned(), 1.0), ("b".to_owned(), 1.0)]);
        let judgements = Judgements(HashMap::from([("q".to_owned(), grades)]));
        let ndcg = |ids: &[&str]| {
            let ids = ids.iter().map(|id| (*id).to_owned()).collect();
            judgements.ndcg(&[("q".to_owned(), ids), ("unjudged".to_owned(), vec![])])
        };
        assert!((ndcg(&["b", "a"]) - 1.0).abs() < 1e-9);
        assert!((ndcg(&["x", "a"]) - 0.386_85).abs() < 1e-4);
        assert!(ndcg(&[]).abs() < 1e-9);
        assert_eq!((judgements.relevant("q").count(), judgements.relevant("unjudged").count()), (2, 0));
    }
}

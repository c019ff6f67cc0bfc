//! Pages that providers found, merged.

use std::collections::HashMap;
use std::sync::Arc;

use model::DocId;
use retrieval_core::blend;
use web_providers::{Applied, WebResponse, WebResult};

/// Page that one or more providers found.
#[derive(Clone, Debug)]
pub struct FoundPage {
    /// The longest of the snippets, with the first title, date and language.
    pub result: WebResult,
    /// Filters that one of its providers applied.
    pub applied: Applied,
}

/// Merges the answers of all providers by reciprocal rank fusion.
pub fn merge(answers: &[Arc<WebResponse>]) -> Vec<FoundPage> {
    let mut pages: HashMap<DocId, FoundPage> = HashMap::new();
    let mut lists: Vec<Vec<DocId>> = Vec::with_capacity(answers.len());
    for answer in answers {
        for result in &answer.results {
            match pages.get_mut(&result.doc_id()) {
                Some(page) => page.add(result, answer.applied),
                None => {
                    pages.insert(result.doc_id(), FoundPage { result: result.clone(), applied: answer.applied });
                }
            }
        }
        lists.push(answer.results.iter().map(WebResult::doc_id).collect());
    }
    blend::fuse(&lists).into_iter().filter_map(|(doc_id, _)| pages.remove(&doc_id)).collect()
}

impl FoundPage {
    fn add(&mut self, other: &WebResult, applied: Applied) {
        let own = &mut self.result;
        if other.snippet.len() > own.snippet.len() {
            own.snippet.clone_from(&other.snippet);
        }
        if own.title.is_empty() {
            own.title.clone_from(&other.title);
        }
        own.published_at = own.published_at.or(other.published_at);
        own.language = own.language.take().or_else(|| other.language.clone());
        self.applied = Applied {
            country: self.applied.country || applied.country,
            language: self.applied.language || applied.language,
        };
    }
}

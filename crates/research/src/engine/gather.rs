//! Results of searches and reads.

use model::IndexName;
use retrieval_core::chars;
use retrieval_core::url::CanonicalUrl;

use super::assignment::{Assignment, Limits};
use super::event::Event;
use super::notes::keep::{Passages, keep};
use super::state::{Asked, Read, Source, State};
use super::step::{FoundHit, ReadText};

/// Hits of one search that are looked at.
const MAX_HITS: usize = 20;
const MAX_TITLE_CHARS: usize = 300;

impl State {
    /// Adds a search with its hits.
    pub(super) fn searched(
        &mut self,
        assignment: &Assignment,
        question: usize,
        queries: &[String],
        found: Result<Vec<FoundHit>, String>,
        events: &mut Vec<Event>,
    ) {
        let is_repeated = self.asked.iter().any(|asked| asked.question == question && asked.round == self.round);
        if is_repeated || !self.open.contains(&question) {
            let open = self.next_round().into_iter().map(|(question, _)| question).collect();
            self.open = open;
            self.round = self.round.saturating_add(1);
        }
        let mut asked = Asked { question, round: self.round, queries: queries.to_vec(), ..Asked::default() };
        let mut notes = Vec::new();
        match found {
            Ok(hits) => {
                self.read_questions_among(&hits);
                for hit in hits.into_iter().take(MAX_HITS) {
                    let (source, is_new) = self.add_source(&hit);
                    if asked.found.contains(&source) {
                        continue;
                    }
                    asked.new_sources += usize::from(is_new);
                    let passages = Passages {
                        question,
                        source,
                        capture_id: hit.capture_id,
                        capture_time: hit.capture_time,
                        passages: &hit.passages,
                        is_ranked: true,
                        trusted_rank: self.can_generate(assignment) && asked.found.len() < 3,
                    };
                    asked.found.push(source);
                    let (kept, duplicate_of) = keep(self, Limits::of(assignment.depth), &passages);
                    notes.extend(kept);
                    if is_new {
                        self.sources[source].duplicate_of = duplicate_of;
                    }
                }
            }
            Err(reason) => asked.failure = Some(reason),
        }
        events.push(Event::Search {
            question,
            query: queries.first().cloned().unwrap_or_default(),
            hits: asked.found.len(),
            new_sources: asked.new_sources,
        });
        events.append(&mut notes);
        self.asked.push(asked);
    }

    /// Reads the questions as ones about the first documents. Later, notes refer to the terms of the questions.
    fn read_questions_among(&mut self, hits: &[FoundHit]) {
        for question in self.questions.iter_mut().filter(|question| question.passages_seen == 0) {
            question.read_among(hits.iter().take(MAX_HITS).filter_map(|hit| hit.language.as_deref()));
        }
    }

    /// Returns the position of the hit's source, and true if it is new.
    fn add_source(&mut self, hit: &FoundHit) -> (usize, bool) {
        if let Some(known) = self.sources.iter().position(|source| source.doc_id == hit.doc_id) {
            return (known, false);
        }
        let host = match hit.index {
            IndexName::Web => {
                CanonicalUrl::parse(&hit.canonical_url).map(|url| url.host().to_owned()).unwrap_or_default()
            }
            IndexName::Workspace => String::new(),
        };
        self.sources.push(Source {
            doc_id: hit.doc_id,
            canonical_url: hit.canonical_url.clone(),
            host,
            title: hit.title.as_deref().map(|title| chars::truncate(title, MAX_TITLE_CHARS).to_owned()),
            index: hit.index,
            published_at: hit.published_at,
            language: hit.language.clone(),
            reads: Vec::new(),
            duplicate_of: None,
        });
        (self.sources.len() - 1, true)
    }

    /// Adds a read; `None` if the document could not be read.
    pub(super) fn read(
        &mut self,
        assignment: &Assignment,
        question: usize,
        source: usize,
        read: Option<ReadText>,
        events: &mut Vec<Event>,
    ) {
        self.sources[source].reads.push(Read { question, round: self.round, readable: read.is_some() });
        let mut notes = Vec::new();
        let passages = read.as_ref().map_or(0, |read| read.passages.len());
        if let Some(read) = read {
            let known = &mut self.sources[source];
            known.title =
                known.title.take().or(read.title.map(|title| chars::truncate(&title, MAX_TITLE_CHARS).to_owned()));
            known.published_at = known.published_at.or(read.published_at);
            known.language = known.language.take().or(read.language);
            let found = Passages {
                question,
                source,
                capture_id: read.capture_id,
                capture_time: read.capture_time,
                passages: &read.passages,
                is_ranked: false,
                trusted_rank: self.can_generate(assignment),
            };
            notes = keep(self, Limits::of(assignment.depth), &found).0;
        }
        let known = &self.sources[source];
        events.push(Event::Document {
            question,
            doc_id: known.doc_id,
            canonical_url: known.canonical_url.clone(),
            title: known.title.clone(),
            passages,
            readable: known.reads.last().is_some_and(|read| read.readable),
        });
        events.append(&mut notes);
    }
}

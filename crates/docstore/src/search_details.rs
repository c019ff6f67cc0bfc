//! Stages that ranked the results of a search.

use std::collections::BTreeMap;
use std::str::FromStr;

use diesel::deserialize::FromSqlRow;
use diesel::expression::AsExpression;
use diesel::sql_types::Text;
use model::{CaptureId, Generation, IndexName};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Ranking of the results of a search.
#[derive(AsExpression, Clone, Debug, Default, FromSqlRow, PartialEq)]
#[diesel(sql_type = Text)]
pub struct SearchDetails {
    pub ranker_version: String,
    /// Generations of the searched indexes, as far as they are known.
    pub generations: Vec<(IndexName, Generation)>,
    /// True if a stage was skipped for lack of time.
    pub degraded: bool,
    /// In the order of the ranked list.
    pub results: Vec<ResultDetails>,
}

/// Places of a result after each stage, in the list of its index.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultDetails {
    pub capture_id: CaptureId,
    pub index: IndexName,
    /// Final score.
    pub score: f64,
    pub first_stage: Place,
    pub lexical: Option<Place>,
    /// Place among the documents that are nearest in meaning.
    pub semantic: Option<Place>,
    pub model: Option<Place>,
    /// True if the source policy prefers the domain, which raised the score.
    pub preferred: bool,
}

/// Place in a ranked list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// From 1.
    pub rank: u32,
    pub score: f64,
}

/// Stored form: lists instead of objects, since there is one for each result of each search.
#[derive(Deserialize, Serialize)]
struct Stored {
    ranker: String,
    generations: BTreeMap<String, Uuid>,
    degraded: bool,
    results: Vec<StoredResult>,
}

/// Capture, index, score, places of the first stage, the lexical ranker and the model, preference, place of the semantic search.
/// Records of earlier versions end before the last.
#[derive(Deserialize, Serialize)]
struct StoredResult(
    Uuid,
    String,
    f64,
    StoredPlace,
    Option<StoredPlace>,
    Option<StoredPlace>,
    bool,
    #[serde(default)] Option<StoredPlace>,
);

type StoredPlace = (u32, f64);

impl SearchDetails {
    pub(crate) fn to_json(&self) -> serde_json::Result<String> {
        let result = |one: &ResultDetails| {
            let place = |place: &Place| (place.rank, number(place.score));
            let [lexical, semantic, model] =
                [one.lexical, one.semantic, one.model].map(|found| found.as_ref().map(place));
            let (index, first_stage) = (one.index.as_str().to_owned(), place(&one.first_stage));
            StoredResult(
                one.capture_id.0,
                index,
                number(one.score),
                first_stage,
                lexical,
                model,
                one.preferred,
                semantic,
            )
        };
        serde_json::to_string(&Stored {
            ranker: self.ranker_version.clone(),
            generations: self.generations.iter().map(|(index, one)| (index.as_str().to_owned(), one.0)).collect(),
            degraded: self.degraded,
            results: self.results.iter().map(result).collect(),
        })
    }

    pub(crate) fn from_json(text: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        let Stored { ranker, generations, degraded, results } = serde_json::from_str(text)?;
        let generation = |(index, id): (String, Uuid)| Ok((IndexName::from_str(&index)?, Generation(id)));
        let result = |StoredResult(capture_id, index, score, first_stage, lexical, model, preferred, semantic)| {
            let place = |(rank, score): StoredPlace| Place { rank, score };
            Ok(ResultDetails {
                capture_id: CaptureId(capture_id),
                index: IndexName::from_str(&index)?,
                score,
                first_stage: place(first_stage),
                lexical: lexical.map(place),
                semantic: semantic.map(place),
                model: model.map(place),
                preferred,
            })
        };
        Ok(Self {
            ranker_version: ranker,
            generations: generations.into_iter().map(generation).collect::<Result<_, UnknownIndex>>()?,
            degraded,
            results: results.into_iter().map(result).collect::<Result<_, UnknownIndex>>()?,
        })
    }
}

type UnknownIndex = <IndexName as FromStr>::Err;

/// JSON has no infinite numbers.
fn number(score: f64) -> f64 {
    if score.is_finite() { score } else { 0.0 }
}

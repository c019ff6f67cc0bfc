use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::try_join_all;
use models::ModelError;
use models::embedding::{Embedder, MAX_DIMENSIONS, TextKind, is_unknown, normalized};
use models::health::Health;
use tokio::sync::oneshot;

use crate::folder::LoadError;
use crate::model::{Model, short_digest};
use crate::options::LocalEmbedderOptions;
use crate::workers::Workers;

/// Maximum length of a text with its prefix, in characters.
const MAX_CHARS: usize = 8_000;
/// Maximum length of a computation's texts together, in bytes, all counted like the longest: a fraction of a second.
const MAX_CHUNK: usize = 4_096;

/// Embedder that runs a model from a folder on the CPU.
pub struct LocalEmbedder {
    model: Arc<Model>,
    workers: Workers,
    version: String,
    dimensions: usize,
    query_prefix: String,
    document_prefix: String,
    batch: usize,
    timeout: Duration,
    health: Health,
}

impl LocalEmbedder {
    /// Loads a model, which takes up to seconds, and embeds a text with it as a test.
    ///
    /// # Errors
    /// Names the file at fault.
    pub fn open(folder: &Path, options: LocalEmbedderOptions) -> Result<Self, LoadError> {
        let fault = |reason: String| LoadError::new(folder, reason);
        let workers = Workers::start(options.threads).map_err(|error| fault(error.to_string()))?;
        let path = folder.to_owned();
        let (model, digest) = on(&workers, move || Model::load(&path)).unwrap_or_else(|reason| Err(fault(reason)))?;
        let dimensions = match options.dimensions {
            0 => model.dimensions(),
            requested if requested <= model.dimensions() => requested,
            requested => {
                return Err(fault(format!("has vectors of {} components, fewer than {requested}", model.dimensions())));
            }
        };
        if dimensions > MAX_DIMENSIONS {
            let reason =
                format!("has vectors of {dimensions} components, more than {MAX_DIMENSIONS}: set `embed.dimensions`");
            return Err(fault(reason));
        }
        let model = Arc::new(model);
        let tested = Arc::clone(&model);
        let test = on(&workers, move || vectors(&tested, "", &["test".to_owned()], dimensions));
        test.and_then(|tested| tested).map_err(|reason| fault(format!("a test failed: {reason}")))?;

        let name = folder.canonicalize().ok().and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
        let kept = dimensions.to_string();
        let digest = short_digest(digest, &[&options.query_prefix, &options.document_prefix, &kept]);
        Ok(Self {
            model,
            workers,
            version: format!("local:{}:{digest}", name.unwrap_or_default()),
            dimensions,
            query_prefix: options.query_prefix,
            document_prefix: options.document_prefix,
            batch: options.batch.max(1),
            timeout: options.timeout,
            health: Health::default(),
        })
    }

    fn prefix(&self, kind: TextKind) -> &str {
        match kind {
            TextKind::Query => &self.query_prefix,
            TextKind::Document => &self.document_prefix,
        }
    }

    async fn compute(&self, kind: TextKind, texts: &[String]) -> Result<Vec<Vec<f32>>, ModelError> {
        let prefix = self.prefix(kind);
        let mut texts: Vec<(usize, String)> = texts.iter().map(|text| with_prefix(prefix, text)).enumerate().collect();
        // Texts of a computation are filled up to the length of the longest.
        texts.sort_by_key(|(_, text)| text.len());
        let chunks = chunks(&texts, self.batch).map(|chunk| self.compute_chunk(kind, chunk));
        let computed = try_join_all(chunks).await?.into_iter().flatten();
        let mut placed: Vec<(usize, Vec<f32>)> = texts.iter().map(|(place, _)| *place).zip(computed).collect();
        placed.sort_by_key(|(place, _)| *place);
        Ok(placed.into_iter().map(|(_, vector)| vector).collect())
    }

    async fn compute_chunk(&self, kind: TextKind, chunk: &[(usize, String)]) -> Result<Vec<Vec<f32>>, ModelError> {
        let texts: Vec<String> = chunk.iter().map(|(_, text)| text.clone()).collect();
        let (model, dimensions) = (Arc::clone(&self.model), self.dimensions);
        let prefix = self.prefix(kind).to_owned();
        let (done, result) = oneshot::channel();
        self.workers.submit(kind, move || {
            // Nobody waits for the result of a cancelled call.
            if !done.is_closed() {
                let _ = done.send(vectors(&model, &prefix, &texts, dimensions));
            }
        });
        result.await.unwrap_or_else(|_| Err(ENDED.to_owned())).map_err(ModelError::InvalidResponse)
    }
}

#[async_trait]
impl Embedder for LocalEmbedder {
    async fn embed(&self, kind: TextKind, texts: &[String]) -> Result<Vec<Vec<f32>>, ModelError> {
        let outcome = match kind {
            TextKind::Query => {
                tokio::time::timeout(self.timeout, self.compute(kind, texts)).await.unwrap_or(Err(ModelError::Timeout))
            }
            // A computation always ends.
            TextKind::Document => self.compute(kind, texts).await,
        };
        self.health.note(texts.len(), &outcome);
        outcome
    }

    fn dimensions(&self) -> Option<usize> {
        Some(self.dimensions)
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn is_healthy(&self) -> bool {
        self.health.is_good()
    }
}

/// Description of a computation without a result.
const ENDED: &str = "the computation ended without a result";

/// Runs a function on a worker and waits for its result.
fn on<T: Send + 'static>(workers: &Workers, function: impl FnOnce() -> T + Send + 'static) -> Result<T, String> {
    let (done, result) = mpsc::channel();
    workers.submit(TextKind::Query, move || {
        let _ = done.send(function());
    });
    result.recv().map_err(|_| ENDED.to_owned())
}

/// Returns the vectors of texts that begin with a prefix, cut to the first components and scaled to the length 1; zeros for a text
/// without known tokens.
fn vectors(model: &Model, prefix: &str, texts: &[String], dimensions: usize) -> Result<Vec<Vec<f32>>, String> {
    let vectors = model.embed(texts)?;
    if vectors.len() != texts.len() {
        return Err(format!("{} vectors for {} texts", vectors.len(), texts.len()));
    }
    let finished = |(vector, text): (Vec<f32>, &String)| -> Result<Vec<f32>, String> {
        // The vector would be that of the prefix.
        let own = text.get(prefix.len()..).unwrap_or_default();
        match !prefix.is_empty() && model.is_unknown(own)? {
            true => Ok(vec![0.0; dimensions]),
            false => with_direction(vector, dimensions),
        }
    };
    vectors.into_iter().zip(texts).map(finished).collect()
}

/// Scales a vector to the length 1. Zeros, of texts without known tokens, stay zeros.
fn with_direction(mut vector: Vec<f32>, dimensions: usize) -> Result<Vec<f32>, String> {
    vector.truncate(dimensions);
    if is_unknown(&vector) {
        return Ok(vector);
    }
    normalized(vector).ok_or_else(|| "a vector is not finite".to_owned())
}

fn with_prefix(prefix: &str, text: &str) -> String {
    prefix.chars().chain(text.chars()).take(MAX_CHARS).collect()
}

/// Divides texts, the shortest first, into computations of at most `count` texts and bounded work.
fn chunks(texts: &[(usize, String)], count: usize) -> impl Iterator<Item = &[(usize, String)]> {
    let mut rest = texts;
    std::iter::from_fn(move || {
        let fits = |(number, (_, text)): &(usize, &(usize, String))| (number + 1) * text.len() <= MAX_CHUNK;
        let fitting = rest.iter().take(count).enumerate().take_while(fits).count();
        let (chunk, later) = rest.split_at(fitting.max(1).min(rest.len()));
        rest = later;
        (!chunk.is_empty()).then_some(chunk)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(lengths: &[usize], count: usize) -> Vec<usize> {
        let texts: Vec<(usize, String)> = lengths.iter().map(|length| (0, "a".repeat(*length))).collect();
        chunks(&texts, count).map(<[_]>::len).collect()
    }

    #[test]
    fn computations_are_small() {
        assert_eq!(sizes(&[0; 70], 32), [32, 32, 6]);
        assert_eq!(sizes(&[100, 1_000, 2_000, 2_000, 8_000], 32), [2, 2, 1]);
        assert_eq!(sizes(&[], 32), [0; 0]);
    }

    #[test]
    fn zero_vectors_have_no_direction_and_others_are_cut() {
        assert_eq!(with_direction(vec![0.0; 4], 4), Ok(vec![0.0; 4]));
        assert_eq!(with_direction(vec![0.0, 2.0, 9.0], 2), Ok(vec![0.0, 1.0]));
        assert!(with_direction(vec![1.0, f32::NAN], 2).is_err());
    }
}

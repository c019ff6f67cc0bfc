//! Calls of the model for many texts, some of which it may reject.

use std::ops::Range;
use std::time::Duration;

use models::ModelError;
use models::embedding::{Embedder, TextKind, is_unknown};
use retrieval_core::embeddings::QuantizedVector;
use tokio::time::Instant;

use super::call_size::CallSize;

/// Text that no model rejects.
const HARMLESS: &str = "text";
/// Wait for a model that pauses after a failure, before it counts as unavailable.
const COOLDOWN: Duration = Duration::from_millis(500);
const COOLDOWNS: usize = 20;
/// Number of late calls since the last answer at which the model is probed.
const PROBED: u32 = 2;

/// Outcome of calls for some texts.
#[derive(Default)]
pub struct Called {
    /// Numbers of the embedded and the rejected texts, with their quantized vectors; `None` for rejected texts.
    pub vectors: Vec<(usize, Option<Box<[i8]>>)>,
    /// Numbers of the texts that may have made the model unavailable: it gave no answer after their calls.
    pub lost: Vec<usize>,
    /// Number of texts, from the first one, that were reached. Of a call that ended the model only the first one counts.
    pub reached: usize,
    /// Failure that left texts out: the model is or was unavailable, or rejects everything.
    pub unavailable: Option<ModelError>,
}

/// Embeds texts. A call that is too large for the time is divided. If a call fails otherwise although the model accepts
/// a harmless text, the texts are bisected down to those at fault. One that only met an outage is left out, for a later
/// call. After the deadline only the first text is called, so that repeated calls get further.
pub async fn embed(embedder: &dyn Embedder, texts: &[String], size: &CallSize, deadline: Option<Instant>) -> Called {
    let mut vectors = Vec::with_capacity(texts.len());
    let mut parts: Vec<Range<usize>> = std::iter::once(0..texts.len()).collect();
    let (mut late, mut lost, mut temporary) = (0, Vec::new(), None);
    while let Some(part) = parts.pop() {
        if part.len() > size.texts() {
            parts.extend(halves(&part));
            continue;
        }
        if part.start > 0 && deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            // Later calls need not be divided down to this size again.
            size.limit(part.len());
            return Called { vectors, lost, reached: part.start, unavailable: temporary };
        }
        let error = match call(embedder, &texts[part.clone()], size).await {
            Ok(embedded) => {
                late = 0;
                vectors.extend(part.zip(embedded));
                continue;
            }
            Err(error) => error,
        };
        // A model that is only slow would be kept from its work by probes. One tells whether it answers at all.
        let is_late = matches!(error, ModelError::Timeout);
        late += u32::from(is_late);
        let is_too_large = is_late && part.len() > 1 && late != PROBED;
        if !is_too_large && let Err(unavailable) = probe(embedder).await {
            tracing::debug!(error = &error as &dyn std::error::Error, "embedding passages failed");
            let reached = part.start + 1;
            if may_blame_texts(&error) {
                // The same call would end the model once more.
                size.late(part.len());
                lost.extend(part);
            }
            return Called { vectors, lost, reached, unavailable: Some(unavailable) };
        }
        if part.len() > 1 {
            parts.extend(halves(&part));
            continue;
        }
        // Once more, so that one failure by chance rejects nothing.
        match call(embedder, &texts[part.clone()], size).await {
            Ok(embedded) => {
                late = 0;
                vectors.extend(part.zip(embedded));
            }
            Err(again) if is_temporary(&error) || is_temporary(&again) => {
                let is_fatal = is_lost(&error) && is_lost(&again);
                if is_fatal && probe(embedder).await.is_ok() {
                    // The model answers in between: the text ends its connections, or its process behind a proxy.
                    vectors.extend(part.map(|text| (text, None)));
                } else {
                    if is_fatal {
                        lost.extend(part);
                    }
                    temporary = Some(again);
                }
            }
            Err(_) => vectors.extend(part.map(|text| (text, None))),
        }
    }
    Called { vectors, lost, reached: texts.len(), unavailable: temporary }
}

/// Returns true for failures that tell nothing about the text: the model is away or has too much to do.
fn is_temporary(error: &ModelError) -> bool {
    match error {
        ModelError::CoolingDown | ModelError::Unreachable(_) | ModelError::Status(429 | 503) => true,
        ModelError::Timeout
        | ModelError::Status(_)
        | ModelError::InvalidResponse(_)
        | ModelError::Refused { .. }
        | ModelError::Empty { .. } => false,
    }
}

/// Returns true for failures of a model whose process may have ended or hang. Proxies answer for it with these statuses.
fn is_lost(error: &ModelError) -> bool {
    matches!(error, ModelError::Timeout | ModelError::Unreachable(_) | ModelError::Status(502..=504 | 520..=530))
}

/// Returns true for failures that the texts of the call may have caused. Endpoints reply 429 without reading them.
fn may_blame_texts(error: &ModelError) -> bool {
    !matches!(error, ModelError::CoolingDown | ModelError::Status(429))
}

/// Divides a range of several texts. The first half comes last, to be the next one.
fn halves(part: &Range<usize>) -> [Range<usize>; 2] {
    let middle = part.start + part.len() / 2;
    [middle..part.end, part.start..middle]
}

async fn call(
    embedder: &dyn Embedder,
    texts: &[String],
    size: &CallSize,
) -> Result<Vec<Option<Box<[i8]>>>, ModelError> {
    let outcome = embedder.embed(TextKind::Document, texts).await;
    match &outcome {
        Ok(_) => size.in_time(texts.len()),
        Err(ModelError::Timeout) => size.late(texts.len()),
        Err(_) => {}
    }
    let vectors = outcome?;
    if vectors.len() != texts.len() {
        return Err(ModelError::InvalidResponse(format!("{} vectors for {} texts", vectors.len(), texts.len())));
    }
    let quantized = |vector: Vec<f32>| -> Option<Box<[i8]>> {
        // Zeros are stored, so that the text is not embedded again, and are in no index.
        if is_unknown(&vector) {
            return Some(vec![0_i8; vector.len()].into_boxed_slice());
        }
        QuantizedVector::quantize(&vector).map(|vector| vector.codes().into())
    };
    Ok(vectors.into_iter().map(quantized).collect())
}

/// Returns the error of a model that does not embed a harmless text.
pub async fn probe(embedder: &dyn Embedder) -> Result<(), ModelError> {
    let texts = [HARMLESS.to_owned()];
    for _ in 0..COOLDOWNS {
        match embedder.embed(TextKind::Document, &texts).await {
            Err(ModelError::CoolingDown) => tokio::time::sleep(COOLDOWN).await,
            outcome => return outcome.map(drop),
        }
    }
    Err(ModelError::CoolingDown)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use std::collections::VecDeque;
    use std::sync::Mutex;

    use async_trait::async_trait;

    use super::*;

    /// Model that is late with more than `in_time` texts, and away after some calls.
    struct SlowModel {
        in_time: usize,
        calls_until_away: usize,
        /// Numbers of texts.
        calls: Mutex<Vec<usize>>,
    }

    impl SlowModel {
        fn new(in_time: usize, calls_until_away: usize) -> Self {
            Self { in_time, calls_until_away, calls: Mutex::default() }
        }

        fn calls(&self) -> Vec<usize> {
            self.calls.lock().unwrap().clone()
        }
    }

    #[async_trait]
    impl Embedder for SlowModel {
        async fn embed(&self, _: TextKind, texts: &[String]) -> Result<Vec<Vec<f32>>, ModelError> {
            let mut calls = self.calls.lock().unwrap();
            calls.push(texts.len());
            if calls.len() > self.calls_until_away {
                return Err(ModelError::Unreachable("the model is away".into()));
            }
            if texts.len() > self.in_time {
                return Err(ModelError::Timeout);
            }
            Ok(vec![vec![0.5; 4]; texts.len()])
        }

        fn dimensions(&self) -> Option<usize> {
            Some(4)
        }

        fn version(&self) -> &str {
            "slow"
        }

        fn is_healthy(&self) -> bool {
            true
        }
    }

    fn texts(count: usize) -> Vec<String> {
        vec!["text of a document".to_owned(); count]
    }

    /// Model whose calls with a text "unlucky" fail in turn, and those of other texts do not.
    struct UnluckyModel(Mutex<VecDeque<ModelError>>);

    #[async_trait]
    impl Embedder for UnluckyModel {
        async fn embed(&self, _: TextKind, texts: &[String]) -> Result<Vec<Vec<f32>>, ModelError> {
            let is_unlucky = texts.iter().any(|text| text == "unlucky");
            match self.0.lock().unwrap().pop_front_if(|_| is_unlucky) {
                Some(error) => Err(error),
                None => Ok(vec![vec![0.5; 4]; texts.len()]),
            }
        }

        fn dimensions(&self) -> Option<usize> {
            Some(4)
        }

        fn version(&self) -> &str {
            "unlucky"
        }

        fn is_healthy(&self) -> bool {
            true
        }
    }

    /// Embeds a text between two others. Its calls without them fail with these errors. Returns the numbers of embedded
    /// and of rejected texts, and true if the model counts as unavailable.
    async fn embed_unlucky(first: ModelError, second: ModelError) -> (usize, usize, bool) {
        let together = [ModelError::Status(500), ModelError::Status(500)];
        let model = UnluckyModel(Mutex::new(together.into_iter().chain([first, second]).collect()));
        let texts = ["before", "unlucky", "after"].map(str::to_owned);
        let Called { vectors, unavailable, .. } = embed(&model, &texts, &CallSize::default(), None).await;
        let embedded = vectors.iter().filter(|(_, vector)| vector.is_some()).count();
        (embedded, vectors.len() - embedded, unavailable.is_some())
    }

    #[tokio::test]
    async fn outage_rejects_no_text() {
        let away = || ModelError::Unreachable("the model is away".into());
        for outage in [ModelError::CoolingDown, ModelError::Status(429)] {
            assert_eq!(embed_unlucky(away(), outage).await, (2, 0, true));
        }
        assert_eq!(embed_unlucky(ModelError::Status(429), ModelError::Status(500)).await, (2, 0, true), "by chance");
        assert_eq!(embed_unlucky(ModelError::Status(400), away()).await, (2, 0, true), "by chance");
    }

    #[tokio::test]
    async fn text_that_fails_twice_by_itself_is_rejected() {
        let dropped = || ModelError::Unreachable("the connection was closed".into());
        for lost in [dropped(), ModelError::Status(503)] {
            assert_eq!(embed_unlucky(dropped(), lost).await, (2, 1, false), "others are answered meanwhile");
        }
        let unavailable = || ModelError::Status(503);
        assert_eq!(embed_unlucky(unavailable(), unavailable()).await, (2, 1, false), "a proxy answers for the model");
        assert_eq!(embed_unlucky(ModelError::Status(502), unavailable()).await, (2, 1, false), "it takes a while");
        assert_eq!(embed_unlucky(ModelError::Timeout, dropped()).await, (2, 1, false), "it hangs before it ends");
        for second in [ModelError::Status(400), ModelError::Timeout, ModelError::InvalidResponse("none".to_owned())] {
            assert_eq!(embed_unlucky(ModelError::Status(400), second).await, (2, 1, false));
        }
    }

    #[tokio::test]
    async fn slow_model_gets_smaller_calls_and_one_probe() {
        let (model, size) = (SlowModel::new(5, usize::MAX), CallSize::default());
        let Called { vectors, unavailable, .. } = embed(&model, &texts(64), &size, None).await;
        assert!(unavailable.is_none());
        assert!(vectors.iter().map(|(text, _)| *text).eq(0..64) && vectors.iter().all(|(_, vector)| vector.is_some()));
        // After eight calls in time a larger one is tried.
        assert_eq!(model.calls(), [&[64, 32, 1, 16, 8][..], &[4; 8], &[8], &[4; 8]].concat());
        let before = model.calls().len();
        embed(&model, &texts(16), &size, None).await;
        assert_eq!(model.calls()[before..], [8, 4, 4, 4, 4], "the size is remembered");
    }

    #[tokio::test]
    async fn vectors_from_before_a_failure_are_kept() {
        let model = SlowModel::new(2, 4);
        let Called { vectors, lost, reached, unavailable } = embed(&model, &texts(8), &CallSize::default(), None).await;
        assert!(matches!(unavailable, Some(ModelError::Unreachable(_))), "{unavailable:?}");
        assert_eq!(vectors.iter().map(|(text, _)| *text).collect::<Vec<_>>(), [0, 1]);
        assert_eq!((lost, reached), (vec![2, 3], 3));
        assert_eq!(model.calls(), [8, 4, 1, 2, 2, 1], "single texts are probes");
    }

    #[tokio::test]
    async fn model_that_is_late_with_one_text_is_probed() {
        let model = SlowModel::new(0, usize::MAX);
        let Called { vectors, lost, unavailable, .. } = embed(&model, &texts(1), &CallSize::default(), None).await;
        assert!(matches!(unavailable, Some(ModelError::Timeout)) && vectors.is_empty());
        assert_eq!(lost, [0]);
        assert_eq!(model.calls(), [1, 1]);
    }

    /// Model whose calls fail as the function says, given their numbers and texts. A failure takes ten seconds.
    struct FailingModel<F> {
        failure: F,
        calls: Mutex<usize>,
    }

    impl<F: Fn(usize, &[String]) -> Option<ModelError>> FailingModel<F> {
        fn new(failure: F) -> Self {
            Self { failure, calls: Mutex::default() }
        }
    }

    #[async_trait]
    impl<F: Fn(usize, &[String]) -> Option<ModelError> + Send + Sync> Embedder for FailingModel<F> {
        async fn embed(&self, _: TextKind, texts: &[String]) -> Result<Vec<Vec<f32>>, ModelError> {
            let call = {
                let mut calls = self.calls.lock().unwrap();
                *calls += 1;
                *calls - 1
            };
            match (self.failure)(call, texts) {
                Some(error) => {
                    tokio::time::sleep(Duration::from_secs(10)).await;
                    Err(error)
                }
                None => Ok(vec![vec![0.5; 4]; texts.len()]),
            }
        }

        fn dimensions(&self) -> Option<usize> {
            Some(4)
        }

        fn version(&self) -> &str {
            "failing"
        }

        fn is_healthy(&self) -> bool {
            true
        }
    }

    #[tokio::test(start_paused = true)]
    async fn texts_may_be_at_fault_if_the_model_is_away_after_their_call() {
        for (status, texts_per_call) in [(500, 4), (502, 4), (503, 4), (504, 4), (429, 64)] {
            let (model, size) = (FailingModel::new(|_, _| Some(ModelError::Status(status))), CallSize::default());
            let Called { vectors, lost, reached, unavailable } = embed(&model, &texts(8), &size, None).await;
            assert!(vectors.is_empty() && unavailable.is_some());
            let expected: Vec<usize> = if status == 429 { vec![] } else { (0..8).collect() };
            assert_eq!((lost, reached, size.texts()), (expected, 1, texts_per_call), "{status}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn text_that_ends_the_model_twice_may_be_at_fault() {
        // Only the first probe succeeds.
        let model = FailingModel::new(|call, _| (call != 1).then(|| ModelError::Unreachable("it is away".into())));
        let Called { vectors, lost, unavailable, .. } = embed(&model, &texts(1), &CallSize::default(), None).await;
        assert!(vectors.is_empty() && unavailable.is_some());
        assert_eq!(lost, [0]);
    }

    #[tokio::test(start_paused = true)]
    async fn calls_end_at_the_deadline_after_the_first_text() {
        let rejecting = |_: usize, texts: &[String]| (texts[0] != HARMLESS).then_some(ModelError::Status(500));
        let (model, size, texts) = (FailingModel::new(rejecting), CallSize::default(), texts(8));
        let Called { vectors, reached, unavailable, .. } = embed(&model, &texts, &size, Some(Instant::now())).await;
        assert_eq!((vectors, reached, size.texts()), (vec![(0, None)], 1, 1));
        assert!(unavailable.is_none());
        // Each text takes two calls.
        let deadline = Some(Instant::now() + Duration::from_secs(50));
        let Called { vectors, reached, .. } = embed(&model, &texts[1..], &size, deadline).await;
        assert_eq!((vectors, reached), (vec![(0, None), (1, None), (2, None)], 3));
    }
}

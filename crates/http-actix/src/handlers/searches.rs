use std::sync::Arc;
use std::time::Instant;

use api_types::timestamp::rfc3339;
use api_types::validation::parse_uuid;
use api_types::{
    Explanation, RecordedResult, Score, SearchIndex, SearchRecordResponse, SearchRequest, SearchResponse, StagePlace,
};
use app::clock::to_date_time;
use app::search::{Place, RecordedSearch};
use app::{App, Charge, Viewer, Work};
use model::{IndexName, SessionId};
use openapi::parameters::SearchId;
use openapi::{Input, operations};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::call::{Call, Context};
use crate::disconnect::keep_unless_disconnected;
use crate::endpoint::Endpoint;
use crate::failure::Failure;
use crate::reply::Reply;
use crate::search::response::{Page, ShapedPage, ranking};
use crate::search::{computed, request};
use crate::{search_metrics, warning_metrics};

impl Endpoint for operations::Search {
    const WORK: Option<Work> = Some(Work::Search);

    async fn handle(context: &Context, input: Input<Self>) -> Result<SearchResponse, Failure> {
        let (response, charge) = Self::handle_charged(context, input).await?;
        if let Some(charge) = charge {
            keep_unless_disconnected(charge).await;
        }
        Ok(response)
    }

    async fn handle_charged(
        context: &Context,
        input: Input<Self>,
    ) -> Result<(SearchResponse, Option<Charge>), Failure> {
        charged_search(context, input.body, async |shaped: ShapedPage| computed::response(context, shaped).await).await
    }

    async fn respond(call: &Call, input: Input<Self>) -> Result<Reply, Failure> {
        let context = &call.context;
        let serialized = async |shaped: ShapedPage| {
            Reply::success::<Self>(context.hold(computed::body(context, shaped).await?).await?)
        };
        let (reply, charge) = charged_search(context, input.body, serialized).await?;
        Ok(reply.charged(charge))
    }
}

impl Endpoint for operations::GetSearch {
    async fn handle(context: &Context, input: Input<Self>) -> Result<SearchRecordResponse, Failure> {
        let SearchId(search_id) = input.path;
        let recorded = context
            .run(Work::Small, |service, viewer| async move { service.recorded_search(&viewer, &search_id).await })
            .await?;
        Ok(record(context, recorded))
    }
}

fn record(context: &Context, recorded: RecordedSearch) -> SearchRecordResponse {
    let sent = recorded.request.as_deref().and_then(|text| serde_json::from_str(text).ok());
    let ranker_version = Some(recorded.ranker_version).filter(|version| !version.is_empty());
    let generations = recorded.generations.into_iter();
    SearchRecordResponse {
        schema: context.schema::<SearchRecordResponse>(),
        request_id: context.request_id,
        search_id: recorded.search_id.0,
        session_id: recorded.session_id.0,
        created_at: rfc3339(to_date_time(recorded.created_at)),
        request: sent.unwrap_or_else(|| Map::from_iter([("query".to_owned(), Value::from(recorded.query))])),
        ranking: ranker_version.map(ranking),
        index_generations: generations.map(|(index, generation)| (index.as_str().to_owned(), generation.0)).collect(),
        degraded: recorded.degraded.then_some(true),
        results: recorded.results.into_iter().zip(1..).map(recorded_result).collect(),
    }
}

fn recorded_result((result, rank): (app::search::RecordedResult, i64)) -> RecordedResult {
    let details = result.details;
    RecordedResult {
        rank,
        doc_id: result.doc_id.0,
        capture_id: details.as_ref().map(|details| details.capture_id.0),
        index: details.as_ref().map(|details| match details.index {
            IndexName::Web => SearchIndex::Web,
            IndexName::Workspace => SearchIndex::Workspace,
        }),
        score: details.as_ref().map(|details| Score { value: details.score }),
        explain: details.map(|details| Explanation {
            first_stage: place(details.first_stage),
            lexical: details.lexical.map(place),
            semantic: details.semantic.map(place),
            model: details.model.map(place),
            preferred: details.preferred,
        }),
    }
}

fn place(Place { rank, score }: Place) -> StagePlace {
    StagePlace { rank: i64::from(rank), score }
}

/// Searches, shapes the answer, and converts it with `convert`. Returns the charge too, which the caller keeps once the response is
/// complete. A search without an answer is refunded, whether it fails, cannot meet its budget, or its client disconnects.
pub(crate) async fn charged_search<T>(
    context: &Context,
    mut body: SearchRequest,
    convert: impl AsyncFnOnce(ShapedPage) -> Result<T, Failure>,
) -> Result<(T, Option<Charge>), Failure> {
    let started = Instant::now();
    let session_id = context.session(body.session_id.take());
    // The header and the body were validated, so the id is well-formed.
    let session = SessionId(parse_uuid(&session_id).unwrap_or_else(Uuid::new_v4));
    // Not stored, as its description promises.
    body.client_model = None;
    let original = serde_json::to_string(&body).map_err(Failure::internal)?;
    let (request, shaping) = request::convert(body, session, context.state.now())?;
    let request = app::search::SearchRequest { original: Some(original), ..request };
    let search = |service: Arc<App>, viewer: Viewer| async move { service.search(&viewer, request).await };
    let mut outcome = context.run(Work::Search, search).await?;
    let charge = outcome.charge.take();
    let page = Page {
        schema: context.schema::<SearchResponse>(),
        request_id: context.request_id,
        session_id,
        access: context.access.clone(),
        files_path: context.state.published.path_of("/v1/files"),
        outcome,
        shaping,
    };
    let answer = match computed::shape(context, page).await {
        Ok(shaped) => {
            warning_metrics::record(&shaped.warnings());
            // Not the conversion: it may read documents, which takes as long as their sites do.
            search_metrics::record(started.elapsed());
            convert(shaped).await
        }
        Err(failure) => Err(failure),
    };
    match answer {
        Ok(answer) => Ok((answer, charge)),
        Err(failure) => {
            if let Some(charge) = charge {
                charge.refund().await;
            }
            Err(failure)
        }
    }
}

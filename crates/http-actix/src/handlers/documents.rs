use api_types::{DocumentResponse, DocumentResult, DocumentsRequest, DocumentsResponse, ReadDocument, ReadStatus};
use app::Work;
use app::documents::ReadRequest;
use openapi::{Input, operations};

use crate::call::Context;
use crate::documents::batch::{self, Limit};
use crate::documents::{budget, request};
use crate::endpoint::Endpoint;
use crate::failure::Failure;
use crate::memory::{Answer, Gathered};
use crate::metered;
use crate::reply::log;
use crate::warning_metrics;

impl Endpoint for operations::ReadDocument {
    const WORK: Option<Work> = Some(Work::Read);

    async fn handle(context: &Context, input: Input<Self>) -> Result<DocumentResponse, Failure> {
        let document = batch::read(context, request::convert(input.body)?, context.deadline()).await?;
        Ok(response(context, document))
    }

    async fn handle_to_json(context: &Context, input: Input<Self>) -> Result<Answer, Failure> {
        let memory = context.gather();
        let document = batch::held(context, request::convert(input.body)?, context.deadline(), &memory).await?;
        metered::answer(context, memory, response(context, document)).await
    }
}

/// Builds the response of the read of one document.
pub(crate) fn response(context: &Context, document: ReadDocument) -> DocumentResponse {
    let ReadDocument { doc, content, passages, capture_history, provenance, warnings } = document;
    warning_metrics::record(&warnings);
    DocumentResponse {
        schema: context.schema::<DocumentResponse>(),
        request_id: context.request_id,
        session_id: context.session(None),
        access: context.access.clone(),
        doc,
        content,
        passages,
        capture_history,
        provenance,
        usage: context.usage(),
        warnings,
    }
}

impl Endpoint for operations::ReadDocuments {
    async fn handle(context: &Context, input: Input<Self>) -> Result<DocumentsResponse, Failure> {
        respond(context, input.body, &context.gather()).await
    }

    async fn handle_to_json(context: &Context, input: Input<Self>) -> Result<Answer, Failure> {
        let memory = context.gather();
        let response = respond(context, input.body, &memory).await?;
        metered::answer(context, memory, response).await
    }
}

async fn respond(
    context: &Context,
    body: DocumentsRequest,
    memory: &Gathered<'_>,
) -> Result<DocumentsResponse, Failure> {
    let session_id = context.session(None);
    let budget = body.response.budget.clone();
    let (body, limit) = limited(body);
    let mut results = read_all(context, body, memory).await?;
    let documents = results.iter_mut().filter_map(|result| result.document.as_deref_mut());
    documents.for_each(|document| budget::name_limit(document, limit));
    let response = DocumentsResponse {
        schema: context.schema::<DocumentsResponse>(),
        request_id: context.request_id,
        session_id,
        access: context.access.clone(),
        results,
        truncated: None,
        usage: context.usage(),
        warnings: Vec::new(),
    };
    let response = budget::fit(context, response, &budget).await?;
    let documents = response.results.iter().filter_map(|result| result.document.as_deref());
    warning_metrics::record(response.warnings.iter().chain(documents.flat_map(|document| &document.warnings)));
    Ok(response)
}

/// Limits the texts of whole documents to what the response can hold.
fn limited(mut body: DocumentsRequest) -> (DocumentsRequest, Limit) {
    // Each may take the whole budget: a short document leaves its share of it to the others.
    let budget = body.response.budget.max_chars_total;
    let limit = batch::limit(&mut body.content, budget, batch::share(body.documents.len()));
    (body, limit)
}

/// Reads documents, a few at a time. Each has its own outcome; only if the server failed at all of them, the request fails.
async fn read_all(
    context: &Context,
    body: DocumentsRequest,
    memory: &Gathered<'_>,
) -> Result<Vec<DocumentResult>, Failure> {
    // Their time starts together.
    let deadline = request::deadline(body.timeout_ms);
    let requests = request::single(body).map(request::convert);
    let requests = requests.map(|request| request.map(|request| ReadRequest { deadline, ..request }));
    let outcomes = batch::read_all(context, requests, context.deadline(), memory).await.into_iter().zip(0..);
    let mut outcomes: Vec<_> =
        outcomes.map(|(outcome, index)| outcome.map_err(|failure| named(failure, index))).collect();
    if let Some(failure) = batch::fault_of_all(std::slice::from_mut(&mut outcomes)) {
        return Err(failure);
    }
    let result = |outcome: Result<ReadDocument, Failure>| match outcome {
        Ok(document) => DocumentResult { status: ReadStatus::Ok, document: Some(Box::new(document)), error: None },
        Err(failure) => {
            log(&failure, "POST /v1/documents");
            DocumentResult { status: ReadStatus::Error, document: None, error: Some(failure.body()) }
        }
    };
    Ok(outcomes.into_iter().map(result).collect())
}

/// Names the invalid field by its place in the request.
fn named(mut failure: Failure, index: usize) -> Failure {
    if let Some(field) = failure.details.get("field").and_then(|field| field.as_str()) {
        let field = format!("documents[{index}].{field}");
        failure.details.insert("field".to_owned(), field.into());
    }
    failure
}

use api_types::{
    DocumentRequest, DocumentResponse, DocumentResult, DocumentsRequest, DocumentsResponse, ReadDocument, ReadStatus,
};
use app::Work;
use app::documents::ReadRequest;
use openapi::{Input, operations};

use crate::call::Context;
use crate::documents::{batch, budget, request, view};
use crate::endpoint::Endpoint;
use crate::failure::Failure;
use crate::memory::{Answer, Gathered};
use crate::metered;
use crate::pipeline::caught;
use crate::reply::log;
use crate::warning_metrics;

impl Endpoint for operations::ReadDocument {
    const WORK: Option<Work> = Some(Work::Read);

    async fn handle(context: &Context, input: Input<Self>) -> Result<DocumentResponse, Failure> {
        respond_one(context, request::convert(input.body)?).await
    }

    async fn handle_to_json(context: &Context, input: Input<Self>) -> Result<Answer, Failure> {
        let memory = context.gather();
        let response = held(context, request::convert(input.body)?, &memory).await?;
        metered::answer(context, memory, response).await
    }
}

async fn respond_one(context: &Context, request: ReadRequest) -> Result<DocumentResponse, Failure> {
    let session_id = context.session(None);
    let ReadDocument { doc, content, passages, capture_history, provenance, warnings } = read(context, request).await?;
    warning_metrics::record(&warnings);
    Ok(DocumentResponse {
        schema: context.schema::<DocumentResponse>(),
        request_id: context.request_id,
        session_id,
        access: context.access.clone(),
        doc,
        content,
        passages,
        capture_history,
        provenance,
        usage: context.usage(),
        warnings,
    })
}

/// Reads one document as its operation does, and takes memory for it until the answer that contains it is complete.
pub(crate) async fn held(
    context: &Context,
    request: ReadRequest,
    memory: &Gathered<'_>,
) -> Result<DocumentResponse, Failure> {
    let document = respond_one(context, request).await?;
    memory.add(batch::bytes_of(document.content.as_ref(), document.passages.as_deref())).await?;
    Ok(document)
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
    let is_capped = is_capped(&body);
    let mut results = read_all(context, limited(body), memory).await?;
    if let (Some(max_chars), false) = (budget.max_chars_total, is_capped) {
        let documents = results.iter_mut().filter_map(|result| result.document.as_deref_mut());
        documents.for_each(|document| budget::claim_cut(document, max_chars));
    }
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

async fn read(context: &Context, request: ReadRequest) -> Result<ReadDocument, Failure> {
    let outcome =
        context.run(Work::Read, |service, viewer| async move { service.read_document(&viewer, request).await }).await?;
    Ok(view::read_document(outcome))
}

/// Reads one of several documents, and takes memory for it until the others are read.
async fn read_part(context: &Context, request: ReadRequest, memory: &Gathered<'_>) -> Result<ReadDocument, Failure> {
    let document = read(context, request).await?;
    memory.add(batch::bytes_of(document.content.as_ref(), document.passages.as_deref())).await?;
    Ok(document)
}

/// Returns true if the request limits the text of each document itself.
fn is_capped(body: &DocumentsRequest) -> bool {
    let range = body.content.range.as_ref().and_then(|range| range.max_chars);
    body.content.max_chars.or(range).is_some()
}

/// Limits the texts of whole documents to what the response can hold.
fn limited(mut body: DocumentsRequest) -> DocumentsRequest {
    // A short document leaves its share of the budget to the others.
    let most = body.response.budget.max_chars_total.unwrap_or(i64::MAX);
    batch::limit(&mut body.content, most.min(batch::share(body.documents.len())));
    body
}

/// Reads documents, a few at a time. Each has its own outcome; only if the server failed at all of them, the request fails.
async fn read_all(
    context: &Context,
    body: DocumentsRequest,
    memory: &Gathered<'_>,
) -> Result<Vec<DocumentResult>, Failure> {
    let targets: Vec<(usize, DocumentRequest)> = request::single(body).into_iter().enumerate().collect();
    // Their time starts together.
    let requests = targets.into_iter().map(|(index, target)| (index, request::convert(target)));
    let requests: Vec<(usize, Result<ReadRequest, Failure>)> = requests.collect();
    let reads = requests.into_iter().map(async |(index, request)| {
        let outcome = match request {
            Ok(request) => caught(read_part(context, request, memory)).await.and_then(|outcome| outcome),
            Err(failure) => Err(failure),
        };
        outcome.map_err(|failure| named(failure, index))
    });
    let mut outcomes = batch::read_all(reads).await;
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

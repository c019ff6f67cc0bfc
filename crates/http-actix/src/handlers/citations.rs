use api_types::timestamp::rfc3339;
use api_types::validation::parse_uuid;
use api_types::{
    CitationCheck, CitationResult, CitationStatus, CitationsVerifyRequest, CitationsVerifyResponse, QuoteReplacement,
};
use app::Work;
use app::citations::{Citation, Comparison, Finding, Nearest, Replacement, Verification};
use app::clock::to_date_time;
use model::{CaptureId, DocId};
use openapi::{Input, operations};

use crate::call::Context;
use crate::endpoint::Endpoint;
use crate::failure::Failure;
use crate::numbers::wire_int;

impl Endpoint for operations::VerifyCitations {
    async fn handle(context: &Context, input: Input<Self>) -> Result<CitationsVerifyResponse, Failure> {
        let session_id = context.session(None);
        let citations = convert(input.body)?;
        let verified = context
            .run(Work::Read, |service, viewer| async move { service.verify_citations(&viewer, citations).await })
            .await?;
        Ok(CitationsVerifyResponse {
            schema: context.schema::<CitationsVerifyResponse>(),
            request_id: context.request_id,
            session_id,
            access: context.access.clone(),
            results: verified.into_iter().map(result).collect(),
            usage: context.usage(),
        })
    }
}

/// Converts a request body, whose single values are validated already.
fn convert(body: CitationsVerifyRequest) -> Result<Vec<Citation>, Failure> {
    let number = |number: i64| usize::try_from(number).unwrap_or(usize::MAX);
    let citation = |(index, citation): (usize, api_types::Citation)| {
        let api_types::Citation { doc_id, capture_id, quote, char_start, char_end } = citation;
        if let (Some(start), Some(end)) = (char_start, char_end)
            && end <= start
        {
            let field = format!("citations[{index}].char_end");
            let message = format!("{field} must be greater than char_start, which is {start}, not {end}");
            return Err(Failure::invalid(field, message));
        }
        let invalid = || {
            let field = format!("citations[{index}].doc_id");
            Failure::invalid(field.clone(), format!("{field} must be a UUID, not `{doc_id}`"))
        };
        Ok(Citation {
            doc_id: DocId(parse_uuid(&doc_id).ok_or_else(invalid)?),
            capture_id: capture_id.as_deref().and_then(parse_uuid).map(CaptureId),
            quote,
            char_start: char_start.map(number),
            char_end: char_end.map(number),
        })
    };
    body.citations.into_iter().enumerate().map(citation).collect()
}

fn result(Verification { cited, latest }: Verification) -> CitationResult {
    CitationResult { cited: check(cited), latest: check(latest) }
}

fn check(Finding { capture, comparison }: Finding) -> CitationCheck {
    let (status, chars, nearest) = match comparison {
        Comparison::Exact(chars) => (CitationStatus::Exact, Some(chars), None),
        Comparison::Moved(chars) => (CitationStatus::Moved, Some(chars), None),
        Comparison::Changed(Nearest { chars, text, replacements }) => {
            let replacements = replacements.into_iter().map(replacement).collect();
            (CitationStatus::Changed, Some(chars), Some((text, replacements)))
        }
        Comparison::Missing => (CitationStatus::Gone, None, None),
    };
    let (text, difference) = nearest.unzip();
    CitationCheck {
        status,
        capture_id: capture.map(|capture| capture.capture_id.0),
        capture_time: capture.map(|capture| rfc3339(to_date_time(capture.captured_at))),
        char_start: chars.as_ref().map(|chars| wire_int(chars.start as u64)),
        char_end: chars.map(|chars| wire_int(chars.end as u64)),
        text,
        difference,
    }
}

fn replacement(Replacement { start, removed, added }: Replacement) -> QuoteReplacement {
    QuoteReplacement { char_start: wire_int(start as u64), removed, added }
}

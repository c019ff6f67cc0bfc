use api_types::validation::parse_uuid;
use api_types::{OnExceed, SearchIndex, Verbosity};
use app::clock::from_date_time;
use app::files::labels;
use app::search::{Detail, SearchRequest, SourcePolicy};
use model::{IndexName, OrganizationId, SessionId};
use retrieval_core::analysis::canonical_code;
use retrieval_core::shape;
use retrieval_core::site::Site;
use time::OffsetDateTime;

use crate::documents::request::{deadline, positive};
use crate::failure::Failure;
use crate::times;

/// Shape of the answer, which does not affect the search.
#[derive(Clone, Debug)]
pub(crate) struct Shaping {
    pub verbosity: shape::Verbosity,
    /// An unknown preset as sent, for the warning.
    pub unrecognized_verbosity: Option<String>,
    /// False if the caller wants no passages, whatever the preset.
    pub passages: bool,
    pub max_chars: Option<u64>,
    pub max_chars_per_result: Option<u64>,
    pub on_exceed: OnExceed,
}

/// Converts a request body. Its single values are validated already; this checks those that need a parser.
pub(crate) fn convert(
    body: api_types::SearchRequest,
    session_id: SessionId,
    now: OffsetDateTime,
) -> Result<(SearchRequest, Shaping), Failure> {
    let (verbosity, unrecognized_verbosity) = match body.response.verbosity {
        Verbosity::IdsOnly => (shape::Verbosity::IdsOnly, None),
        Verbosity::Compact => (shape::Verbosity::Compact, None),
        Verbosity::Standard => (shape::Verbosity::Standard, None),
        Verbosity::Full => (shape::Verbosity::Full, None),
        Verbosity::Unrecognized(value) => (shape::Verbosity::Standard, Some(value)),
    };
    let indexes = body.scope.indexes.filter(|indexes| !indexes.is_empty()).unwrap_or_else(|| vec![SearchIndex::Web]);
    let passages_per_hit = usize::try_from(body.response.max_passages_per_result).unwrap_or_default();
    let published_after = times::published_after(&body.freshness_policy, now)?;
    let published_before = times::published_before(&body.freshness_policy)?;
    let include_domains = sites("include_domains", &body.source_policy.include_domains)?;
    let exclude_domains = sites("exclude_domains", &body.source_policy.exclude_domains)?;
    let request = SearchRequest {
        query: body.query,
        // A blank rewrite would replace the query with nothing.
        search_queries: body
            .search_queries
            .unwrap_or_default()
            .into_iter()
            .filter(|text| !text.trim().is_empty())
            .collect(),
        max_results: usize::try_from(body.max_results).unwrap_or(1),
        indexes: indexes.into_iter().map(index_name).collect(),
        workspace_id: body.scope.workspace_id.as_deref().and_then(parse_uuid).map(OrganizationId),
        language: two_letters("filters.language", body.filters.language)?.map(|code| canonical_code(&code)),
        country: two_letters("filters.country", body.filters.country)?,
        exact_match: body.filters.exact_match,
        labels: labels::normalize("filters.labels", body.filters.labels)?,
        session_id,
        published_after: published_after.map(from_date_time),
        published_before: published_before.map(from_date_time),
        source_policy: SourcePolicy {
            include_domains,
            exclude_domains,
            require_domain_match: body.source_policy.require_domain_match,
        },
        detail: match verbosity {
            shape::Verbosity::IdsOnly => Detail::Ids,
            shape::Verbosity::Compact => Detail::Snippets,
            shape::Verbosity::Standard | shape::Verbosity::Full if passages_per_hit == 0 => Detail::Snippets,
            shape::Verbosity::Standard | shape::Verbosity::Full => Detail::Passages,
        },
        passages_per_hit,
        deadline: deadline(body.timeout_ms),
        original: None,
    };
    let shaping = Shaping {
        verbosity,
        unrecognized_verbosity,
        passages: passages_per_hit > 0,
        max_chars: body.response.budget.max_chars_total.and_then(positive),
        max_chars_per_result: body.response.max_chars_per_result.and_then(positive),
        on_exceed: body.response.budget.on_exceed,
    };
    Ok((request, shaping))
}

fn index_name(index: SearchIndex) -> IndexName {
    match index {
        SearchIndex::Web => IndexName::Web,
        SearchIndex::Workspace => IndexName::Workspace,
    }
}

fn two_letters(field: &str, code: Option<String>) -> Result<Option<String>, Failure> {
    match code {
        None => Ok(None),
        Some(code) if code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
            Ok(Some(code.to_ascii_lowercase()))
        }
        Some(_) => Err(Failure::invalid(field, format!("{field} must be a two-letter code"))),
    }
}

fn sites(list: &str, values: &[String]) -> Result<Vec<Site>, Failure> {
    let parse = |(index, value): (usize, &String)| {
        Site::parse(value).map_err(|error| {
            let field = format!("source_policy.{list}[{index}]");
            Failure::invalid(field.clone(), format!("{field}: {error}"))
        })
    };
    values.iter().enumerate().map(parse).collect()
}

use std::fs;
use std::path::Path;

use retrieval_client::types::{IgnoredSchema, ResearchFormat, ResearchOutputRequest, ResearchRequest, SearchScope};
use serde_json::{Map, Value};

use crate::cli::Research;
use crate::failure::Failure;

/// Returns the request of a new run.
pub fn of(arguments: &Research, scope: SearchScope) -> Result<ResearchRequest, Failure> {
    let mut output = ResearchOutputRequest::default();
    if let Some(max_chars) = arguments.max_chars {
        output.max_chars = max_chars;
    }
    if let Some(path) = &arguments.schema {
        output.format = ResearchFormat::Structured;
        output.schema = Some(schema(path)?);
    }
    Ok(ResearchRequest {
        schema: IgnoredSchema,
        query: arguments.query.join(" "),
        depth: arguments.depth,
        instructions: arguments.instructions.clone(),
        scope,
        filters: Default::default(),
        freshness_policy: Default::default(),
        source_policy: Default::default(),
        output,
        budget: Default::default(),
        previous_research_id: None,
        metadata: Default::default(),
        session_id: None,
        client_model: None,
        webhook: None,
    })
}

fn schema(path: &Path) -> Result<Map<String, Value>, Failure> {
    let unreadable = |source| Failure::Local { what: format!("cannot read `{}`", path.display()), source };
    let text = fs::read(path).map_err(unreadable)?;
    let invalid = |error| Failure::Usage(format!("`{}` is not a JSON Schema: {error}", path.display()));
    serde_json::from_slice(&text).map_err(invalid)
}

//! Parameters of requests: in the path, in the query, in headers.

mod path;
mod query;

use serde_json::{Value, json};

pub use path::{ApiKeyId, CrawlName, FileName, Invalid, PathParameters, ResearchId, SearchId, SyncId, WebhookId};
pub use query::{
    CrawlDeleteQuery, PageQuery, QueryParameters, ResearchEventsQuery, ResearchListQuery, ResearchQuery, UsageQuery,
    WebPagesQuery, WebStatsQuery,
};

/// The location of a parameter (OpenAPI 3.1, 4.8.12.1).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Place {
    Path,
    Query,
    Header,
}

impl Place {
    const fn as_str(self) -> &'static str {
        match self {
            Place::Path => "path",
            Place::Query => "query",
            Place::Header => "header",
        }
    }
}

/// The description of one parameter.
#[derive(Debug)]
pub struct Parameter {
    pub name: &'static str,
    pub place: Place,
    pub description: &'static str,
    schema: fn() -> Value,
    pub(crate) example: &'static str,
}

impl Parameter {
    /// The OpenAPI parameter object. Only path parameters are required.
    pub(crate) fn object(&self) -> Value {
        let mut object = json!({
            "name": self.name,
            "in": self.place.as_str(),
            "required": self.place == Place::Path,
            "description": self.description,
            "schema": (self.schema)(),
        });
        // Lists are one value, separated by commas.
        if object["schema"]["type"] == "array" {
            object["style"] = "form".into();
            object["explode"] = false.into();
            object["example"] = json!([self.example]);
        } else {
            object["example"] = self.example.into();
        }
        object
    }
}

/// The session header, accepted by every operation.
pub static SESSION: Parameter = Parameter {
    name: "X-Session-ID",
    place: Place::Header,
    description: "Groups the requests of one task. A `session_id` in the body takes precedence. The session need not \
                  exist beforehand and authenticates nothing.",
    schema: || json!({"type": "string", "format": "uuid"}),
    example: "5b3f0a52-8f0e-4c3b-9d57-1f6a4f1f3c11",
};

/// The client name header, accepted by every operation.
pub static CLIENT: Parameter = Parameter {
    name: "X-Service-Client",
    place: Place::Header,
    description: "Name of the calling program, as `<client>/<version>`. Informational: neither validated nor stored.",
    schema: || json!({"type": "string"}),
    example: "my-agent/1.4",
};

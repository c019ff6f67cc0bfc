//! What requests carry beside a body.

use serde_json::{Value, json};

/// Where a parameter stands (OpenAPI 3.1, 4.8.12.1).
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

/// One parameter of an operation.
#[derive(Debug)]
pub struct Parameter {
    pub name: &'static str,
    pub place: Place,
    pub description: &'static str,
    schema: fn() -> Value,
    example: &'static str,
}

impl Parameter {
    /// The parameter object. Only what stands in the path is required.
    pub(crate) fn object(&self) -> Value {
        let mut object = json!({
            "name": self.name,
            "in": self.place.as_str(),
            "required": self.place == Place::Path,
            "description": self.description,
            "schema": (self.schema)(),
        });
        // A list in one value, separated by commas.
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

/// Groups the requests of one task; every operation takes it.
pub static SESSION: Parameter = Parameter {
    name: "X-Session-ID",
    place: Place::Header,
    description: "Groups the requests of one task. A `session_id` in the body wins over it. It is not authentication, \
                  and need not exist beforehand.",
    schema: || json!({"type": "string", "format": "uuid"}),
    example: "5b3f0a52-8f0e-4c3b-9d57-1f6a4f1f3c11",
};

/// Names the calling program; every operation takes it.
pub static CLIENT: Parameter = Parameter {
    name: "X-Service-Client",
    place: Place::Header,
    description: "Names the calling program, as `<client>/<version>`. Neither checked nor stored; it changes nothing.",
    schema: || json!({"type": "string"}),
    example: "my-agent/1.4",
};

pub(crate) static FILE_NAME: Parameter = Parameter {
    name: "name",
    place: Place::Path,
    description: "The name of the file, percent-encoded, as the list gives it.",
    schema: || json!({"type": "string", "minLength": 1, "maxLength": 512}),
    example: "quarterly-report.pdf",
};

pub(crate) static SYNC_ID: Parameter = Parameter {
    name: "sync_id",
    place: Place::Path,
    description: "The `sync_id` that starting the run returned.",
    schema: || json!({"type": "string", "minLength": 1, "maxLength": 128}),
    example: "0190a6d2-6a5c-7cc0-8c5e-0f4c5a1b2c3d",
};

fn time_or_empty() -> Value {
    json!({"type": "string", "anyOf": [{"format": "date-time"}, {"const": ""}]})
}

/// The query parameters of the usage overview.
pub(crate) static USAGE: [Parameter; 5] = [
    Parameter {
        name: "from",
        place: Place::Query,
        description: "Start of the window (ISO 8601). Left out or empty: 30 days before its end.",
        schema: time_or_empty,
        example: "2026-05-01T00:00:00Z",
    },
    Parameter {
        name: "to",
        place: Place::Query,
        description: "End of the window (ISO 8601). Left out or empty: now.",
        schema: time_or_empty,
        example: "2026-05-08T00:00:00Z",
    },
    Parameter {
        name: "interval",
        place: Place::Query,
        description: "Length of a bucket. `hour` needs a window of at most 8 days. Empty means `day`.",
        schema: || json!({"type": "string", "enum": ["", "hour", "day"], "default": "day"}),
        example: "day",
    },
    Parameter {
        name: "api_key_ids",
        place: Place::Query,
        description: "Counts these keys only: their ids, separated by commas.",
        schema: || json!({"type": "array", "items": {"type": "string", "format": "uuid"}, "maxItems": 50}),
        example: "9f1c1b6e-0f43-4f0e-8a55-6f1f7f2e4a10",
    },
    Parameter {
        name: "group_by",
        place: Place::Query,
        description: "What the request series is split by. Empty means `none`.",
        schema: || {
            json!({
                "type": "string",
                "enum": ["", "none", "api_key", "endpoint", "status_class"],
                "default": "none",
            })
        },
        example: "endpoint",
    },
];

//! JSON Schemas (2020-12) of the wire types, by name.

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};

type Generate = fn() -> Schema;

/// The types that have a schema of their own: those that are a whole body.
const SCHEMAS: [(&str, Generate); 16] = [
    ("SearchRequest", request::<crate::SearchRequest>),
    ("SearchResponse", response::<crate::SearchResponse>),
    ("DocumentRequest", request::<crate::DocumentRequest>),
    ("DocumentResponse", response::<crate::DocumentResponse>),
    ("FeedbackRequest", request::<crate::FeedbackRequest>),
    ("FeedbackResponse", response::<crate::FeedbackResponse>),
    ("PresignRequest", request::<crate::PresignRequest>),
    ("PresignResponse", response::<crate::PresignResponse>),
    ("FileListResponse", response::<crate::FileListResponse>),
    ("FileDeleteResponse", response::<crate::FileDeleteResponse>),
    ("IndexRequest", request::<crate::IndexRequest>),
    ("IndexStartResponse", response::<crate::IndexStartResponse>),
    ("IndexStatusResponse", response::<crate::IndexStatusResponse>),
    ("UsageOverview", response::<crate::UsageOverview>),
    ("ErrorEnvelope", response::<crate::ErrorEnvelope>),
    ("Warning", response::<crate::Warning>),
];

/// The names that [`json_schema`] knows.
pub fn names() -> impl Iterator<Item = &'static str> {
    SCHEMAS.iter().map(|(name, _)| *name)
}

/// The schema of the type of this name, or `None` when no body has it.
pub fn json_schema(name: &str) -> Option<Schema> {
    SCHEMAS.iter().find(|(known, _)| *known == name).map(|(_, generate)| generate())
}

fn request<T: JsonSchema>() -> Schema {
    SchemaGenerator::from(SchemaSettings::draft2020_12()).into_root_schema_for::<T>()
}

/// Describes what is written, which is stricter than what is read: a nullable field is always there.
fn response<T: JsonSchema>() -> Schema {
    SchemaGenerator::from(SchemaSettings::draft2020_12().for_serialize()).into_root_schema_for::<T>()
}

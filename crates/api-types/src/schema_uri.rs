use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::IgnoredAny};

/// The `$schema` of a request. Any value is accepted and ignored, so that annotations of editors and generators do not make
/// a body invalid.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct IgnoredSchema;

impl<'de> Deserialize<'de> for IgnoredSchema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| IgnoredSchema)
    }
}

impl Serialize for IgnoredSchema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }
}

impl JsonSchema for IgnoredSchema {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "IgnoredSchema".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "uri", "readOnly": true })
    }
}

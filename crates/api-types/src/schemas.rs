//! JSON Schemas (2020-12) of the wire types, by name.

use std::borrow::Cow;

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::transform::{RecursiveTransform, Transform, transform_subschemas};
use schemars::{JsonSchema, Schema, json_schema};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use validator::Validate;

use crate::Usage;

/// Direction of a body. Written bodies are stricter than read ones: nullable fields are always present.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Direction {
    Request,
    Response,
}

/// A type with a schema of its own.
struct Body {
    name: &'static str,
    direction: Direction,
    /// Builds a self-contained schema.
    root: fn(&mut SchemaGenerator) -> Schema,
    /// Builds a reference; the schema itself stays in the generator.
    reference: fn(&mut SchemaGenerator) -> Schema,
}

const fn request<T: JsonSchema>(name: &'static str) -> Body {
    Body {
        name,
        direction: Direction::Request,
        root: SchemaGenerator::root_schema_for::<T>,
        reference: SchemaGenerator::subschema_for::<T>,
    }
}

const fn response<T: JsonSchema>(name: &'static str) -> Body {
    Body { direction: Direction::Response, ..request::<T>(name) }
}

/// The body of a request.
pub trait RequestBody: DeserializeOwned + Serialize + Validate {
    /// The name of its schema; `None` for [`NoBody`].
    const NAME: Option<&'static str>;

    /// The value for operations without a body; `None` for types that are read from one.
    fn absent() -> Option<Self> {
        None
    }
}

/// The body of a successful response, or of an error.
pub trait ResponseBody: DeserializeOwned + Serialize {
    /// The name of its schema.
    const NAME: &'static str;

    /// The block that states the length of the body, in types that have one.
    fn usage_mut(&mut self) -> Option<&mut Usage> {
        None
    }
}

/// The request body of operations that take none.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, Validate)]
pub struct NoBody {}

impl RequestBody for NoBody {
    const NAME: Option<&'static str> = None;

    fn absent() -> Option<Self> {
        Some(NoBody {})
    }
}

/// Gives types a schema of their own. `metered` names the field with the [`Usage`] block.
macro_rules! bodies {
    (
        requests: $($request:ident),*;
        responses: $($response:ident $(metered $usage:ident)?),*;
    ) => {
        /// All bodies, requests first.
        const BODIES: &[Body] = &[
            $(request::<crate::$request>(stringify!($request)),)*
            $(response::<crate::$response>(stringify!($response)),)*
        ];

        $(
            impl RequestBody for crate::$request {
                const NAME: Option<&'static str> = Some(stringify!($request));
            }
        )*

        $(
            impl ResponseBody for crate::$response {
                const NAME: &'static str = stringify!($response);

                $(
                    fn usage_mut(&mut self) -> Option<&mut Usage> {
                        self.$usage.as_mut().map(AsMut::as_mut)
                    }
                )?
            }
        )*
    };
}

bodies! {
    requests: SearchRequest, DocumentRequest, DocumentsRequest, FeedbackRequest, PresignRequest, IndexRequest,
        KeyCreateRequest, WebhookCreateRequest, CitationsVerifyRequest, ResearchRequest, WebCrawlCreateRequest,
        WebPagesRemoveRequest, WebPagesRefreshRequest;
    responses:
        SearchResponse metered usage,
        DocumentResponse metered usage,
        DocumentsResponse metered usage,
        CitationsVerifyResponse metered usage,
        SearchRecordResponse,
        FeedbackResponse metered usage,
        PresignResponse,
        FileListResponse,
        FileResponse,
        FileContentResponse,
        FileDeleteResponse,
        IndexStartResponse,
        IndexStatusResponse,
        IndexFilesResponse,
        UsageOverview,
        MeResponse,
        KeyListResponse,
        KeyCreateResponse,
        KeyRevokeResponse,
        WebhookListResponse,
        WebhookCreateResponse,
        WebhookRotateResponse,
        WebhookDeleteResponse,
        ResearchResponse metered usage,
        ResearchListResponse,
        ResearchEventsResponse,
        ResearchDeleteResponse,
        WebCrawlListResponse,
        WebCrawlResponse,
        WebCrawlReportResponse,
        WebCrawlDeleteResponse,
        WebPageListResponse,
        WebStatsResponse,
        WebPagesRemoveResponse,
        WebPagesRefreshResponse,
        ErrorEnvelope,
        Warning;
}

/// Names of all schemas of [`json_schema()`].
pub fn names() -> impl Iterator<Item = &'static str> {
    BODIES.iter().map(|body| body.name)
}

/// Returns the schema of a body by its name.
pub fn json_schema(name: &str) -> Option<Schema> {
    let body = BODIES.iter().find(|body| body.name == name)?;
    Some((body.root)(&mut generator(body.direction, "/$defs")))
}

/// Returns the schemas of all bodies and of their parts, by name, for a document that keeps them at `path`, a JSON pointer
/// such as `/components/schemas`. They refer to each other by it.
///
/// A type in requests and responses must have the same schema in both; a test checks this.
pub fn components(path: &'static str) -> Map<String, Value> {
    let mut all = Map::new();
    for direction in [Direction::Request, Direction::Response] {
        let mut generator = generator(direction, path);
        for body in BODIES.iter().filter(|body| body.direction == direction) {
            (body.reference)(&mut generator);
        }
        all.extend(generator.take_definitions(true));
    }
    all
}

fn generator(direction: Direction, path: &'static str) -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.definitions_path = Cow::Borrowed(path));
    let settings = match direction {
        Direction::Request => settings,
        Direction::Response => settings.for_serialize(),
    };
    settings.with_transform(PlainWords).with_transform(RecursiveTransform(tidy)).into_generator()
}

/// Cleans up after schemars: removes line breaks of doc comments, and `writeOnly` on ignored request fields, which are
/// `readOnly`.
fn tidy(schema: &mut Schema) {
    if schema.get("readOnly").is_some() {
        schema.remove("writeOnly");
    }
    if let Some(Value::String(text)) = schema.get_mut("description") {
        let paragraphs: Vec<_> = text.split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect();
        *text = paragraphs.join("\n\n");
    }
}

/// Writes string enums as `enum`, which every tool supports. schemars writes enums with described values as `oneOf` of
/// constants. The descriptions move to `x-enumDescriptions`, where API references look for them. Enums with the mark
/// `x-open` allow other strings too.
#[derive(Clone)]
struct PlainWords;

impl Transform for PlainWords {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        let is_open = schema.remove("x-open").is_some();
        let Some((words, described)) = schema.get("oneOf").and_then(Value::as_array).and_then(|all| words(all)) else {
            return;
        };
        schema.remove("oneOf");
        schema.insert("type".to_owned(), "string".into());
        match is_open {
            true => schema.insert("anyOf".to_owned(), open(words)),
            false => schema.insert("enum".to_owned(), words.into()),
        };
        schema.insert("x-enumDescriptions".to_owned(), described.into());
    }
}

/// Returns the schema of a string that is usually one of these words, given with their descriptions.
pub(crate) fn open_words<'a>(words: impl IntoIterator<Item = (&'a str, &'a str)>) -> Schema {
    let mut described = Map::new();
    for (word, about) in words {
        let about = match described.get(word).and_then(Value::as_str) {
            Some(other) => format!("{other}; or {about}"),
            None => about.to_owned(),
        };
        described.insert(word.to_owned(), about.into());
    }
    let words = described.keys().map(|word| word.as_str().into()).collect();
    json_schema!({"type": "string", "anyOf": open(words), "x-enumDescriptions": described})
}

/// Returns alternatives that list the known words and allow all others.
fn open(words: Vec<Value>) -> Value {
    json!([{"enum": words}, {"type": "string"}])
}

/// Returns the values and descriptions of alternatives; `None` unless all are strings.
fn words(alternatives: &[Value]) -> Option<(Vec<Value>, Map<String, Value>)> {
    let mut all = Vec::new();
    let mut described = Map::new();
    for alternative in alternatives {
        if alternative["type"] != "string" {
            return None;
        }
        match (alternative.get("const"), alternative.get("enum")) {
            (Some(word), None) => {
                if let (Some(name), Some(text)) = (word.as_str(), alternative.get("description")) {
                    described.insert(name.to_owned(), text.clone());
                }
                all.push(word.clone());
            }
            (None, Some(several)) => all.extend(several.as_array()?.iter().cloned()),
            _ => return None,
        }
    }
    Some((all, described))
}

use api_types::schemas;
use model::Scope;
use serde_json::{Map, Value, json};

use crate::examples::Example;
use crate::parameters::{CLIENT, Parameter, SESSION};
use crate::{Spec, Tag, errors, headers, operations};

/// The version of the interface. The program has its own.
const VERSION: &str = "0.1.0";

const DESCRIPTION: &str = "\
Search, reading and private files for agents and applications.

Send `Authorization: Bearer <API_KEY>`. Requests and responses are JSON. A request body is one object of at most 1 MiB; \
unknown fields and query parameters are refused. Fields without a value are omitted unless they may be null.

Every response has a `request_id`, in the body and in the header `X-Request-ID`. Errors use the envelope \
`ErrorEnvelope`: branch on `error.code`, since messages may change. Retry 429 and 5xx with exponential back-off (500 ms, \
doubled each time, at most 8 s, three retries); on 429 wait until `X-RateLimit-Reset`, or for \
`error.details.retry_after_seconds` if it is there. Do not retry other errors, nor 507.

A request that is not valid HTTP gets status 400, 408 or 431 with an empty body and without `X-Request-ID`: characters \
outside ASCII in its URL that are not percent-encoded, a URL above 65,534 bytes, more than 96 headers, or headers that \
arrive too slowly.

`warnings` lists warnings: a 200 with warnings is a complete answer.";

/// Returns the OpenAPI 3.1 document of the public API at the root of its host.
pub fn document() -> Value {
    document_below("")
}

/// Returns the OpenAPI 3.1 document of the public API below a path such as `/api`; empty for the root of its host.
///
/// The server's address has no host, so that one document suits every host. Key order is that of the JSON library; compare
/// documents as values.
pub fn document_below(path: &str) -> Value {
    let mut paths = Map::new();
    for operation in operations::all() {
        let item = paths.entry(operation.path).or_insert_with(|| json!({}));
        item[operation.method.key()] = describe(operation);
    }
    let server = if path.is_empty() { "/" } else { path };
    let tags = Tag::ALL.map(|tag| json!({"name": tag.as_str(), "description": tag.description()}));
    json!({
        "openapi": "3.1.0",
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "info": {
            "title": "Retrieval API",
            "version": VERSION,
            "summary": "Search, reading and private files for agents and applications.",
            "description": DESCRIPTION,
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "servers": [{"url": server, "description": "The server that serves this document."}],
        "tags": tags,
        "paths": paths,
        "components": {
            "schemas": schemas::components("/components/schemas"),
            "responses": errors::components(),
            "parameters": {"SessionId": SESSION.object(), "ServiceClient": CLIENT.object()},
            "headers": headers::components(),
            "securitySchemes": {"apiKey": {
                "type": "http",
                "scheme": "bearer",
                "description": "An API key, or an access token of the configured issuer. The names that an operation \
                                lists beside the scheme are the scopes that it requires.",
            }},
        },
    })
}

fn describe(operation: &Spec) -> Value {
    let own = operation.path_parameters.iter().chain(operation.query_parameters).map(Parameter::object);
    let shared = ["SessionId", "ServiceClient"].map(|name| json!({"$ref": format!("#/components/parameters/{name}")}));
    let mut described = json!({
        "operationId": operation.id,
        "tags": [operation.tag.as_str()],
        "summary": operation.summary,
        "description": operation.description,
        "security": [{"apiKey": operation.scope.map(Scope::as_str).into_iter().collect::<Vec<_>>()}],
        "parameters": own.chain(shared).collect::<Vec<_>>(),
        "responses": errors::responses(operation),
    });
    described["responses"][operation.status.to_string()] = json!({
        "description": operation.success,
        "headers": headers::of_success(operation),
        "content": json_body(operation.response, &[(operation.response_example)()]),
    });
    if let Some(stream) = operation.stream {
        described["responses"][operation.status.to_string()]["content"][stream] = json!({"schema": {"type": "string"}});
    }
    if let Some(request) = operation.request {
        described["requestBody"] = json!({
            "required": true,
            "content": json_body(request, &(operation.request_examples)()),
        });
    }
    if !operation.warnings.is_empty() {
        described["x-warnings"] = json!(operation.warnings);
    }
    described
}

fn json_body(schema: &str, examples: &[Example]) -> Value {
    let named =
        |example: &Example| (example.name.to_owned(), json!({"summary": example.summary, "value": example.value}));
    json!({"application/json": {
        "schema": {"$ref": format!("#/components/schemas/{schema}")},
        "examples": examples.iter().map(named).collect::<Map<_, _>>(),
    }})
}

//! Sends another organization's ids and names in every path, query and body field of every operation.
//!
//! The requests are generated from the served OpenAPI document, so that new routes and fields are covered.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{Client, Database, Reply, Server};

on_both_databases!(no_field_of_any_operation_reaches_another_organization);

/// Content, distinctive words and file name of the owner's document.
const TEXT: &str = "The merger codename is tangerine falcon.";
const WORDS: [&str; 2] = ["tangerine", "falcon"];
const NAME: &str = "confidential-falcon.txt";

/// A value of the owner, and an unknown one of the same form.
struct Foreign {
    owned: String,
    unknown: String,
}

fn id(owned: &Value) -> Foreign {
    let owned = owned.as_str().unwrap_or_else(|| panic!("no id: {owned}")).to_owned();
    Foreign { owned, unknown: Uuid::new_v4().to_string() }
}

/// Creates objects of every kind for the owner and returns their ids and names.
fn owned_values(server: &Server, owner: &Client) -> Vec<Foreign> {
    owner.upload(NAME, TEXT);
    let run = owner.start_run("incremental");
    assert_eq!(owner.finish_run(&run)["stats"]["indexed"], 1);
    let found = owner.search_workspace(TEXT);
    let hit = &found["results"][0];
    let document = owner.document(json!({ "doc_id": hit["doc_id"] })).ok();
    let second_key = server.create_key(owner.organization, &[]);
    let webhook = json!({ "url": "https://example.com/hook", "event_types": ["run.completed"] });
    let webhook = owner.post("/v1/webhooks", &webhook).ok();
    let address = hit["canonical_url"].as_str().unwrap().to_owned();
    vec![
        id(&hit["doc_id"]),
        id(&hit["passages"][0]["passage_id"]),
        id(&found["search_id"]),
        id(&document["provenance"]["capture_id"]),
        id(&json!(run)),
        id(&json!(owner.organization)),
        id(&second_key["api_key_id"]),
        id(&webhook["webhook_id"]),
        id(&found["session_id"]),
        Foreign { unknown: address.replace("falcon", "walrus"), owned: address },
        Foreign { owned: NAME.to_owned(), unknown: NAME.replace("falcon", "walrus") },
    ]
}

/// One request: method, path with query, body.
#[derive(Clone, Debug)]
struct Call {
    method: String,
    path: String,
    body: Option<Value>,
}

impl Call {
    fn send(&self, client: &Client) -> Reply {
        let body = self.body.as_ref().map(Value::to_string);
        client.send(&self.method, &self.path, &[], body.as_ref().map(String::as_bytes))
    }
}

struct OpenApi(Value);

impl OpenApi {
    fn resolve<'a>(&'a self, schema: &'a Value) -> &'a Value {
        match schema["$ref"].as_str() {
            Some(reference) => self.resolve(self.0.pointer(&reference[1..]).unwrap()),
            None => schema,
        }
    }

    /// Collects JSON pointers of all string fields; `-` is the item of a list.
    fn string_fields(&self, schema: &Value, at: &str, found: &mut BTreeSet<String>) {
        let schema = self.resolve(schema);
        let is = |kind: &str| match &schema["type"] {
            Value::Array(kinds) => kinds.contains(&kind.into()),
            one => one == kind,
        };
        if is("string") {
            found.insert(at.to_owned());
        }
        if is("array") {
            self.string_fields(&schema["items"], &format!("{at}/-"), found);
        }
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            self.string_fields(property, &format!("{at}/{name}"), found);
        }
        for alternatives in ["anyOf", "oneOf", "allOf"] {
            for schema in schema[alternatives].as_array().into_iter().flatten() {
                self.string_fields(schema, at, found);
            }
        }
    }

    /// Returns all requests with `value` in one field and the published examples in the others.
    fn calls(&self, value: &str) -> Vec<(String, Call)> {
        let mut calls = Vec::new();
        for (path, operations) in self.0["paths"].as_object().unwrap() {
            for (method, operation) in operations.as_object().unwrap() {
                if operation["security"] != json!([]) && operation["operationId"].is_string() {
                    self.calls_of(&method.to_uppercase(), path, operation, value, &mut calls);
                }
            }
        }
        calls
    }

    fn calls_of(&self, method: &str, path: &str, operation: &Value, value: &str, calls: &mut Vec<(String, Call)>) {
        let encoded = percent_encoding::utf8_percent_encode(value, percent_encoding::NON_ALPHANUMERIC).to_string();
        let name = format!("{method} {path}");
        let examples = &operation["requestBody"]["content"]["application/json"]["examples"];
        let mut bodies: Vec<Option<Value>> =
            examples.as_object().into_iter().flatten().map(|(_, example)| Some(example["value"].clone())).collect();
        if bodies.is_empty() {
            bodies.push(None);
        }
        let placeholder = path.find('{').zip(path.find('}'));
        for body in &bodies {
            let at = match placeholder {
                Some((open, close)) => format!("{}{encoded}{}", &path[..open], &path[close + 1..]),
                None => path.to_owned(),
            };
            let call = Call { method: method.to_owned(), path: at, body: body.clone() };
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                let parameter = self.resolve(parameter);
                let field = parameter["name"].as_str().unwrap();
                let path = match parameter["in"].as_str().unwrap() {
                    "path" => call.path.clone(),
                    "query" => format!("{}?{field}={encoded}", call.path),
                    _ => continue,
                };
                calls.push((format!("{name}: {field}"), Call { path, ..call.clone() }));
            }
            let Some(body) = body else { continue };
            let mut places = BTreeSet::new();
            self.string_fields(&operation["requestBody"]["content"]["application/json"]["schema"], "", &mut places);
            for place in places {
                let mut body = body.clone();
                set(&mut body, &place, value);
                calls.push((format!("{name}: {place}"), Call { body: Some(body), ..call.clone() }));
            }
        }
    }
}

/// Sets the field at a JSON pointer to `value` and creates missing parents.
fn set(body: &mut Value, place: &str, value: &str) {
    let mut here = &mut *body;
    for step in place.split('/').skip(1) {
        if step == "-" {
            *here = json!([null]);
            here = &mut here[0];
        } else {
            if !here.is_object() {
                *here = json!({});
            }
            here = &mut here[step];
        }
    }
    *here = value.into();
    // Prevents fetches: the guard refuses this address immediately.
    if let Some(address) = body.get_mut("canonical_url").filter(|address| address.as_str() != Some(value)) {
        *address = "http://127.0.0.1/".into();
    }
}

/// Returns the parts of a response that must not differ between owned and unknown values.
fn comparable(reply: &Reply, value: &str) -> (u16, String) {
    let body: Value = serde_json::from_str(&reply.text).unwrap_or_else(|_| panic!("no JSON: {reply:#?}"));
    (reply.status, body["error"].to_string().replace(value, "?"))
}

fn no_field_of_any_operation_reaches_another_organization(database: Database) {
    // Each body of `POST /v1/research` starts a run.
    let server = Server::start_with(database, "[research]\nruns_per_organization = 100000\n");
    let owner = server.tenant("owner");
    let values = owned_values(&server, &owner);
    let rival = server.tenant("rival");
    let fast = server.create_key(rival.organization, &["--limit-rps", "100000"]);
    let rival = rival.with_key(fast["key"].as_str());
    let published = rival.get("/openapi/public.json");
    let openapi = OpenApi(serde_json::from_str(&published.text).unwrap());

    let mut tested = BTreeSet::new();
    for foreign in &values {
        let (owned, unknown) = (openapi.calls(&foreign.owned), openapi.calls(&foreign.unknown));
        for ((place, owned), (_, unknown)) in owned.into_iter().zip(unknown) {
            let answer = owned.send(&rival);
            let expected = unknown.send(&rival);
            assert!(answer.status < 500, "{place}, {owned:?}: {answer:#?}");
            assert_eq!(
                comparable(&answer, &foreign.owned),
                comparable(&expected, &foreign.unknown),
                "{place} reveals that the value exists: {owned:?}"
            );
            // The response may repeat the request, but nothing else of the owner.
            let sent = format!("{owned:?}");
            let sent = percent_encoding::percent_decode_str(&sent).decode_utf8_lossy();
            let names = values.iter().map(|value| value.owned.as_str());
            for secret in names.chain(WORDS).filter(|secret| !sent.contains(secret)) {
                assert!(!answer.text.contains(secret), "{place} shows `{secret}`: {answer:#?}");
            }
            tested.insert(place);
        }
    }
    // Known fields were covered, at least one of each operation with input.
    for place in [
        "POST /v1/document: /doc_id",
        "POST /v1/document: /content/passage_ids/-",
        "POST /v1/feedback: /search_id",
        "POST /v1/search: /scope/workspace_id",
        "DELETE /v1/files/{name}: name",
        "GET /v1/files/{name}: name",
        "GET /v1/files/{name}/content: name",
        "GET /v1/files/index/{sync_id}: sync_id",
        "GET /v1/files/index/{sync_id}/files: sync_id",
        "DELETE /v1/keys/{api_key_id}: api_key_id",
        "DELETE /v1/webhooks/{webhook_id}: webhook_id",
        "POST /v1/webhooks/{webhook_id}/rotate: webhook_id",
        "GET /v1/usage: api_key_ids",
    ] {
        assert!(tested.contains(place), "{place} is not among {tested:#?}");
    }
    assert_eq!(owner.file_names(), [NAME]);
    assert_eq!(owner.document(json!({ "doc_id": values[0].owned })).status, 200);
    assert_eq!(owner.search_workspace(TEXT)["results"][0]["doc_id"], values[0].owned);
}

use std::collections::HashSet;

use api_types::schemas;
use openapi::{Tag, document, document_below, operations};
use serde_json::{Value, json};

/// Visits `value` and every value below it, with its JSON pointer.
fn walk<'a>(value: &'a Value, pointer: &str, visit: &mut impl FnMut(&str, &'a Value)) {
    visit(pointer, value);
    match value {
        Value::Object(fields) => {
            for (name, below) in fields {
                let name = name.replace('~', "~0").replace('/', "~1");
                walk(below, &format!("{pointer}/{name}"), visit);
            }
        }
        Value::Array(items) => {
            for (index, below) in items.iter().enumerate() {
                walk(below, &format!("{pointer}/{index}"), visit);
            }
        }
        _ => {}
    }
}

fn follow<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value["$ref"].as_str() {
        Some(reference) => document.pointer(reference.strip_prefix('#').unwrap()).unwrap(),
        None => value,
    }
}

/// Returns a validator of the schema at `pointer` of the document.
fn validator(document: &Value, pointer: &str) -> jsonschema::Validator {
    let schema = json!({"$ref": format!("#{pointer}"), "components": document["components"]});
    jsonschema::draft202012::options().should_validate_formats(true).build(&schema).unwrap()
}

#[test]
fn every_reference_resolves() {
    let document = document();
    let mut references = 0;
    walk(&document, "", &mut |pointer, value| {
        if let Some(reference) = value.get("$ref").and_then(Value::as_str) {
            references += 1;
            let target = reference.strip_prefix('#').and_then(|path| document.pointer(path));
            assert!(target.is_some(), "{pointer} refers to {reference}");
        }
    });
    assert!(references > 100, "{references} references");
}

#[test]
fn operations_are_unique_and_complete() {
    let document = document();
    let (mut ids, mut routes) = (HashSet::new(), HashSet::new());
    for operation in operations::all() {
        assert!(ids.insert(operation.id) && routes.insert(operation.route), "{}", operation.id);
        let method = operation.method.as_str().to_lowercase();
        let described = &document["paths"][operation.path][method];
        assert_eq!(described["operationId"], operation.id);
        assert_eq!(
            described["security"],
            json!([{"apiKey": operation.scope.map(|scope| scope.as_str()).into_iter().collect::<Vec<_>>()}])
        );
        for field in ["summary", "description"] {
            assert!(described[field].as_str().is_some_and(|text| !text.is_empty()), "{}: {field}", operation.id);
        }
        for status in ["400", "401", "403", "429", "500", "502"] {
            let answer = follow(&document, &described["responses"][status]);
            let schema = &answer["content"]["application/json"]["schema"];
            assert_eq!(schema["$ref"], "#/components/schemas/ErrorEnvelope", "{} {status}", operation.id);
        }
        assert_eq!(operation.request.is_some(), !(operation.request_examples)().is_empty());
        assert_eq!(operations::by_route(operation.route).map(|found| found.id), Some(operation.id));
        for name in operation.request.into_iter().chain([operation.response]) {
            assert!(schemas::json_schema(name).is_some(), "{name} has a schema");
        }
    }
    assert!(Tag::ALL.iter().all(|tag| operations::all().any(|operation| operation.tag == *tag)));
}

#[test]
fn every_field_parameter_and_header_is_described() {
    let document = document();
    let mut fields = 0;
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        assert!(schema["description"].is_string(), "{name}");
        walk(schema, name, &mut |pointer, value| {
            for (field, property) in value.get("properties").and_then(Value::as_object).into_iter().flatten() {
                fields += 1;
                assert!(property["description"].is_string(), "{pointer}: {field}");
            }
        });
    }
    assert!(fields > 150, "{fields} fields");
    walk(&document["paths"], "", &mut |pointer, value| {
        if value.get("in").is_some() {
            assert!(value["description"].is_string() && !value["example"].is_null(), "{pointer}");
        }
    });
    for (name, header) in document["components"]["headers"].as_object().unwrap() {
        assert!(header["description"].is_string(), "{name}");
    }
}

#[test]
fn only_a_busy_server_says_when_to_retry_in_a_header() {
    let document = document();
    for path in document["paths"].as_object().unwrap().values() {
        for operation in path.as_object().unwrap().values() {
            for (status, response) in operation["responses"].as_object().unwrap() {
                let has_header = follow(&document, response)["headers"].get("Retry-After").is_some();
                assert_eq!(has_header, status == "503", "{} {status}", operation["operationId"]);
            }
        }
    }
}

#[test]
fn requests_are_closed_at_every_depth() {
    let document = document();
    let mut pending: Vec<&str> = operations::all().filter_map(|operation| operation.request).collect();
    let mut seen = HashSet::new();
    while let Some(name) = pending.pop() {
        if !seen.insert(name) {
            continue;
        }
        let schema = &document["components"]["schemas"][name];
        walk(schema, name, &mut |pointer, value| {
            if value.get("properties").is_some() {
                assert_eq!(value["additionalProperties"], false, "{pointer}");
            }
            pending.extend(value.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next()));
        });
    }
    assert!(seen.contains("ContentRange") && seen.contains("ResponseBudget"), "{seen:?}");
}

#[test]
fn types_have_one_schema_in_requests_and_responses() {
    // `components` has one schema per name; compare it with the schema of each body that uses the type.
    let all = schemas::components("/$defs");
    for body in schemas::names() {
        let own = serde_json::to_value(schemas::json_schema(body).unwrap()).unwrap();
        for (name, schema) in own["$defs"].as_object().into_iter().flatten() {
            assert_eq!(schema, &all[name], "{name} in {body}");
        }
    }
}

#[test]
fn every_example_is_valid() {
    let document = document();
    let mut examples = 0;
    walk(&document, "", &mut |pointer, value| {
        let (Some(schema), Some(named)) = (value.get("schema"), value.get("examples").and_then(Value::as_object))
        else {
            return;
        };
        let validator = validator(&document, schema["$ref"].as_str().unwrap().strip_prefix('#').unwrap());
        assert!(!named.is_empty(), "{pointer} has no example");
        for (name, example) in named {
            examples += 1;
            let errors: Vec<_> = validator
                .iter_errors(&example["value"])
                .map(|error| format!("{} {error}", error.instance_path()))
                .collect();
            assert!(errors.is_empty(), "{pointer}: {name}: {errors:?}");
        }
    });
    assert!(examples > 40, "{examples} examples");
}

#[test]
fn schemas_refuse_invalid_requests() {
    let document = document();
    let search = validator(&document, "/components/schemas/SearchRequest");
    for bad in [
        json!({}),
        json!({"query": ""}),
        json!({"query": "x", "nope": 1}),
        json!({"query": "x", "max_results": 51}),
        json!({"query": "x", "session_id": null}),
        json!({"query": "x", "session_id": "mine"}),
        json!({"query": "x", "freshness_policy": {"published_after": "yesterday"}}),
        json!({"query": "x", "response": {"budget": {"max_chars_total": 0}}}),
    ] {
        assert!(!search.is_valid(&bad), "{bad}");
    }
    for good in [
        json!({"query": "x", "search_queries": null, "scope": {"indexes": null}}),
        json!({"query": "x", "freshness_policy": {"published_after": "2026-01-05"}}),
        json!({"query": "x", "freshness_policy": {"published_after": "2026-01-05T10:00:00Z"}}),
    ] {
        assert!(search.is_valid(&good), "{good}");
    }
    let read = validator(&document, "/components/schemas/DocumentRequest");
    assert!(!read.is_valid(&json!({})) && read.is_valid(&json!({"canonical_url": "https://example.com/"})));
    assert!(read.is_valid(&json!({"canonical_url": "https://münchen.de/straße"})));
    let webhook = validator(&document, "/components/schemas/WebhookCreateRequest");
    assert!(webhook.is_valid(&json!({"url": "https://münchen.de/", "event_types": ["run.completed"]})));
}

#[test]
fn codes_of_newer_servers_are_valid() {
    let document = document();
    let schemas = &document["components"]["schemas"];
    let codes = [&schemas["WarningCode"], &schemas["ErrorBody"]["properties"]["code"]];
    for (schema, known) in codes.into_iter().zip(["content_truncated", "rate_limited"]) {
        let listed = schema["anyOf"][0]["enum"].as_array().unwrap();
        assert!(listed.contains(&json!(known)) && !listed.contains(&json!("unknown")), "{listed:?}");
        assert!(listed.iter().all(|code| schema["x-enumDescriptions"][code.as_str().unwrap()].is_string()));
        assert!(schema.get("enum").is_none());
    }
    let warning = validator(&document, "/components/schemas/Warning");
    assert!(warning.is_valid(&json!({"code": "something_new", "message": "x"})));
    assert!(!warning.is_valid(&json!({"code": 7, "message": "x"})));
}

#[test]
fn defaults_are_declared() {
    let document = document();
    let default =
        |schema: &str, field: &str| document["components"]["schemas"][schema]["properties"][field]["default"].clone();
    for (schema, field, expected) in [
        ("SearchRequest", "max_results", json!(10)),
        ("ResponseShape", "verbosity", json!("standard")),
        ("ResponseBudget", "on_exceed", json!("shed")),
        ("SearchScope", "indexes", json!(["web"])),
        ("Filters", "exact_match", json!(false)),
        ("SourcePolicy", "require_domain_match", json!(false)),
        ("ContentRequest", "selection", json!("full_document")),
        ("ContentRequest", "format", json!("markdown")),
        ("ContentRequest", "include_offsets", json!(false)),
        ("ContentRange", "start_char", json!(0)),
        ("IndexRequest", "mode", json!("incremental")),
        ("ResponseShape", "max_passages_per_result", json!(3)),
        ("ResearchOutputRequest", "max_chars", json!(12_000)),
    ] {
        assert_eq!(default(schema, field), expected, "{schema}.{field}");
    }
}

#[test]
fn times_without_an_offset_have_every_day_of_their_month() {
    let document = document();
    let parameters = document["paths"]["/v1/usage"]["get"]["parameters"].as_array().unwrap();
    let from = parameters.iter().find(|parameter| parameter["name"] == "from").unwrap();
    let validator = jsonschema::draft202012::options().should_validate_formats(true).build(&from["schema"]).unwrap();
    for (day, is_valid) in [
        ("01-01", true),
        ("01-31", true),
        ("02-28", true),
        ("02-30", false),
        ("04-30", true),
        ("04-31", false),
        ("11-31", false),
        ("12-31", true),
        ("12-32", false),
        ("12-00", false),
        ("13-01", false),
        ("00-10", false),
    ] {
        let time = json!(format!("2026-{day}T00:00:00"));
        assert_eq!(validator.is_valid(&time), is_valid, "{time}");
    }
    for (time, is_valid) in [
        ("2028-02-29T00:00:00Z", true),
        ("2026-01-31", true),
        ("2026-01-31T23:59:59.123456789", true),
        ("2026-01-31T24:00:00", false),
        ("x2026-01-31T00:00:00", false),
        ("", true),
    ] {
        assert_eq!(validator.is_valid(&json!(time)), is_valid, "{time}");
    }
}

#[test]
fn the_server_is_the_path_below_which_the_api_is_served() {
    let url = |document: Value| document["servers"][0]["url"].clone();
    assert_eq!(url(document()), "/");
    assert_eq!(url(document_below("/search/api")), "/search/api");
}

#[test]
fn examples_state_their_own_length() {
    for operation in operations::all() {
        let example = (operation.response_example)().value;
        if let Some(stated) = example["usage"]["bytes_returned"].as_u64() {
            assert_eq!(stated, example.to_string().len() as u64, "{}", operation.id);
        }
    }
}

#[test]
fn the_example_of_usage_answers_the_examples_of_its_parameters() {
    let operation = operations::by_route("GET /v1/usage").unwrap();
    let document = document();
    let parameters = document["paths"][operation.path]["get"]["parameters"].as_array().unwrap();
    let parameter = |name: &str| &parameters.iter().find(|one| one["name"] == name).unwrap()["example"];
    let example = (operation.response_example)().value;
    for name in ["from", "to", "interval"] {
        assert_eq!(&example["range"][name], parameter(name), "{name}");
    }
    assert_eq!(parameter("group_by"), "endpoint");
    assert_eq!(example["keys"][0]["api_key_id"], parameter("api_key_ids")[0]);
    let sum = |list: &str, field: &str| -> u64 {
        example[list].as_array().unwrap().iter().map(|one| one[field].as_u64().unwrap()).sum()
    };
    for field in ["requests", "errors"] {
        for list in ["endpoints", "series", "keys"] {
            assert_eq!(example["headline"][field], sum(list, field), "{field} of {list}");
        }
    }
    assert_eq!(example["headline"]["spend_cents"], sum("products", "spend_cents"));
    assert_eq!(example["latency_series"].as_array().unwrap().len(), 7, "a point for each day");
}

#[test]
fn nullable_fields_and_formats_are_declared() {
    let document = document();
    let schemas = &document["components"]["schemas"];
    for (name, field) in
        [("SearchRequest", "search_queries"), ("SearchResponse", "results"), ("SearchResponse", "warnings")]
    {
        assert_eq!(schemas[name]["properties"][field]["type"], json!(["array", "null"]), "{name}.{field}");
    }
    assert_eq!(schemas["SearchRequest"]["properties"]["max_results"]["format"], "int64");
    assert_eq!(schemas["Score"]["properties"]["value"]["format"], "double");
    assert_eq!(schemas["Passage"]["properties"]["passage_id"]["format"], "uuid");
    assert_eq!(schemas["RateLimit"]["properties"]["reset_at"]["format"], "date-time");
    assert_eq!(schemas["Freshness"]["enum"], json!(["pd", "pw", "pm", "py"]));
    assert_eq!(schemas["SearchResponse"]["properties"]["$schema"]["format"], "uri");
}

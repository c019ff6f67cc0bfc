use openapi::{Call, Language, Method, document, operations};
use serde_json::{Value, json};

fn validator(schema: &str) -> jsonschema::Validator {
    let schema = json!({"$ref": format!("#/components/schemas/{schema}"), "components": document()["components"]});
    jsonschema::draft202012::options().should_validate_formats(true).build(&schema).unwrap()
}

#[test]
fn every_example_is_valid_and_the_first_has_no_optional_field() {
    for operation in operations::all() {
        let calls = Call::of(operation);
        let Some(schema) = operation.request else {
            assert!(calls.iter().all(|call| call.body.is_none()), "{}", operation.id);
            continue;
        };
        let validator = validator(schema);
        for call in &calls {
            assert!(validator.is_valid(call.body.as_ref().unwrap()), "{}: {}", operation.id, call.summary);
        }
        let simplest = calls[0].body.as_ref().unwrap().as_object().unwrap();
        for field in simplest.keys() {
            let mut without = simplest.clone();
            without.remove(field);
            assert!(!validator.is_valid(&Value::Object(without)), "{}: `{field}` is optional", operation.id);
        }
        let sizes: Vec<_> = calls.iter().map(|call| call.body.as_ref().unwrap().to_string().len()).collect();
        assert!(sizes.is_sorted() || !operation.query_parameters.is_empty(), "{}: {sizes:?}", operation.id);
    }
}

#[test]
fn first_example_has_no_query_and_parameters_are_filled() {
    for operation in operations::all() {
        let calls = Call::of(operation);
        assert!(!calls[0].target.contains('?'), "{}", operation.id);
        for call in &calls {
            assert!(!call.target.contains(['{', ' ', '"', '$']), "{}", call.target);
        }
        let last = &calls.last().unwrap().target;
        for parameter in operation.query_parameters {
            assert!(last.contains(&format!("{}=", parameter.name)), "{last}");
        }
    }
}

#[test]
fn code_of_every_language_sends_the_same_request() {
    for call in operations::all().flat_map(Call::of) {
        let [curl, python, javascript] = Language::ALL.map(|language| call.code(language));
        let address = format!("\"{{{{BASE_URL}}}}{}\"", call.target);
        for code in [&curl, &python, &javascript] {
            assert!(code.contains(&address) && code.contains("RETRIEVAL_API_KEY"), "{code}");
        }
        assert!(python.contains(&format!("requests.{}(", call.method.as_str().to_lowercase())), "{python}");
        let get = call.method == Method::Get;
        assert_eq!(javascript.contains(&format!("method: \"{}\"", call.method.as_str())), !get, "{javascript}");
        match &call.body {
            None => assert!(!curl.contains(" -d ") && !python.contains("json=") && !javascript.contains("body:")),
            Some(body) => {
                let sent = curl.split("-d '").nth(1).unwrap().trim_end_matches('\'').replace("'\\''", "'");
                assert_eq!(&serde_json::from_str::<Value>(&sent).unwrap(), body, "{curl}");
                let sent = javascript.split("JSON.stringify(").nth(1).unwrap().split("),\n});").next().unwrap();
                assert_eq!(&serde_json::from_str::<Value>(sent).unwrap(), body, "{javascript}");
                // Without literals that differ, a Python literal is JSON with trailing commas.
                let sent = python.split("json=").nth(1).unwrap().split(",\n)\n").next().unwrap();
                let sent: String = sent.split_whitespace().collect::<Vec<_>>().join(" ");
                let sent =
                    sent.replace(", }", " }").replace(", ]", " ]").replace("True", "true").replace("False", "false");
                let sent: Value = serde_json::from_str(&sent).unwrap_or_else(|error| panic!("{error}: {sent}"));
                assert_eq!(&sent, body, "{python}");
            }
        }
    }
}

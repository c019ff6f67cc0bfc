use std::collections::HashSet;

use api_types::{ErrorCode, WarningCode};
use openapi::{document, operations, reference};
use serde_json::Value;

/// Returns the values of an attribute, in the order of the page.
fn attributes<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    let marker = format!(" {name}=\"");
    page.split(marker.as_str()).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn page_has_all_operations_errors_and_warnings_and_no_broken_link() {
    let page = reference::page(&document());
    let ids = attributes(&page, "id");
    let unique: HashSet<_> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len(), "{ids:?}");
    for operation in operations::all() {
        assert!(unique.contains(operation.id), "{}", operation.id);
        assert!(page.contains(&format!("<code>{}</code>", operation.path)), "{}", operation.path);
        let scope = operation.scope.map_or("any credential".to_owned(), |scope| format!("scope <code>{scope}</code>"));
        assert!(page.contains(&scope), "{scope}");
    }
    for link in attributes(&page, "href") {
        match link.strip_prefix('#') {
            Some(id) => assert!(unique.contains(id), "{link}"),
            None => assert_eq!(link, "/openapi/public.json"),
        }
    }
    for code in ErrorCode::ALL {
        let meaning = code.meaning().replace('\'', "&#39;");
        assert!(page.contains(&format!("<td><code>{}</code></td><td>{meaning}</td>", code.as_str())), "{meaning}");
    }
    let known = serde_json::to_value(WarningCode::StalePassageId).unwrap();
    assert!(page.contains(&format!("<dt><code>{}</code></dt><dd>Document: ", known.as_str().unwrap())));
}

#[test]
fn every_field_of_every_body_is_shown() {
    let document = document();
    let page = reference::page(&document);
    for (schema, described) in document["components"]["schemas"].as_object().unwrap() {
        for field in described["properties"].as_object().into_iter().flatten().map(|(name, _)| name) {
            assert!(page.contains(&format!("<code class=\"name\">{field}</code>")), "{schema}.{field}");
        }
    }
}

#[test]
fn tags_are_balanced() {
    let page = reference::page(&document());
    let mut open: Vec<&str> = Vec::new();
    let body = page.split("</style>").nth(1).unwrap();
    for tag in body.split('<').skip(1).map(|rest| rest.split('>').next().unwrap()) {
        let name = tag.trim_start_matches('/').split(' ').next().unwrap();
        match tag.starts_with('/') {
            false => open.push(name),
            // Opened before the part under test.
            true if ["head", "html"].contains(&name) => {}
            true => assert_eq!(open.pop(), Some(name)),
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn text_of_the_document_is_never_markup() {
    let mut document = document();
    let hostile = "<script>alert('x')</script> \"&";
    document["info"]["title"] = hostile.into();
    document["tags"][0]["description"] = hostile.into();
    for operation in document["paths"].as_object_mut().unwrap().values_mut().flat_map(Value::as_object_mut) {
        for described in operation.values_mut() {
            described["summary"] = hostile.into();
            described["description"] = format!("`{hostile}`").into();
        }
    }
    assert!(!reference::page(&document).contains("<script"));
}

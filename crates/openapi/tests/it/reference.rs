use std::collections::HashSet;

use api_types::{ErrorCode, WarningCode};
use openapi::{BaseUrl, Call, Language, document, operations, reference};
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
            None => {
                let files = ["openapi/public.json", "llms.txt", "docs/reference.css", "console/"];
                assert!(files.contains(&link), "{link}");
            }
        }
    }
    for code in ErrorCode::ALL {
        let meaning = code.meaning().replace('\'', "&#39;");
        assert!(page.contains(&format!("<td><code>{}</code></td><td>{meaning}</td>", code.as_str())), "{meaning}");
    }
    let warnings = page.split("<section id=\"warnings\">").nth(1).unwrap();
    for code in operations::all().flat_map(|operation| operation.warnings) {
        let code = serde_json::to_value(code).unwrap();
        assert!(warnings.contains(&format!("<dt><code>{}</code></dt>", code.as_str().unwrap())), "{code}");
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
    let body = page.split("</head>").nth(1).unwrap();
    for tag in body.split('<').skip(1).map(|rest| rest.split('>').next().unwrap()) {
        let name = tag.trim_start_matches('/').split(' ').next().unwrap();
        match tag.starts_with('/') {
            false if name == "input" => {}
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
    let page = reference::page(&document);
    assert_eq!(page.matches("<script").count(), 1, "the page's own script");
}

#[test]
fn first_example_is_shown_first_in_every_language() {
    let page = reference::page(&document());
    for operation in operations::all() {
        let article = page.split(&format!("<article id=\"{}\">", operation.id)).nth(1).unwrap();
        let article = article.split("</article>").next().unwrap();
        let calls = Call::of(operation);
        assert_eq!(article.matches("<figure class=\"call\">").count(), calls.len(), "{}", operation.id);
        let first = article.split("<figure class=\"call\">").nth(1).unwrap();
        assert!(first.starts_with(&format!("<figcaption>{}</figcaption>", calls[0].summary)), "{first}");
        for language in Language::ALL {
            assert!(first.contains(&format!("data-language=\"{}\"", language.name())), "{}", operation.id);
        }
    }
    // Every block of code can be copied, and all of it is visible without the script.
    assert_eq!(page.matches("class=\"copy\" hidden").count(), page.matches("<pre").count());
    assert!(!page.contains("<pre hidden") && !page.contains("<div class=\"code\" hidden"));
}

#[test]
fn base_url_is_filled_in_everywhere() {
    let page = reference::page(&document());
    let filled = BaseUrl::new("http://nas.local:8080").unwrap().fill(&page);
    assert!(
        !filled.contains("{{")
            && filled.contains("\"http://nas.local:8080/v1/search\"".replace('"', "&quot;").as_str())
    );
}

/// The Content-Security-Policy forbids everything else.
#[test]
fn nothing_is_loaded_from_elsewhere_and_nothing_is_inline() {
    let page = reference::page(&document());
    assert_eq!(attributes(&page, "src"), ["docs/reference.js"]);
    for inline in ["<style", " style=", " onclick=", "javascript:", "@import", "url("] {
        assert!(!page.contains(inline), "{inline}");
    }
    for outside in ["http://", "https://", "//cdn", "eval(", "innerHTML"] {
        assert!(!reference::STYLE.contains(outside) && !reference::SCRIPT.contains(outside), "{outside}");
    }
    assert!(reference::STYLE.len() + reference::SCRIPT.len() < 20_000);
}

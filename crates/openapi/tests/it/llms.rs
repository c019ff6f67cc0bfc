use openapi::{BaseUrl, Call, llms, operations};
use serde_json::Value;

fn text() -> String {
    let base = BaseUrl::new("https://search.example.com/api").unwrap();
    llms::text(&base, [("retrieval-search", "Search.")].into_iter())
}

/// The format of llmstxt.org: a title, a quote, text without headings, then sections that are lists of links.
#[test]
fn format_is_that_of_llmstxt() {
    let text = text();
    let mut sections = text.split("\n## ");
    let introduction = sections.next().unwrap();
    assert!(introduction.starts_with("# Retrieval\n\n> "), "{introduction}");
    assert_eq!(introduction.matches("\n#").count(), 0, "{introduction}");
    let mut count = 0;
    for section in sections {
        count += 1;
        for line in section.lines().skip(1).filter(|line| !line.is_empty()) {
            let (link, note) = line.split_once("): ").unwrap_or_else(|| panic!("{line}"));
            assert!(link.starts_with("- [") && link.contains("](https://search.example.com/api/"), "{line}");
            assert!(!note.is_empty(), "{line}");
        }
    }
    assert_eq!(count, 3);
    assert!(!text.contains("{{"), "{text}");
    let base = BaseUrl::example();
    assert!(!llms::text(&base, std::iter::empty()).contains("## Skills"));
}

#[test]
fn every_operation_is_listed_with_its_smallest_body() {
    let text = text();
    let listed: Vec<&str> =
        text.split("\n## Operations\n").nth(1).unwrap().split("\n## ").next().unwrap().trim().lines().collect();
    assert_eq!(listed.len(), operations::all().count());
    for (line, operation) in listed.into_iter().zip(operations::all()) {
        assert!(
            line.starts_with(&format!(
                "- [{}](https://search.example.com/api/docs#{}): ",
                operation.route, operation.id
            ))
        );
        assert!(
            line.contains(&operation.scope.map_or("any key".to_owned(), |scope| format!("scope `{scope}`"))),
            "{line}"
        );
        let body = line.split("smallest body `").nth(1).map(|rest| rest.trim_end_matches('`'));
        let body: Option<Value> = body.map(|body| serde_json::from_str(body).unwrap());
        assert_eq!(body, Call::of(operation)[0].body, "{line}");
    }
}

use app::Result;
use app::web::{self, WebPage};
use docstore::NewDocument;
use model::{Collection, Timestamp};
use test_support::page;

use crate::accounts::refused_field;

const NOW: Timestamp = Timestamp::from_millis(1_780_000_000_000);

fn prepare_page(page: WebPage) -> Result<NewDocument> {
    web::prepare_page(page, NOW)
}

#[test]
fn codes_have_two_letters() {
    let with_language = |code: &str| WebPage { language: Some(code.to_owned()), ..page("https://a.example/", "x") };
    let language = |code| prepare_page(with_language(code)).unwrap().document.language;
    assert_eq!(language("en-US").as_deref(), Some("en"));
    assert_eq!(language("XX").as_deref(), Some("xx"), "an unknown language is kept");
    assert_eq!(refused_field(prepare_page(with_language("english language")).map(drop)), "language");
    let with_country = |code: &str| WebPage { country: Some(code.to_owned()), ..page("https://a.example/", "x") };
    assert_eq!(prepare_page(with_country("DE")).unwrap().document.country.as_deref(), Some("de"));
    assert_eq!(refused_field(prepare_page(with_country("deu")).map(drop)), "country");
}

#[test]
fn addresses_are_made_canonical() {
    let prepared = prepare_page(page("HTTPS://A.example:443/b?utm_source=x#c", "x")).unwrap().document;
    assert_eq!(prepared.canonical_url, "https://a.example/b");
    assert_eq!(prepared.source_url, "HTTPS://A.example:443/b?utm_source=x#c");
    assert!(prepared.collection == Collection::Web && prepared.listed);
    assert_eq!(refused_field(prepare_page(page("a.example", "x")).map(drop)), "url");
}

#[test]
fn a_page_without_a_title_has_that_of_its_first_heading() {
    let title = |page: WebPage| prepare_page(page).unwrap().document.title;
    let headed = page("https://a.example/", "# Tides\n\nA text.");
    assert_eq!(title(headed.clone()).as_deref(), Some("Tides"));
    assert_eq!(title(WebPage { title: Some("Given".to_owned()), ..headed }).as_deref(), Some("Given"));
    assert_eq!(title(page("https://a.example/", "A text.")), None);
}

#[test]
fn only_a_crawl_has_a_time_of_its_own() {
    let earlier = Timestamp::from_millis(7);
    let crawled = WebPage { crawled_at: Some(earlier), ..page("https://a.example/", "x") };
    assert_eq!(prepare_page(crawled).unwrap().document.last_crawled_at, Some(earlier));
    assert_eq!(prepare_page(page("https://a.example/", "x")).unwrap().document.last_crawled_at, None);
}

use app::search::{SearchOutcome, SearchRequest, SourcePolicy};
use model::{Collection, IndexName, RunMode};
use retrieval_core::site::Site;
use test_support::{Tenant, TestApp, page, search};

use crate::search::urls;

const HOSTS: [&str; 4] = ["a.example", "blog.a.example", "b.example", "c.example"];

/// One page for each host, alike but for its number.
async fn start() -> (TestApp, Tenant) {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let pages = HOSTS.iter().enumerate();
    world.import(pages.map(|(n, host)| page(&format!("https://{host}/"), &format!("The tides, part {n}.")))).await;
    (world, tenant)
}

fn policy(include: &[&str], exclude: &[&str], require_domain_match: bool) -> SearchRequest {
    let owned = |domains: &[&str]| domains.iter().map(|domain| Site::parse(domain).unwrap()).collect();
    let source_policy =
        SourcePolicy { include_domains: owned(include), exclude_domains: owned(exclude), require_domain_match };
    SearchRequest { source_policy, ..search("tides") }
}

async fn found((world, tenant): &(TestApp, Tenant), request: SearchRequest) -> SearchOutcome {
    world.app.search(&tenant.viewer, request).await.unwrap()
}

fn sorted(outcome: &SearchOutcome) -> Vec<&str> {
    let mut urls = urls(outcome);
    urls.sort_unstable();
    urls
}

#[tokio::test]
async fn excluded_domains_are_dropped_with_their_subdomains_and_counted() {
    let outcome = found(&start().await, policy(&[], &["A.example"], false)).await;
    assert_eq!(sorted(&outcome), ["https://b.example/", "https://c.example/"]);
    assert_eq!(outcome.filtered_results, 2);
}

#[tokio::test]
async fn required_domains_leave_nothing_else() {
    let outcome = found(&start().await, policy(&["a.example", "b.example"], &["blog.a.example"], true)).await;
    assert_eq!(sorted(&outcome), ["https://a.example/", "https://b.example/"]);
    assert_eq!(outcome.filtered_results, 2);
}

#[tokio::test]
async fn a_required_match_without_domains_finds_nothing() {
    let outcome = found(&start().await, policy(&[], &[], true)).await;
    assert!(outcome.hits.is_empty());
    assert_eq!(outcome.filtered_results, HOSTS.len());
}

#[tokio::test]
async fn a_preferred_domain_wins_among_equals() {
    let started = start().await;
    for host in ["b.example", "c.example"] {
        let outcome = found(&started, policy(&[host], &[], false)).await;
        assert_eq!(urls(&outcome)[0], format!("https://{host}/"));
        assert_eq!((outcome.hits.len(), outcome.filtered_results), (HOSTS.len(), 0), "nothing is dropped");
    }
}

#[tokio::test]
async fn only_results_above_the_last_kept_one_count_as_filtered() {
    let started = start().await;
    let all = found(&started, search("tides")).await;
    let first = all.hits[0].canonical_url.trim_start_matches("https://").trim_end_matches('/').to_owned();
    let request = SearchRequest { max_results: 1, ..policy(&[], &[&first], false) };
    let outcome = found(&started, request).await;
    assert_eq!(outcome.hits.len(), 1);
    assert!((1..=2).contains(&outcome.filtered_results), "{}", outcome.filtered_results);
}

#[tokio::test]
async fn the_policy_does_not_concern_files() {
    let (world, tenant) = start().await;
    world.upload(&tenant, "a.txt", "The tides of a file.").await;
    world.index_files(&tenant, RunMode::Incremental).await;
    let request = SearchRequest {
        indexes: IndexName::ALL.to_vec(),
        workspace_id: Some(tenant.organization_id),
        ..policy(&["nowhere.example"], &[], true)
    };
    let outcome = world.app.search(&tenant.viewer, request).await.unwrap();
    assert_eq!(outcome.hits.len(), 1);
    assert_eq!(outcome.hits[0].collection, Collection::Workspace(tenant.organization_id));
}

/// Pages at these addresses, alike but for their number.
async fn with_pages(urls: &[&str]) -> (TestApp, Tenant) {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    world.import(urls.iter().enumerate().map(|(n, url)| page(url, &format!("The tides, part {n}.")))).await;
    (world, tenant)
}

#[tokio::test]
async fn sites_may_have_paths() {
    let deep = format!("https://a.example{}", "/x".repeat(12));
    let deeper = format!("https://a.example{}/y", "/x".repeat(11));
    let started = with_pages(&[
        "https://a.example/docs",
        "https://www.a.example:8443/docs/guide?x=1",
        "https://a.example/docs-old/",
        "https://a.example/Docs/",
        "https://b.example/docs/",
        &deep,
        &deeper,
    ])
    .await;
    let inside = ["https://a.example/docs", "https://www.a.example:8443/docs/guide?x=1"];
    for site in ["A.example/docs", "a.example/docs/", "a.example/x/../docs", "a.example/%64ocs"] {
        let outcome = found(&started, policy(&[site], &[], true)).await;
        assert_eq!((sorted(&outcome), outcome.filtered_results), (inside.to_vec(), 5), "{site}");
        let outcome = found(&started, policy(&[], &[site], false)).await;
        assert_eq!((outcome.hits.len(), outcome.filtered_results), (5, 2), "{site}");
        assert!(!urls(&outcome).iter().any(|url| inside.contains(url)));
        let outcome = found(&started, policy(&[site], &[], false)).await;
        assert!(inside.contains(&urls(&outcome)[0]) && outcome.hits.len() == 7, "{site} is preferred");
    }
    let site = deep.trim_start_matches("https://");
    let outcome = found(&started, policy(&[site], &[], true)).await;
    assert_eq!((urls(&outcome), outcome.filtered_results), (vec![deep.as_str()], 6), "deeper than engines compare");
    let outcome = found(&started, policy(&[], &[site], false)).await;
    assert!(urls(&outcome).contains(&deeper.as_str()) && !urls(&outcome).contains(&deep.as_str()));
    assert_eq!(outcome.filtered_results, 1);
}

#[tokio::test]
async fn results_below_a_path_are_found_behind_many_others() {
    let others: Vec<String> = (0..120).map(|n| format!("https://a.example/blog/{n}")).collect();
    let mut all: Vec<&str> = others.iter().map(String::as_str).collect();
    all.push("https://a.example/docs/last");
    let started = with_pages(&all).await;
    let outcome = found(&started, policy(&["a.example/docs"], &[], true)).await;
    assert_eq!(urls(&outcome), ["https://a.example/docs/last"]);
}

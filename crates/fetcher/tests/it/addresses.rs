use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use fetcher::{Accept, FetchError, Fetcher, FetcherOptions, Resolver, VisitRequest};
use model::OrganizationId;
use uuid::Uuid;

use crate::site::{Site, page, redirect_to};
use crate::support::{FakeResolver, ORGANIZATION, OTHER, Recorder, fetch, fetch_for, fetcher, options};

fn fetcher_with_names(options: FetcherOptions, names: &[(&str, &[&str])]) -> (Fetcher, Arc<FakeResolver>) {
    let names = FakeResolver::new(names);
    (Fetcher::with_resolver(options, Arc::clone(&names) as _).unwrap(), names)
}

/// Options without any opened network, as for the public internet.
fn public_only() -> FetcherOptions {
    let mut options = options();
    options.allow_networks.clear();
    options
}

#[tokio::test]
async fn names_with_refused_addresses_are_never_connected_to() {
    let site = Site::serving(page("secret")).await;
    for addresses in [
        &["127.0.0.1"][..],
        &["::ffff:127.0.0.1"],
        &["10.0.0.1", "127.0.0.1", "169.254.169.254"],
        &["::1"],
        &["fd00:ec2::254"],
        &["0.0.0.0"],
    ] {
        let (fetcher, names) = fetcher_with_names(public_only(), &[("inside.test", addresses)]);
        let error = fetch(&fetcher, site.url_for("inside.test", "/")).await.err();
        assert_eq!(error, Some(FetchError::RefusedAddress), "{addresses:?}");
        assert_eq!(names.lookups(), ["inside.test"], "it is not looked up a second time");
    }
    assert_eq!(site.heads().len(), 0);
}

#[tokio::test]
async fn literal_addresses_and_short_names_are_refused_without_lookup() {
    let site = Site::serving(page("secret")).await;
    let port = site.address.port();
    let (fetcher, names) =
        fetcher_with_names(public_only(), &[("localhost", &["127.0.0.1"]), ("intranet", &["127.0.0.1"])]);
    for host in ["127.0.0.1", "0x7f.1", "2130706433", "[::ffff:127.0.0.1]", "localhost", "localhost.", "intranet"] {
        let error = fetch(&fetcher, format!("http://{host}:{port}/")).await.err();
        assert_eq!(error, Some(FetchError::RefusedAddress), "{host}");
    }
    assert_eq!(names.lookups(), Vec::<String>::new());
    assert_eq!(site.heads().len(), 0);
}

#[tokio::test]
async fn refused_addresses_of_a_name_are_skipped() {
    let site = Site::serving(page("x")).await;
    // The refused ones come first, and nothing listens on the other allowed one.
    let addresses: &[&str] = &["10.0.0.1", "::1", "169.254.169.254", "127.0.0.9", "127.0.0.1"];
    let (fetcher, _) = fetcher_with_names(options(), &[("mixed.test", addresses)]);
    assert_eq!(fetch(&fetcher, site.url_for("mixed.test", "/")).await.unwrap().body, "x");
    assert!(site.heads()[0].contains("mixed.test"), "the host header keeps the name");
}

#[tokio::test]
async fn redirects_to_refused_addresses_are_refused() {
    let secret = Site::serving(page("secret")).await;
    let port = secret.address.port();
    let mut open = options();
    // Only the first loopback address is opened, so that a site there can redirect to others.
    open.allow_networks = vec!["127.0.0.1/32".parse().unwrap()];
    for location in [
        format!("http://127.0.0.2:{port}/"),
        format!("http://127.2:{port}/"),
        format!("//0x7f000002:{port}/"),
        format!("http://[::1]:{port}/"),
        format!("http://[::ffff:7f00:2]:{port}/"),
        format!("http://inside.test:{port}/"),
        format!("http://user:word@inside.test.:{port}/"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
    ] {
        let site = Site::serving(redirect_to(&location)).await;
        let (fetcher, _) = fetcher_with_names(open.clone(), &[("inside.test", &["127.0.0.2"])]);
        assert_eq!(fetch(&fetcher, site.url("/")).await.err(), Some(FetchError::RefusedAddress), "{location}");
    }
    assert_eq!(secret.heads().len(), 0);
}

#[tokio::test]
async fn redirects_to_other_ports_and_schemes_are_refused() {
    let site = Site::serving(redirect_to("http://127.0.0.1:25/")).await;
    assert_eq!(fetch(&fetcher(options()), site.url("/")).await.err(), Some(FetchError::RefusedPort { port: 25 }));
    let site = Site::serving(redirect_to("ftp://127.0.0.1/")).await;
    assert!(matches!(fetch(&fetcher(options()), site.url("/")).await, Err(FetchError::InvalidUrl { .. })));
}

#[tokio::test]
async fn an_opened_network_is_reachable_in_all_spellings() {
    let site = Site::serving(page("x")).await;
    let port = site.address.port();
    let (fetcher, _) = fetcher_with_names(options(), &[("wiki", &["127.0.0.1"])]);
    for host in ["127.0.0.1", "127.1", "0x7f000001", "[::ffff:127.0.0.1]", "wiki", "wiki."] {
        assert!(fetch(&fetcher, format!("http://{host}:{port}/")).await.is_ok(), "{host}");
    }
}

#[tokio::test]
async fn the_system_resolver_finds_localhost() {
    let site = Site::serving(page("x")).await;
    let url = format!("http://localhost:{}/", site.address.port());
    assert_eq!(fetch(&Fetcher::new(options()).unwrap(), url.clone()).await.unwrap().body, "x");
    assert_eq!(fetch(&Fetcher::new(public_only()).unwrap(), url).await.err(), Some(FetchError::RefusedAddress));
}

/// Resolver that has no place for the first lookup.
struct BusyOnce(AtomicBool);

#[async_trait]
impl Resolver for BusyOnce {
    async fn resolve(&self, _: &str, _: OrganizationId) -> io::Result<Vec<IpAddr>> {
        if self.0.swap(false, Ordering::SeqCst) {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        Ok(vec![Ipv4Addr::LOCALHOST.into()])
    }
}

#[tokio::test]
async fn lookup_without_a_place_is_no_failure_of_the_host() {
    let site = Site::serving(page("x")).await;
    for respect_robots in [false, true] {
        let resolver = Arc::new(BusyOnce(AtomicBool::new(true)));
        let fetcher = Fetcher::with_resolver(FetcherOptions { respect_robots, ..options() }, resolver).unwrap();
        let refused = fetch(&fetcher, site.url_for("a.test", "/")).await.err();
        assert!(matches!(refused, Some(FetchError::Overloaded { .. })), "{refused:?}");
        let fetched = fetch(&fetcher, site.url_for("a.test", "/")).await;
        assert_eq!(fetched.unwrap().body, "x", "nothing is remembered, with robots.txt = {respect_robots}");
    }
}

#[tokio::test]
async fn names_are_looked_up_for_the_organization_of_the_fetch() {
    let site = Site::serving(page("x")).await;
    for respect_robots in [false, true] {
        let names = Arc::new(Recorder::default());
        let options = FetcherOptions { respect_robots, ..options() };
        let fetcher = Fetcher::with_resolver(options, Arc::clone(&names) as _).unwrap();
        // Each host has a robots.txt of its own, and the site closes each connection.
        for (organization, host) in [(ORGANIZATION, "a.test"), (OTHER, "b.test")] {
            fetch_for(organization, &fetcher, site.url_for(host, "/")).await.unwrap();
        }
        let request = VisitRequest { url: site.url_for("site.test", "/"), validators: None, accept: Accept::Pages };
        fetcher.visit(&request).await.unwrap();
        let mut organizations = names.organizations();
        assert_eq!(organizations.len(), if respect_robots { 6 } else { 3 });
        organizations.dedup();
        assert_eq!(organizations, [ORGANIZATION, OTHER, OrganizationId(Uuid::nil())]);
    }
}

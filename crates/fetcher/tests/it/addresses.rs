use std::sync::Arc;

use fetcher::{FetchError, Fetcher, FetcherOptions};

use crate::site::{Site, page, to};
use crate::world::{Names, fetch, fetcher, options};

fn knowing(options: FetcherOptions, names: &[(&str, &[&str])]) -> (Fetcher, Arc<Names>) {
    let names = Names::new(names);
    (Fetcher::with_resolver(options, Arc::clone(&names) as _).unwrap(), names)
}

/// As for the public internet: nothing is opened.
fn closed() -> FetcherOptions {
    let mut options = options();
    options.allow_networks.clear();
    options
}

#[tokio::test]
async fn a_name_for_a_refused_address_is_refused_and_never_connected_to() {
    let site = Site::saying(page("secret")).await;
    for addresses in [
        &["127.0.0.1"][..],
        &["::ffff:127.0.0.1"],
        &["10.0.0.1", "127.0.0.1", "169.254.169.254"],
        &["::1"],
        &["fd00:ec2::254"],
        &["0.0.0.0"],
    ] {
        let (fetcher, names) = knowing(closed(), &[("inside.test", addresses)]);
        let error = fetch(&fetcher, site.named("inside.test", "/")).await.err();
        assert_eq!(error, Some(FetchError::RefusedAddress), "{addresses:?}");
        assert_eq!(names.asked(), ["inside.test"], "it is not looked up a second time");
    }
    assert_eq!(site.heads().len(), 0);
}

#[tokio::test]
async fn literal_addresses_and_short_names_are_refused_unseen() {
    let site = Site::saying(page("secret")).await;
    let port = site.address.port();
    let (fetcher, names) = knowing(closed(), &[("localhost", &["127.0.0.1"]), ("intranet", &["127.0.0.1"])]);
    for host in ["127.0.0.1", "0x7f.1", "2130706433", "[::ffff:127.0.0.1]", "localhost", "localhost.", "intranet"] {
        let error = fetch(&fetcher, format!("http://{host}:{port}/")).await.err();
        assert_eq!(error, Some(FetchError::RefusedAddress), "{host}");
    }
    assert_eq!(names.asked(), Vec::<String>::new());
    assert_eq!(site.heads().len(), 0);
}

#[tokio::test]
async fn refused_addresses_among_allowed_ones_are_left_out() {
    let site = Site::saying(page("x")).await;
    // The refused ones come first, and nothing listens on the other allowed one.
    let addresses: &[&str] = &["10.0.0.1", "::1", "169.254.169.254", "127.0.0.9", "127.0.0.1"];
    let (fetcher, _) = knowing(options(), &[("mixed.test", addresses)]);
    assert_eq!(fetch(&fetcher, site.named("mixed.test", "/")).await.unwrap().body, "x");
    assert!(site.heads()[0].contains("mixed.test"), "the name is kept for the site");
}

#[tokio::test]
async fn redirects_into_the_network_are_refused() {
    let secret = Site::saying(page("secret")).await;
    let port = secret.address.port();
    let mut open = options();
    // Only the first address of the loopback is opened, so that a site there can lead to others.
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
        let site = Site::saying(to(&location)).await;
        let (fetcher, _) = knowing(open.clone(), &[("inside.test", &["127.0.0.2"])]);
        assert_eq!(fetch(&fetcher, site.url("/")).await.err(), Some(FetchError::RefusedAddress), "{location}");
    }
    assert_eq!(secret.heads().len(), 0);
}

#[tokio::test]
async fn redirects_to_other_services_are_refused() {
    let site = Site::saying(to("http://127.0.0.1:25/")).await;
    assert_eq!(fetch(&fetcher(options()), site.url("/")).await.err(), Some(FetchError::RefusedPort { port: 25 }));
    let site = Site::saying(to("ftp://127.0.0.1/")).await;
    assert!(matches!(fetch(&fetcher(options()), site.url("/")).await, Err(FetchError::InvalidUrl { .. })));
}

#[tokio::test]
async fn an_opened_network_is_fetched_from_in_all_its_spellings() {
    let site = Site::saying(page("x")).await;
    let port = site.address.port();
    let (fetcher, _) = knowing(options(), &[("wiki", &["127.0.0.1"])]);
    for host in ["127.0.0.1", "127.1", "0x7f000001", "[::ffff:127.0.0.1]", "wiki", "wiki."] {
        assert!(fetch(&fetcher, format!("http://{host}:{port}/")).await.is_ok(), "{host}");
    }
}

#[tokio::test]
async fn the_system_knows_its_own_name() {
    let site = Site::saying(page("x")).await;
    let url = format!("http://localhost:{}/", site.address.port());
    assert_eq!(fetch(&Fetcher::new(options()).unwrap(), url.clone()).await.unwrap().body, "x");
    assert_eq!(fetch(&Fetcher::new(closed()).unwrap(), url).await.err(), Some(FetchError::RefusedAddress));
}

//! Traps, patterns and limits.

use crawler::{Plan, Sitemaps};
use test_support::crawl_site::{CrawlSite, generated};
use test_support::site::Page;

use crate::world::{World, plan};

fn links(paths: &[&str]) -> Vec<String> {
    paths.iter().map(|path| (*path).to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn traps_are_bounded_and_reported() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", |path| {
        let number = path.bytes().map(usize::from).fold(7, |sum, byte| sum * 31 % 1_000_003 + byte);
        match path {
            "/" => generated(
                1,
                &links(&[
                    "/calendar/2039/01",
                    "/a/",
                    "/page;jsessionid=1?sid=0123456789abcde2",
                    "/page?sid=0123456789abcde3",
                    "/loop/1",
                    "/self",
                    "/soft",
                    "/same?n=0",
                ]),
            ),
            "/page" => generated(2, &links(&["/page?PHPSESSID=9"])),
            "/loop/1" => Page::redirect("/loop/2"),
            "/loop/2" => Page::redirect("/loop/1"),
            "/self" => Page::redirect("/self?sid=0123456789abcde4"),
            "/soft" => Page::html("<h1>Page not found</h1><p>Sorry, we looked everywhere for it.</p>"),
            path if path.starts_with("/calendar/") => {
                let (year, month) = path["/calendar/".len()..].split_once('/').unwrap();
                let (year, month): (usize, usize) = (year.parse().unwrap(), month.parse().unwrap());
                let next = format!("/calendar/{}/{:02}", year + month / 12, month % 12 + 1);
                generated(number, &[next])
            }
            // Relative links that lead deeper and deeper.
            path if path.starts_with("/a/") => generated(number, &links(&["a/"])),
            // The same page under any number of URLs.
            path if path.starts_with("/same?n=") => {
                let n: usize = path["/same?n=".len()..].parse().unwrap();
                let link = format!("<link rel=next href=/same?n={}>", n + 1);
                Page::html(&format!(
                    "<h1>Same</h1><p>The same text on all of these pages, however many there are.</p>{link}"
                ))
            }
            _ => Page::status(404),
        }
    });
    let crawl = world.run("traps", plan(&[site.url("/")])).await;
    let outcomes = world.outcomes("traps").await;
    assert!(crawl.urls < 150, "{outcomes:?}");
    for (reason, at_least) in [
        ("link/calendar", 1),
        ("link/path_repetition", 1),
        ("link/session_id_removed", 2),
        ("failed/redirect_loop", 2),
        ("gone/soft_404", 1),
        ("skipped/same_content", 1),
    ] {
        assert!(outcomes.get(reason).is_some_and(|count| *count >= at_least), "{reason}: {outcomes:?}");
    }
    let listed = world.listed().await;
    assert_eq!(listed.iter().filter(|path| path.starts_with("/page")).count(), 1);
    assert_eq!(listed.iter().filter(|path| path.starts_with("/calendar")).count(), 24);
    assert!(!listed.contains(&"/soft".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parameters_of_given_urls_sitemaps_and_links_that_are_no_session_ids_stay() {
    const ID: &str = "0123456789abcdef";
    let site = CrawlSite::start("127.0.0.2", |path| match path {
        "/" => generated(1, &links(&["/linked?session=1", &format!("/linked?session={ID}")])),
        "/sitemap.xml" => {
            let entry = |id: &str| format!("<url><loc>/mapped?session={id}</loc></url>");
            Page::of("text/xml", format!("<urlset>{}{}{}</urlset>", entry("1"), entry("2"), entry(ID)))
        }
        "/robots.txt" => Page::status(404),
        path => generated(path.bytes().map(usize::from).sum(), &[]),
    });
    for (seed, expected) in [
        (
            "/",
            vec![
                "/",
                "/linked",
                "/linked?session=1",
                "/mapped?session=0123456789abcdef",
                "/mapped?session=1",
                "/mapped?session=2",
            ],
        ),
        ("/conf?session=2", vec!["/conf?session=2"]),
        ("/conf?sid=0123456789abcdef", vec!["/conf?sid=0123456789abcdef"]),
    ] {
        let world = World::new().await;
        let (depth, sitemaps) = if seed == "/" { (None, Sitemaps::Auto) } else { (Some(0), Sitemaps::Off) };
        world.run("site", Plan { depth, sitemaps, ..plan(&[site.url(seed)]) }).await;
        let outcomes = world.outcomes("site").await;
        assert_eq!(world.listed().await, expected, "{outcomes:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn patterns_depth_and_hosts_bound_a_crawl() {
    let world = World::new().await;
    let other = CrawlSite::start("127.0.0.9", |_| generated(9, &[]));
    let elsewhere = other.url("/x");
    let site = CrawlSite::start("127.0.0.2", move |path| match path {
        "/" => generated(1, &[links(&["/docs/", "/blog/", "/docs/old/"]), vec![elsewhere.clone()]].concat()),
        "/docs/" => generated(2, &links(&["/docs/a"])),
        "/docs/a" => generated(3, &links(&["/docs/b"])),
        "/docs/b" => generated(4, &links(&["/docs/c"])),
        _ => generated(5, &[]),
    });
    let bounded = Plan {
        depth: Some(3),
        include: vec!["/docs/*".to_owned()],
        exclude: vec!["*/old/*".to_owned()],
        sitemaps: Sitemaps::Off,
        ..plan(&[site.url("/")])
    };
    world.run("bounded", bounded).await;
    assert_eq!(world.listed().await, ["/docs/", "/docs/a", "/docs/b"]);
    let outcomes = world.outcomes("bounded").await;
    for reason in ["link/other_host", "link/excluded", "link/not_included", "link/depth", "skipped/not_included"] {
        assert_eq!(outcomes.get(reason), Some(&1), "{reason}: {outcomes:?}");
    }
    assert!(other.paths().is_empty());
    assert!(site.paths().iter().all(|path| !path.contains("sitemap")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn links_are_counted_from_a_given_page_that_is_known() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", |path| match path {
        "/" => generated(1, &links(&["/guide"])),
        "/guide" => generated(2, &links(&["/guide/a"])),
        "/guide/a" => generated(3, &links(&["/guide/a/b"])),
        _ => generated(4, &[]),
    });
    let from = |path: &str| Plan { depth: Some(1), sitemaps: Sitemaps::Off, ..plan(&[site.url(path)]) };
    world.run("site", from("/")).await;
    assert_eq!(world.listed().await, ["/", "/guide"]);
    world.clock.advance(std::time::Duration::from_secs(10));
    world.run("site", from("/guide")).await;
    assert_eq!(world.listed().await, ["/", "/guide", "/guide/a"], "{:?}", world.outcomes("site").await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn links_are_counted_on_the_shortest_way() {
    let world = World::new().await;
    let chain = |path: &str| match path {
        "/" => generated(1, &links(&["/a"])),
        "/a" => generated(2, &links(&["/b"])),
        "/b" => generated(3, &links(&["/c"])),
        "/c" => generated(4, &links(&["/d"])),
        "/d" => generated(5, &links(&["/e"])),
        _ => Page::status(404),
    };
    let site = CrawlSite::start("127.0.0.2", chain);
    let to_depth = || Plan { depth: Some(2), sitemaps: Sitemaps::Off, ..plan(&[site.url("/")]) };
    world.run("site", to_depth()).await;
    assert_eq!(world.listed().await, ["/", "/a", "/b"]);
    // The others have not changed, but are nearer to the first one.
    site.change(move |path| if path == "/" { generated(6, &links(&["/a", "/b"])) } else { chain(path) });
    site.take_log();
    world.clock.advance(std::time::Duration::from_secs(10));
    world.run("site", to_depth()).await;
    assert_eq!(world.listed().await, ["/", "/a", "/b", "/c"], "{:?}", world.outcomes("site").await);
    let requests = site.paths().iter().filter(|path| *path == "/b").count();
    assert!(requests <= 2, "{requests}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn redirected_seeds_and_sitemaps_need_not_be_included() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", |path| match path {
        "/" => Page::redirect("/start"),
        "/start" => generated(1, &links(&["/docs/linked", "/blog/"])),
        "/sitemap.xml" => Page::redirect("/maps/all"),
        "/maps/all" => Page::of(
            "text/xml",
            "<urlset><url><loc>/docs/mapped</loc></url><url><loc>/blog/mapped</loc></url></urlset>",
        ),
        "/docs/linked" => generated(2, &links(&["/docs/moved"])),
        "/docs/moved" => Page::redirect("/blog/moved"),
        "/docs/mapped" => generated(3, &[]),
        _ => generated(4, &[]),
    });
    world.run("site", Plan { include: vec!["/docs/*".to_owned()], ..plan(&[site.url("/")]) }).await;
    let outcomes = world.outcomes("site").await;
    assert_eq!(world.listed().await, ["/docs/linked", "/docs/mapped"], "{outcomes:?}");
    assert_eq!(outcomes.get("skipped/not_included"), Some(&1), "the target of the seed: {outcomes:?}");
    assert_eq!(outcomes.get("skipped/redirect_outside"), Some(&1), "{outcomes:?}");
    assert!(site.paths().iter().all(|path| !path.starts_with("/blog")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limit_of_pages_is_exact_and_ends_the_crawl() {
    let world = World::new().await;
    let answer = |path: &str| match path.strip_prefix("/page/").and_then(|number| number.parse::<usize>().ok()) {
        Some(number) => {
            let links: Vec<String> = (1..6).map(|n| format!("/page/{}", number * 5 + n)).collect();
            generated(number, &links)
        }
        None => Page::status(404),
    };
    let sites = ["127.0.0.2", "127.0.0.3"].map(|address| CrawlSite::start(address, answer));
    let seeds: Vec<String> = sites.iter().map(|site| site.url("/page/0")).collect();
    world.start_with_limit("limited", plan(&seeds), Some(25)).await;
    let instance = world.instance();
    let crawl = world.finish("limited").await;
    instance.stop().await;
    assert_eq!(crawl.pages, 25);
    assert_eq!(world.listed().await.len(), 25);
    assert!(world.outcomes("limited").await.contains_key("skipped/limit"));
}

//! Pages that try to exhaust the browser, or to leave it.

use std::time::{Duration, Instant};

use fetcher::RenderError;

use crate::site::{Site, plain};
use crate::support::{assert_works, chromium, options, page, processes, render};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn endless_script_ends_with_its_time() {
    let Some(mut options) = options() else { return };
    options.timeout = Duration::from_secs(4);
    let chromium = chromium(options).await;
    chromium.check().await.unwrap();
    let started = Instant::now();
    for source in ["while (true) {}", "for (;;) Promise.resolve()", "onload = () => { while (true) {} }"] {
        let outcome = render(&chromium, &page("http://example.com/", &format!("<script>{source}</script>"))).await;
        assert_eq!(outcome, Err(RenderError::Timeout), "{source}");
    }
    assert!(started.elapsed() < Duration::from_secs(40), "{:?}", started.elapsed());
    assert_works(&chromium).await;
    chromium.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn endless_download_ends_at_the_limit() {
    let Some(mut options) = options() else { return };
    options.timeout = Duration::from_secs(60);
    let limit = options.max_bytes;
    let chromium = chromium(options).await;
    let site = Site::empty();
    let outcome = render(&chromium, &page(&site.url("/"), "<script>fetch('/endless')</script>")).await;
    assert_eq!(outcome, Err(RenderError::TooLarge { limit }));
    assert_works(&chromium).await;
    chromium.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn huge_documents_are_refused() {
    let Some(options) = options() else { return };
    let (limit, address) = (options.max_bytes, options.proxy_bind);
    let chromium = chromium(options).await;
    let shell = "<p id=a></p><script>a.textContent = 'x'.repeat(SIZE)</script>";
    let outcome = render(&chromium, &page("http://example.com/", &shell.replace("SIZE", "5e6"))).await;
    assert_eq!(outcome, Err(RenderError::TooLarge { limit }));
    let shell = "<script>for (let n = 0; n < 40; n++) document.body.append('y'.repeat(25e6) + n)</script>";
    let outcome = render(&chromium, &page("http://example.com/", shell)).await;
    assert!(outcome.is_err(), "a gigabyte of text");
    let shell = "<script>const all = []; for (;;) all.push(new Uint8Array(64 << 20).fill(1))</script>";
    let outcome = render(&chromium, &page("http://example.com/", shell)).await;
    assert!(!outcome.is_ok_and(|html| html.len() > limit), "memory without end");
    assert_works(&chromium).await;
    for id in processes(address) {
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let rss = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0 kB");
        let kilobytes: u64 = rss.trim().trim_end_matches(" kB").parse().unwrap();
        assert!(kilobytes < 1 << 20, "process {id} keeps {kilobytes} kB");
    }
    chromium.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn windows_dialogs_downloads_and_navigations_change_nothing() {
    let Some(options) = options() else { return };
    let chromium = chromium(options).await;
    let site = Site::start(|path| match path {
        "/file" => ("Content-Disposition: attachment; filename=x.bin\r\n".to_owned(), vec![7; 100]),
        _ => plain("elsewhere"),
    });
    let shell = "<p id=a></p><a id=file href=/file download>file</a><script>
        alert('one'); confirm('two'); prompt('three'); print();
        onbeforeunload = () => 'stay';
        window.open('/window'); file.click();
        navigator.serviceWorker?.register('/worker.js').catch(() => {});
        Notification.requestPermission?.();
        navigator.geolocation?.getCurrentPosition(() => {});
        history.pushState({}, '', '/pushed');
        setTimeout(() => { location.href = '/other' }, 50);
        setTimeout(() => location.reload(), 80);
        setTimeout(() => { a.textContent = 'The page is still itself. '.repeat(20) }, 400);
    </script>";
    let html = render(&chromium, &page(&site.url("/page"), shell)).await.unwrap();
    assert!(html.contains("The page is still itself."), "{html}");
    let paths = site.paths();
    assert!(
        !["/other", "/window", "/page", "/pushed"].iter().any(|path| paths.iter().any(|seen| seen == path)),
        "{paths:?}"
    );
    assert_works(&chromium).await;
    chromium.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn floods_of_requests_and_windows_end_with_the_page() {
    let Some(mut options) = options() else { return };
    options.timeout = Duration::from_secs(6);
    let address = options.proxy_bind;
    let chromium = chromium(options).await;
    let site = Site::empty();
    let shell = "<script>setInterval(() => { for (let n = 0; n < 50; n++) {
        fetch('/x?' + Math.random()); window.open('/w');
        document.body.append(Object.assign(document.createElement('iframe'), {src: '/frame?' + n}));
        new Worker(URL.createObjectURL(new Blob(['setInterval(() => {}, 1)'])));
    } }, 10)</script>";
    let _ = render(&chromium, &page(&site.url("/"), shell)).await;
    assert_works(&chromium).await;
    crate::support::until("few processes are left", || processes(address).len() < 12).await;
    chromium.shutdown().await;
}

/// The message about a request contains its body twice, and is longer than any that is read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn huge_posts_end_no_other_page() {
    let Some(mut options) = options() else { return };
    options.timeout = Duration::from_secs(15);
    let chromium = chromium(options).await;
    chromium.check().await.unwrap();
    let site = Site::empty();
    let late = "<p id=a></p><script>
        setTimeout(() => { a.textContent = 'Written a second late. '.repeat(20) }, 1000);
    </script>";
    let post = "<script>fetch('/x', {method: 'POST', body: new Uint8Array(5e6)})</script>";
    let (late, post) = (page(&site.url("/late"), late), page(&site.url("/post"), post));
    let (late, _) = tokio::join!(render(&chromium, &late), render(&chromium, &post));
    let html = late.unwrap();
    assert!(html.contains("Written a second late."), "{html}");
    assert_works(&chromium).await;
    chromium.shutdown().await;
}

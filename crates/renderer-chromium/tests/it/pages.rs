//! Pages whose text is written by scripts.

use crate::site::{Site, plain, script};
use crate::support::{chromium, options, page, render};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_of_scripts_is_part_of_the_document() {
    let Some(options) = options() else { return };
    let chromium = chromium(options).await;
    let site = Site::start(|path| match path {
        "/app.js" => script("fetch('/data').then(r => r.text()).then(t => { root.innerHTML = `<p>${t}</p>` })"),
        "/data" => plain(&"The tide tables of Königsberg. ".repeat(10)),
        _ => plain(""),
    });
    let shell = "<div id=root>Loading…</div><img src=/a.png><script src=/app.js></script>";
    let html = render(&chromium, &page(&site.url("/tides"), shell)).await.unwrap();
    assert!(html.starts_with("<!doctype html><html>"), "{html}");
    assert!(html.contains("<p>The tide tables of Königsberg."), "{html}");
    let mut paths = site.paths();
    paths.sort();
    assert_eq!(paths, ["/app.js", "/data"], "neither the page, which was fetched, nor its image is requested");
    let heads: Vec<String> = site.requests().iter().map(|head| head.to_ascii_lowercase()).collect();
    assert!(heads.iter().all(|head| head.contains("user-agent: testbot/1.0\r\n")), "{heads:?}");
    chromium.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_modules_and_frames_of_the_page_take_part() {
    let Some(options) = options() else { return };
    let chromium = chromium(options).await;
    let site = Site::start(|path| match path {
        "/module.js" => script("import { words } from '/words.js'; postMessage ??= 0; frame.write(words)"),
        "/words.js" => script("export const words = 'module '.repeat(40)"),
        "/worker.js" => {
            script("importScripts('/part.js'); fetch('/data').then(r => r.text()).then(t => postMessage(part + t))")
        }
        "/part.js" => script("const part = 'part and '"),
        "/data" => plain(&"data of the worker ".repeat(20)),
        _ => plain(""),
    });
    let shell = "<p id=a></p><p id=b></p><iframe id=inner></iframe><script>
        window.frame = { write: words => { inner.contentWindow.parent.a.textContent = words } };
        new Worker('/worker.js').onmessage = event => { b.textContent = event.data };
    </script><script type=module src=/module.js></script>";
    let html = render(&chromium, &page(&site.url("/"), shell)).await.unwrap();
    assert!(html.contains("module module") && html.contains("part and data of the worker"), "{html}");
    chromium.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn late_and_endless_requests_do_not_keep_the_text_back() {
    let Some(options) = options() else { return };
    let chromium = chromium(options).await;
    let site = Site::empty();
    let shell = "<p id=a></p><script>
        fetch('/hang');
        setTimeout(() => { a.textContent = 'Written a second late. '.repeat(20) }, 1000);
    </script>";
    let html = render(&chromium, &page(&site.url("/late"), shell)).await.unwrap();
    assert!(html.contains("Written a second late."), "{html}");
    chromium.shutdown().await;
}

/// Chromium tries https first for names of the internet.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_is_rendered_under_its_own_scheme() {
    let Some(options) = options() else { return };
    let chromium = chromium(options).await;
    let shell = "<p id=a></p><script>a.textContent = (location.href + ' ').repeat(30)</script>";
    let html = render(&chromium, &page("http://site.example/", shell)).await.unwrap();
    assert!(html.contains("http://site.example/") && !html.contains("https://"), "{html}");
    chromium.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_keep_nothing_for_each_other() {
    let Some(options) = options() else { return };
    let chromium = chromium(options).await;
    let site = Site::start(|path| match path {
        "/set" => ("Set-Cookie: http=1; Path=/\r\nContent-Type: text/plain\r\n".to_owned(), b"set".to_vec()),
        _ => plain("got"),
    });
    let shell = "<p id=a></p><script>
        const before = document.cookie + '|' + localStorage.getItem('k');
        document.cookie = 'script=1'; localStorage.setItem('k', 'v');
        fetch('/set').then(() => fetch('/get')).then(() => { a.textContent = `[${before}] ` + 'text '.repeat(80) });
    </script>";
    for _ in 0..2 {
        let html = render(&chromium, &page(&site.url("/"), shell)).await.unwrap();
        assert!(html.contains("[|null]"), "{html}");
    }
    let cookies: Vec<bool> =
        site.requests().iter().filter(|head| head.contains("/set")).map(|head| head.contains("http=1")).collect();
    assert_eq!(cookies, [false, false]);
    chromium.shutdown().await;
}

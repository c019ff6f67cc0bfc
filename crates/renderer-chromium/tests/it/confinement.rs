//! Connections that scripts must not make.

use crate::site::{Forbidden, Site, plain, redirect, script};
use crate::support::{chromium, options, page, render};

/// Script that tries every way to `FORBIDDEN`, and writes the ways that worked.
const ATTEMPTS: &str = r#"
const reached = [], tried = [];
const attempt = (name, promise) => tried.push(
    Promise.race([promise, new Promise((_, fail) => setTimeout(() => fail('slow'), 3000))])
        .then(() => reached.push(name), () => {}));
const element = (name, tag, attributes) => attempt(name, new Promise((done, fail) => {
    const made = Object.assign(document.createElement(tag), attributes);
    made.onload = done; made.onerror = fail;
    document.body.append(made);
}));
const hosts = FORBIDDEN;
for (const host of hosts) {
    attempt('fetch ' + host, fetch(`http://${host}/fetch`, {mode: 'no-cors'}));
    attempt('https ' + host, fetch(`https://${host}/https`, {mode: 'no-cors'}));
    attempt('post ' + host, fetch(`http://${host}/post`, {method: 'POST', mode: 'no-cors', body: 'x'}));
    attempt('redirect ' + host, fetch('/redirect?' + host, {mode: 'no-cors'}));
    attempt('socket ' + host, new Promise((done, fail) => {
        const socket = new WebSocket(`ws://${host}/socket`); socket.onopen = done; socket.onerror = fail;
    }));
    attempt('events ' + host, new Promise((done, fail) => {
        const events = new EventSource(`http://${host}/events`); events.onopen = done; events.onerror = fail;
    }));
    attempt('worker ' + host, new Promise((done, fail) => {
        const source = `fetch('http://${host}/worker', {mode: 'no-cors'}).then(() => postMessage(1))`;
        const worker = new Worker(URL.createObjectURL(new Blob([source]))); worker.onmessage = done; worker.onerror = fail;
    }));
    attempt('import ' + host, import(`http://${host}/import.js`));
    element('script ' + host, 'script', {src: `http://${host}/script.js`});
    element('style ' + host, 'link', {rel: 'stylesheet', href: `http://${host}/style.css`});
    element('image ' + host, 'img', {src: `http://${host}/image`});
    element('video ' + host, 'video', {src: `http://${host}/video`});
    // Loads an error page, which counts as loaded.
    document.body.append(Object.assign(document.createElement('embed'), {src: `http://${host}/embed`}));
    document.body.append(Object.assign(document.createElement('iframe'), {src: `http://${host}/frame`}));
    document.body.append(Object.assign(document.createElement('iframe'),
        {srcdoc: `<img src="http://${host}/inner"><script>fetch("http://${host}/inner")<\/script>`}));
    for (const rel of ['prefetch', 'preload', 'prerender', 'preconnect', 'dns-prefetch', 'manifest', 'modulepreload', 'icon'])
        document.head.append(Object.assign(document.createElement('link'), {rel, as: 'script', href: `http://${host}/${rel}`}));
    navigator.sendBeacon(`http://${host}/beacon`, 'x');
    try {
        const peer = new RTCPeerConnection({iceServers: [
            {urls: [`stun:${host}`]},
            {urls: [`turn:${host}?transport=udp`, `turn:${host}?transport=tcp`], username: 'a', credential: 'b'}]});
        peer.createDataChannel('x');
        peer.createOffer().then(offer => peer.setLocalDescription(offer));
    } catch {}
    try { attempt('transport ' + host, new WebTransport(`https://${host}/transport`).ready) } catch {}
    const form = Object.assign(document.createElement('form'), {action: `http://${host}/form`, method: 'POST', target: 'other'});
    document.body.append(form); form.submit();
    window.open(`http://${host}/window`);
}
Promise.all(tried).then(() => {
    document.body.insertAdjacentHTML('beforeend', `<p>reached: [${reached.join(', ')}] of ${tried.length}</p>`);
    document.body.append('done '.repeat(80));
});
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_script_reaches_the_internal_network() {
    let Some(mut options) = options() else { return };
    options.timeout = std::time::Duration::from_secs(40);
    let chromium = chromium(options).await;
    // Permitted is 127.0.0.1 alone.
    let mut forbidden = vec![Forbidden::start("127.0.0.2")];
    if std::net::TcpListener::bind("[::1]:0").is_ok() {
        forbidden.push(Forbidden::start("::1"));
    }
    let port = forbidden[0].address.port();
    let mut hosts: Vec<String> = forbidden.iter().map(|one| one.address.to_string()).collect();
    // Other spellings, names of loopback, and the metadata service of clouds.
    hosts.extend([format!("127.2:{port}"), format!("0x7f000002:{port}"), format!("[::ffff:127.0.0.2]:{port}")]);
    hosts.extend([format!("localhost:{port}"), format!("a.localhost:{port}"), "169.254.169.254".to_owned()]);
    let attempts = ATTEMPTS.replace("FORBIDDEN", &format!("{hosts:?}"));
    let site = Site::start(move |path| match path.split_once('?') {
        _ if path == "/attempts.js" => script(&attempts),
        Some(("/redirect", host)) => redirect(&format!("http://{host}/redirected")),
        _ => plain(""),
    });
    let html = render(&chromium, &page(&site.url("/"), "<script src=/attempts.js></script>")).await.unwrap();
    assert!(html.contains("<p>reached: [] of "), "{html}");
    assert!(site.paths().iter().filter(|path| path.starts_with("/redirect")).count() >= hosts.len(), "they were tried");
    chromium.shutdown().await;
    forbidden.iter().for_each(Forbidden::assert_untouched);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_of_the_machine_cannot_be_read() {
    let Some(options) = options() else { return };
    let chromium = chromium(options).await;
    let site = Site::empty();
    let shell = "<p id=a></p><iframe src='file:///etc/passwd'></iframe><script>
        const tries = ['file:///etc/passwd', 'chrome://version', 'view-source:file:///etc/passwd'].map(url =>
            fetch(url).then(r => r.text()).catch(() => 'refused'));
        Promise.all(tries).then(all => { a.textContent = all.join(',') + ' text'.repeat(80) });
    </script>";
    let html = render(&chromium, &page(&site.url("/"), shell)).await.unwrap();
    assert!(html.contains("refused,refused,refused") && !html.contains("root:"), "{html}");
    chromium.shutdown().await;
}

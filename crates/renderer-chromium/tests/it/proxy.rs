//! The proxy, for others than the pages of the browser.

use std::net::SocketAddr;

use renderer_chromium::{BrowserSource, ChromiumOptions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::site::Site;
use crate::support::chromium;

async fn ask(proxy: SocketAddr, head: &str) -> String {
    let mut stream = TcpStream::connect(proxy).await.unwrap();
    stream.write_all(format!("{head}\r\nConnection: close\r\n\r\n").as_bytes()).await.unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer).await;
    answer
}

#[tokio::test]
async fn only_pages_can_use_the_proxy() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let proxy = SocketAddr::from(([127, 0, 0, 1], port));
    let source = BrowserSource::Remote("http://127.0.0.1:9".to_owned());
    let options = ChromiumOptions { proxy_bind: proxy, ..ChromiumOptions::new(source, "testbot/1.0") };
    let _chromium = chromium(options).await;
    let site = Site::empty();
    // `page:` with no password, and `page:0123456789abcdef0123456789abcdef`.
    for credentials in
        ["", "Basic cGFnZTo=", "Basic cGFnZTowMTIzNDU2Nzg5YWJjZGVmMDEyMzQ1Njc4OWFiY2RlZg==", "Bearer x", "Basic %"]
    {
        for line in [format!("GET {} HTTP/1.1", site.url("/")), format!("CONNECT {} HTTP/1.1", site.address)] {
            let answer = ask(proxy, &format!("{line}\r\nHost: x\r\nProxy-Authorization: {credentials}")).await;
            assert!(answer.starts_with("HTTP/1.1 407 "), "{answer}");
        }
    }
    assert_eq!(site.paths(), Vec::<String>::new());
}

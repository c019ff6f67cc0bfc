//! Measures the overhead of a fetch from a server in this process, with reused and with new connections.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use fetcher::{FetchRequest, Fetched, Fetcher, FetcherOptions};
use http_body_util::Full;
use hyper::header::{CONNECTION, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use model::OrganizationId;
use tokio::net::TcpListener;

const ROUNDS: usize = 2000;

type Error = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(serve(listener));

    let mut options = FetcherOptions::new("example-bot", "1.0", None);
    options.allow_networks = vec!["127.0.0.0/8".parse()?];
    options.politeness.delay = Duration::ZERO;
    options.politeness.concurrent = 16;
    let started = Instant::now();
    let fetcher = Fetcher::new(options)?;
    eprintln!("{:>8} µs  creating the fetcher", started.elapsed().as_micros());

    for path in ["/small", "/page", "/gzip", "/closed"] {
        let mut spent = Vec::new();
        for _ in 0..ROUNDS {
            let started = Instant::now();
            fetch(&fetcher, address, path).await?;
            spent.push(started.elapsed().as_micros());
        }
        spent.sort_unstable();
        eprintln!("{:>8} µs p50 {:>8} µs p99  {path}", spent[ROUNDS / 2], spent[ROUNDS * 99 / 100]);
    }

    let started = Instant::now();
    let tasks: Vec<_> = (0..16)
        .map(|_| {
            let fetcher = fetcher.clone();
            tokio::spawn(async move {
                for _ in 0..ROUNDS / 16 {
                    fetch(&fetcher, address, "/page").await.map_err(|error| error.to_string())?;
                }
                Ok::<_, String>(())
            })
        })
        .collect();
    for task in tasks {
        task.await??;
    }
    let rate = (ROUNDS / 16 * 16) as f64 / started.elapsed().as_secs_f64();
    eprintln!("{rate:>8.0} pages per second, 16 at a time");
    Ok(())
}

async fn fetch(fetcher: &Fetcher, address: SocketAddr, path: &str) -> Result<(), Error> {
    match fetcher
        .fetch(&FetchRequest::new(OrganizationId(Default::default()), format!("http://{address}{path}")))
        .await?
    {
        Fetched::Page(page) if !page.body.is_empty() => Ok(()),
        other => Err(format!("no page: {other:?}").into()),
    }
}

async fn serve(listener: TcpListener) {
    let page = Bytes::from("<p>words, and more words of a page</p>\n".repeat(2600));
    let gzip = compressed(&page);
    while let Ok((stream, _)) = listener.accept().await {
        let (page, gzip) = (page.clone(), gzip.clone());
        let _ = stream.set_nodelay(true);
        tokio::spawn(async move {
            let service = service_fn(|request| {
                let response = respond(&request, &page, &gzip);
                async { Ok::<_, Infallible>(response) }
            });
            let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

/// Returns a page of 100 kB, or the special response for the path.
fn respond<B>(request: &Request<B>, page: &Bytes, gzip: &Bytes) -> Response<Full<Bytes>> {
    let path = request.uri().path();
    let body = match path {
        "/small" => Bytes::from_static(b"<p>words</p>"),
        "/robots.txt" => Bytes::from_static(b"User-agent: *\nDisallow: /private\n"),
        "/gzip" => gzip.clone(),
        _ => page.clone(),
    };
    let mut response = Response::new(Full::new(body));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html"));
    if path == "/gzip" {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if path == "/closed" {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

fn compressed(page: &[u8]) -> Bytes {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    // Writing into memory cannot fail.
    let _ = encoder.write_all(page);
    encoder.finish().unwrap_or_default().into()
}

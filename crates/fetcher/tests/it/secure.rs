//! TLS, and HTTP/2 on top of it.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use fetcher::{FetchError, FetcherOptions};
use futures_util::stream;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use hyper::service::service_fn;
use hyper::{Request, Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::support::{fetch, fetcher, options};

struct SecureSite {
    address: SocketAddr,
    /// Certificate authority of the site, as PEM.
    authority: Vec<u8>,
}

/// Starts a site with a certificate for `name` that offers `protocols`. Its page names the negotiated HTTP version.
async fn secure_site(name: &str, protocols: &[&[u8]]) -> SecureSite {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::Pkcs8(key.serialize_der().into()))
        .unwrap();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else { return };
                let _ = auto::Builder::new(TokioExecutor::new())
                    .serve_connection(TokioIo::new(stream), service_fn(respond_with_version))
                    .await;
            });
        }
    });
    SecureSite { address, authority: authority.pem().into_bytes() }
}

type Body = BoxBody<Bytes, io::Error>;

async fn respond_with_version<B>(request: Request<B>) -> Result<Response<Body>, Infallible> {
    let version = if request.version() == Version::HTTP_2 { "two" } else { "one" };
    let mut response: Response<Body> =
        Response::new(Full::new(Bytes::from(version)).map_err(|never| match never {}).boxed());
    response.headers_mut().insert("content-type", hyper::header::HeaderValue::from_static("text/plain"));
    match request.uri().path() {
        "/many" => {
            for number in 0..20_000 {
                let name = hyper::header::HeaderName::try_from(format!("x-{number}")).unwrap();
                response.headers_mut().insert(name, hyper::header::HeaderValue::from_static("words words words"));
            }
        }
        "/plain" => {
            let location = hyper::header::HeaderValue::from_static("http://10.0.0.1/");
            response.headers_mut().insert("location", location);
            *response.status_mut() = hyper::StatusCode::FOUND;
        }
        "/broken" => {
            let frames = [Ok(Frame::data(Bytes::from("begun"))), Err(io::Error::other("broken"))];
            *response.body_mut() = StreamBody::new(stream::iter(frames)).boxed();
        }
        _ => {}
    }
    Ok(response)
}

fn options_trusting(site: &SecureSite) -> FetcherOptions {
    let mut options = options();
    options.root_certificates = vec![site.authority.clone()];
    options
}

impl SecureSite {
    fn url(&self, host: &str, path: &str) -> String {
        format!("https://{host}:{}{path}", self.address.port())
    }
}

#[tokio::test]
async fn http_2_is_negotiated_if_offered() {
    let both = secure_site("site.test", &[b"h2", b"http/1.1"]).await;
    assert_eq!(fetch(&fetcher(options_trusting(&both)), both.url("site.test", "/")).await.unwrap().body, "two");
    let old = secure_site("site.test", &[b"http/1.1"]).await;
    assert_eq!(fetch(&fetcher(options_trusting(&old)), old.url("site.test", "/")).await.unwrap().body, "one");
    let silent = secure_site("site.test", &[]).await;
    assert_eq!(fetch(&fetcher(options_trusting(&silent)), silent.url("site.test.", "/")).await.unwrap().body, "one");
}

#[tokio::test]
async fn an_untrusted_certificate_is_refused() {
    let site = secure_site("site.test", &[b"h2"]).await;
    let error = fetch(&fetcher(options()), site.url("site.test", "/")).await.unwrap_err();
    assert_eq!(error, FetchError::Tls);
    assert!(!error.is_temporary());
}

#[tokio::test]
async fn a_certificate_for_another_name_is_refused() {
    let site = secure_site("site.test", &[b"h2"]).await;
    for host in ["a.test", "127.0.0.1"] {
        assert_eq!(
            fetch(&fetcher(options_trusting(&site)), site.url(host, "/")).await.err(),
            Some(FetchError::Tls),
            "{host}"
        );
    }
}

#[tokio::test]
async fn a_plaintext_response_to_tls_is_a_tls_error() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        let _ = stream.read(&mut [0; 1024]).await;
    });
    let error = fetch(&fetcher(options()), format!("https://site.test:{port}/")).await.err();
    assert_eq!(error, Some(FetchError::Tls));
}

#[tokio::test]
async fn oversized_http_2_headers_are_aborted() {
    let site = secure_site("site.test", &[b"h2"]).await;
    let mut options = options_trusting(&site);
    options.time_limits.first_byte = std::time::Duration::from_millis(500);
    let error = fetch(&fetcher(options), site.url("site.test", "/many")).await.unwrap_err();
    assert!(matches!(error, FetchError::Protocol { .. } | FetchError::Timeout { .. }), "{error}");
}

#[tokio::test]
async fn an_http_2_response_that_breaks_off_is_interrupted() {
    let site = secure_site("site.test", &[b"h2"]).await;
    let error = fetch(&fetcher(options_trusting(&site)), site.url("site.test", "/broken")).await.unwrap_err();
    assert_eq!(error, FetchError::Interrupted);
    assert!(error.is_temporary());
}

#[tokio::test]
async fn a_redirect_to_plain_http_is_checked() {
    let site = secure_site("site.test", &[b"h2"]).await;
    let error = fetch(&fetcher(options_trusting(&site)), site.url("site.test", "/plain")).await.err();
    assert_eq!(error, Some(FetchError::RefusedAddress));
}

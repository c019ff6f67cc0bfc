//! Connections over TLS.

use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use server_tls::{ServerTls, Transport};
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use tokio_rustls::TlsConnector;

use crate::pair::{Folder, Pair, pair};

/// Connects with trust in one certificate alone and exchanges a line.
async fn exchange(tls: &ServerTls, trusted: &Pair) -> std::io::Result<String> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(trusted.certificate.as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let (near, far) = duplex(4096);
    let connect = TlsConnector::from(Arc::new(config)).connect(ServerName::try_from("localhost").unwrap(), near);
    let (connected, accepted) = tokio::join!(connect, tls.accept(far));
    let mut client = connected?;
    assert_eq!(client.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
    let mut server = accepted?;
    assert!(matches!(server, Transport::Tls(_)));
    server.write_all(b"hello").await?;
    server.shutdown().await?;
    let mut text = String::new();
    client.read_to_string(&mut text).await?;
    Ok(text)
}

#[tokio::test]
async fn new_connections_get_the_new_pair() {
    let (old, new) = (pair(), pair());
    let folder = Folder::with(&old);
    let tls = ServerTls::load(folder.files()).unwrap();
    assert_eq!(exchange(&tls, &old).await.unwrap(), "hello");
    assert!(exchange(&tls, &new).await.is_err());
    folder.write("cert.pem", &new.certificate);
    folder.write("key.pem", &new.key);
    tls.reload().unwrap();
    assert_eq!(exchange(&tls, &new).await.unwrap(), "hello");
    assert!(exchange(&tls, &old).await.is_err());
    folder.write("key.pem", "broken");
    tls.reload().unwrap_err();
    assert_eq!(exchange(&tls, &new).await.unwrap(), "hello");
}

#[tokio::test]
async fn plain_text_is_no_handshake() {
    let tls = ServerTls::load(Folder::with(&pair()).files()).unwrap();
    let (mut near, far) = duplex(4096);
    near.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    assert!(tls.accept(far).await.is_err());
}

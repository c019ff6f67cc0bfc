//! `rediss://`: TLS with the certificate authorities that the system trusts, and no others.

use std::process::Command;

use rate_limit::RateLimiter;
use rate_limit_redis::OnFailure;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use time::OffsetDateTime;

use crate::redis_server::{RedisServer, connected, limiter, prefix, until};

/// Overrides the location of the system's certificate authorities.
const TRUSTED: &str = "SSL_CERT_FILE";
/// Marks the inner process.
const SERVER: &str = "RATE_LIMIT_REDIS_TLS_URL";

#[tokio::test]
async fn only_a_trusted_certificate_is_accepted() {
    // A test cannot change its own environment, so it runs itself with another one.
    if let Ok(url) = std::env::var(SERVER) {
        let limiter = connected(&url, &prefix(), OnFailure::Closed).await;
        assert_eq!(limiter.take("key", 3, OffsetDateTime::now_utc()).await.unwrap().remaining, 2);
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate =
        CertificateParams::new(vec!["localhost".to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
    for (name, content) in
        [("authority", authority.pem()), ("certificate", certificate.pem()), ("key", key.serialize_pem())]
    {
        std::fs::write(file(name), content).unwrap();
    }
    let (authority, certificate, key) = (file("authority"), file("certificate"), file("key"));
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let Some(redis) = RedisServer::start(&[
        "--tls-port",
        &port.to_string(),
        "--tls-cert-file",
        &certificate,
        "--tls-key-file",
        &key,
        "--tls-ca-cert-file",
        &authority,
        "--tls-auth-clients",
        "no",
    ]) else {
        return;
    };
    let url = format!("rediss://localhost:{port}");

    let name = "tls::only_a_trusted_certificate_is_accepted";
    let mut inner = Command::new(std::env::current_exe().unwrap());
    inner.args(["--exact", name]).env(TRUSTED, &authority).env(SERVER, &url);
    let ended = tokio::task::spawn_blocking(move || inner.output().unwrap()).await.unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));

    let distrustful = limiter(&url, &prefix(), OnFailure::Closed);
    until("the connection fails", || distrustful.outages() == 1).await;
    assert!(distrustful.take("key", 3, OffsetDateTime::now_utc()).await.is_err());
    drop(redis);
}

//! Credentials of an instance's role, from the metadata service of EC2.
//!
//! A request carries a session token (IMDSv2), which the service may require. The library's own client sends none.

use std::time::Duration;

use async_trait::async_trait;
use reqwest::header::HeaderValue;
use reqwest::{Client, Method, RequestBuilder};
use rusoto_credential::{AwsCredentials, CredentialsError, ProvideAwsCredentials};

/// Address of the service on every instance.
const ADDRESS: &str = "http://169.254.169.254";
const TOKEN: &str = "/latest/api/token";
/// Path of the roles' list, and of each role below it.
const ROLES: &str = "/latest/meta-data/iam/security-credentials/";
/// Lifetime of a token in seconds: it is used at once.
const TOKEN_SECONDS: &str = "60";
/// Timeout of a connection and of a token. In a container the response with the token may be lost on its way (hop limit).
const TOKEN_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum size of a response in bytes; credentials take about 1.5 KB.
const MAX_RESPONSE: usize = 16 << 10;
/// Maximum length of a role's name.
const MAX_ROLE: usize = 64;

pub(crate) struct Metadata {
    client: Client,
    address: String,
}

impl Metadata {
    /// Builds the client without connecting.
    pub fn new() -> Result<Self, reqwest::Error> {
        let client = Client::builder()
            .connect_timeout(TOKEN_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            // Loading the certificates takes time, and the service speaks plain HTTP.
            .tls_built_in_root_certs(false)
            .build()?;
        Ok(Self { client, address: ADDRESS.to_owned() })
    }

    /// Returns a session token; `None` from a service without tokens.
    async fn token(&self) -> Option<HeaderValue> {
        let request = self
            .client
            .request(Method::PUT, format!("{}{TOKEN}", self.address))
            .header("x-aws-ec2-metadata-token-ttl-seconds", TOKEN_SECONDS)
            .timeout(TOKEN_TIMEOUT);
        let mut token = HeaderValue::from_str(text(request).await.ok()?.trim()).ok()?;
        token.set_sensitive(true);
        Some(token)
    }

    async fn read(&self, path: &str, token: Option<&HeaderValue>) -> Result<String, CredentialsError> {
        let mut request = self.client.get(format!("{}{path}", self.address));
        if let Some(token) = token {
            request = request.header("x-aws-ec2-metadata-token", token);
        }
        text(request).await
    }
}

#[async_trait]
impl ProvideAwsCredentials for Metadata {
    /// Returns the credentials of the instance's role. The caller limits the time.
    async fn credentials(&self) -> Result<AwsCredentials, CredentialsError> {
        let token = self.token().await;
        let roles = self.read(ROLES, token.as_ref()).await?;
        let role = roles.lines().next().unwrap_or_default().trim();
        let is_name = |c: char| c.is_ascii_alphanumeric() || "+=,.@-_".contains(c);
        if role.is_empty() || role.len() > MAX_ROLE || !role.chars().all(is_name) {
            return Err(CredentialsError::new("the metadata service names no role"));
        }
        let document = self.read(&format!("{ROLES}{role}"), token.as_ref()).await?;
        // The parser's message may quote a key.
        serde_json::from_str(&document)
            .map_err(|_| CredentialsError::new("the metadata service returned no credentials of the role"))
    }
}

/// Sends a request and returns the body of a response with status 200.
async fn text(request: RequestBuilder) -> Result<String, CredentialsError> {
    let failed = |error: reqwest::Error| {
        let error = error_causes::describe(&error.without_url());
        CredentialsError::new(format!("the metadata service failed: {error}"))
    };
    let mut response = request.send().await.map_err(failed)?;
    if response.status() != 200 {
        return Err(CredentialsError::new(format!(
            "the metadata service returned status {}",
            response.status().as_u16()
        )));
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(failed)? {
        if body.len() + chunk.len() > MAX_RESPONSE {
            return Err(CredentialsError::new(format!("the metadata service returned more than {MAX_RESPONSE} bytes")));
        }
        body.extend_from_slice(&chunk);
    }
    String::from_utf8(body).map_err(|_| CredentialsError::new("the metadata service returned no text"))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test")]
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    /// Status and body for a head in lower case; `None` never answers.
    type Answer = fn(&str) -> Option<(u16, String)>;

    const KEYS: &str = r#"{"Code": "Success", "AccessKeyId": "id", "SecretAccessKey": "s", "Token": "t",
        "Expiration": "2050-01-01T00:00:00Z"}"#;

    /// Asks a service that answers in this way.
    async fn ask(answer: Answer) -> Result<AwsCredentials, CredentialsError> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move {
            while let Ok((mut connection, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let mut head = Vec::new();
                    while !head.ends_with(b"\r\n\r\n") && connection.read_buf(&mut head).await.unwrap() > 0 {}
                    let head = String::from_utf8(head).unwrap().to_lowercase();
                    let Some((status, body)) = answer(&head) else { std::future::pending().await };
                    let length = body.len();
                    let response =
                        format!("HTTP/1.1 {status} X\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
                    // The client leaves a response that is too long.
                    let _ = connection.write_all(response.as_bytes()).await;
                });
            }
        });
        Metadata { address, ..Metadata::new().unwrap() }.credentials().await
    }

    /// Answers requests without a token as services of IMDSv1 do.
    fn role(head: &str) -> (u16, String) {
        match head.split(' ').nth(1).unwrap() {
            "/latest/meta-data/iam/security-credentials/" => (200, "files-role\n".to_owned()),
            "/latest/meta-data/iam/security-credentials/files-role" => (200, KEYS.to_owned()),
            _ => (404, String::new()),
        }
    }

    #[tokio::test]
    async fn service_that_requires_a_token_gets_one() {
        let found = ask(|head| {
            Some(if head.starts_with("put /latest/api/token http/1.1") {
                assert!(head.contains("x-aws-ec2-metadata-token-ttl-seconds: 60\r\n"), "{head}");
                (200, "t0ken".to_owned())
            } else if head.contains("x-aws-ec2-metadata-token: t0ken\r\n") {
                role(head)
            } else {
                (401, String::new())
            })
        });
        let found = found.await.unwrap();
        assert_eq!((found.aws_access_key_id(), found.token().as_deref()), ("id", Some("t")));
        assert!(found.expires_at().is_some());
    }

    #[tokio::test]
    async fn service_without_tokens_is_asked_without_one() {
        assert_eq!(ask(|head| Some(role(head))).await.unwrap().aws_access_key_id(), "id");
        let lost = ask(|head| (!head.starts_with("put ")).then(|| role(head)));
        assert_eq!(lost.await.unwrap().aws_access_key_id(), "id", "the token never arrives");
    }

    #[tokio::test]
    async fn senseless_responses_are_errors_without_their_text() {
        let answers: [Answer; 6] = [
            |_| Some((401, String::new())),
            |_| Some((200, String::new())),
            |_| Some((200, "a/../s3cret".to_owned())),
            |_| Some((200, "s3cret ".repeat(10_000))),
            |_| Some((200, "s3cret".repeat(20))),
            |head| Some(if head.contains("credentials/ ") { role(head) } else { (200, r#""s3cret""#.to_owned()) }),
        ];
        for answer in answers {
            let error = ask(answer).await.unwrap_err().message;
            assert!(error.starts_with("the metadata service ") && !error.contains("s3cret"), "{error}");
        }
    }
}

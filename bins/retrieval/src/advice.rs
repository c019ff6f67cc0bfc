//! Next steps after errors.

use retrieval_client::{Error, NoResponse};

/// Variables of proxies, which also change where a request goes.
const PROXY_VARIABLES: [&str; 6] = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

const CHECK_URL: &str = "check --base-url, RETRIEVAL_BASE_URL or the settings file";

/// Returns the next step after an error, or an empty text.
pub fn next_step(error: &Error) -> String {
    match error {
        Error::Transport { server, reason, .. } => {
            let proxy =
                PROXY_VARIABLES.iter().find(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
            let proxy = proxy.map(|name| format!(", and the proxy in {name}")).unwrap_or_default();
            format!("{}{proxy}", after_no_response(server, reason))
        }
        Error::StorageTransport { .. } => {
            "the operator must make storage reachable (`storage.public_endpoint`)".to_owned()
        }
        // Not a missing document or file: the service has no such path.
        Error::Api(api) if api.code == "not_found" => CHECK_URL.to_owned(),
        Error::StorageTimeout { .. } => "try again: --timeout does not apply to storage".to_owned(),
        Error::Timeout { .. } => "try again, or raise --timeout".to_owned(),
        Error::Status { redirect: Some(target), .. } => format!("it redirects to `{target}`: use that as --base-url"),
        Error::Status { status: 502..=504, .. } => {
            "a proxy cannot reach the service behind it: try again later".to_owned()
        }
        Error::Status { status: 429 | 500.., .. } => "try again later".to_owned(),
        Error::Status { .. } => format!("it may be another service: {CHECK_URL}"),
        Error::Malformed { .. } => format!("it may be another service, or another version: {CHECK_URL}"),
        _ => String::new(),
    }
}

fn after_no_response(server: &str, reason: &NoResponse) -> String {
    match reason {
        NoResponse::Refused => format!("start the service, or {CHECK_URL}"),
        NoResponse::NotTls => {
            format!("if that is right, use `{}`", server.replacen("https://", "http://", 1))
        }
        NoResponse::NotHttp if server.starts_with("http://") => {
            format!("if it speaks TLS, use `{}`", server.replacen("http://", "https://", 1))
        }
        NoResponse::Tls(_) => format!("install the issuer's certificate on this machine, or {CHECK_URL}"),
        NoResponse::Broken(_) => "try again".to_owned(),
        _ => CHECK_URL.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn only_the_timeout_of_the_client_can_be_raised() {
        let (server, limit) = ("https://a.example".to_owned(), Duration::from_secs(60));
        let client = Error::Timeout { server: server.clone(), limit };
        assert!(next_step(&client).contains("raise --timeout"));
        assert!(!next_step(&Error::StorageTimeout { server, limit }).contains("raise"));
    }
}

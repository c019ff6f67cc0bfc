//! Content-Security-Policy of the console.

/// Returns the policy: the console's own files, the API, and `upload_origin`, to which files are uploaded. Assigning markup to an
/// element is an error, since nothing may create trusted types.
pub fn content_security_policy(upload_origin: Option<&str>) -> String {
    let store = upload_origin.filter(|origin| is_origin(origin)).map(|origin| format!(" {origin}")).unwrap_or_default();
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'{store}; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
}

/// True for a scheme, a host and a port, without characters that mean something in a policy.
fn is_origin(text: &str) -> bool {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
    host.is_some_and(|host| !host.is_empty() && host.chars().all(is_plain))
}

#[cfg(test)]
mod tests {
    use super::content_security_policy;

    #[test]
    fn only_an_origin_is_added() {
        let own = content_security_policy(None);
        assert!(own.contains("connect-src 'self';"), "{own}");
        for origin in ["http://127.0.0.1:8082", "https://s3.example.com", "http://[::1]:8082"] {
            let policy = content_security_policy(Some(origin));
            assert!(policy.contains(&format!("connect-src 'self' {origin};")), "{policy}");
        }
        for other in
            ["", "*", "https://", "ftp://a", "https://a; script-src *", "https://a b", "https://*", "https://a/b"]
        {
            assert_eq!(content_security_policy(Some(other)), own, "{other}");
        }
    }
}

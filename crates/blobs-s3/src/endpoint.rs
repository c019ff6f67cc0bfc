//! Host and path of objects, in both addressing styles.

use blobs::{BlobError, BlobErrorKind};
use url::{Host, Url};

/// Address of a store and of one bucket in it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Endpoint {
    /// `http` or `https`.
    pub scheme: String,
    /// `host`, or `host:port` unless it is the scheme's default port. Equal to the `Host` header, which is signed.
    authority: String,
    /// Prefix of every path without a final slash, usually empty.
    prefix: String,
    bucket: String,
    path_style: bool,
}

impl Endpoint {
    /// Parses the address of a store.
    ///
    /// # Errors
    /// `Failed` with the address, without a user and a password, if it is invalid or cannot carry the bucket in its host name.
    pub fn new(address: Option<&str>, region: &str, bucket: &str, path_style: bool) -> Result<Self, BlobError> {
        let address = address.map_or_else(|| aws_address(region), str::to_owned);
        let shown = address.rsplit_once('@').map_or(address.as_str(), |(_, host)| host);
        let refuse = |why: &str| BlobError::new(BlobErrorKind::Failed, format!("endpoint `{shown}` {why}"));
        let url = Url::parse(&address).map_err(|error| refuse("is not a URL").with_source(error))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(refuse("is neither http nor https"));
        }
        if !url.username().is_empty() || url.password().is_some() || url.query().is_some() || url.fragment().is_some() {
            return Err(refuse("must contain only scheme, host, port and path"));
        }
        let host = url.host().ok_or_else(|| refuse("has no host"))?;
        if !path_style && !matches!(host, Host::Domain(_)) {
            return Err(refuse("has no host name to prepend the bucket to: set path_style"));
        }
        // `port()` omits the scheme's default port, as HTTP clients do in the `Host` header.
        let authority = url.port().map_or_else(|| host.to_string(), |port| format!("{host}:{port}"));
        Ok(Self {
            scheme: url.scheme().to_owned(),
            authority,
            prefix: url.path().trim_end_matches('/').to_owned(),
            bucket: bucket.to_owned(),
            path_style,
        })
    }

    /// Returns the `Host` header for the bucket and its objects.
    pub fn host(&self) -> String {
        if self.path_style { self.authority.clone() } else { format!("{}.{}", self.bucket, self.authority) }
    }

    /// Returns the path of an object, not percent-encoded.
    pub fn path(&self, key: &str) -> String {
        if self.path_style {
            format!("{}/{}/{key}", self.prefix, self.bucket)
        } else {
            format!("{}/{key}", self.prefix)
        }
    }

    /// Returns the address without a bucket, as the S3 library expects it.
    pub fn base(&self) -> String {
        format!("{}://{}{}", self.scheme, self.authority, self.prefix)
    }

    /// Removes the bucket from a path `/bucket/key` of the library if it belongs in the host name.
    pub fn without_bucket(&self, path: &str) -> Option<String> {
        if self.path_style {
            return None;
        }
        let rest = path.strip_prefix('/')?.strip_prefix(self.bucket.as_str())?;
        if rest.is_empty() { Some("/".to_owned()) } else { rest.starts_with('/').then(|| rest.to_owned()) }
    }
}

fn aws_address(region: &str) -> String {
    let partition = if region.starts_with("cn-") { ".cn" } else { "" };
    format!("https://s3.{region}.amazonaws.com{partition}")
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test")]
    use super::*;

    fn check(address: Option<&str>, path_style: bool, expected: (&str, &str)) {
        let endpoint = Endpoint::new(address, "eu-west-3", "files", path_style).unwrap();
        assert_eq!((endpoint.host().as_str(), endpoint.path("a/b").as_str()), expected, "{address:?}");
    }

    #[test]
    fn both_styles_of_addressing() {
        check(None, true, ("s3.eu-west-3.amazonaws.com", "/files/a/b"));
        check(None, false, ("files.s3.eu-west-3.amazonaws.com", "/a/b"));
        check(Some("http://127.0.0.1:8082"), true, ("127.0.0.1:8082", "/files/a/b"));
        check(Some("http://[::1]:8082/"), true, ("[::1]:8082", "/files/a/b"));
        check(Some("HTTPS://Store.Example:443/s3/"), true, ("store.example", "/s3/files/a/b"));
        check(Some("http://store.example:80"), false, ("files.store.example", "/a/b"));
        check(Some("https://store.example:9000"), false, ("files.store.example:9000", "/a/b"));
    }

    #[test]
    fn invalid_addresses_are_rejected() {
        for address in
            ["", "store.example", "ftp://store.example", "http://u:p@store.example", "http://store.example/?q"]
        {
            assert!(Endpoint::new(Some(address), "r", "files", true).is_err(), "{address}");
        }
        for address in
            ["http://u:hunter2@store.example", "http://u:hunter2@store.example:99999", "u:hunter2@store.example"]
        {
            let error = Endpoint::new(Some(address), "r", "files", true).unwrap_err().to_string();
            assert!(error.contains("endpoint `store.example") && !error.contains("hunter2"), "{error}");
        }
        assert!(Endpoint::new(Some("http://127.0.0.1:1"), "r", "files", false).is_err(), "no host name for the bucket");
    }

    #[test]
    fn the_bucket_is_removed_from_the_path_only_in_host_style() {
        let style = |path_style| Endpoint::new(None, "r", "files", path_style).unwrap();
        assert_eq!(style(false).without_bucket("/files/a/b").as_deref(), Some("/a/b"));
        assert_eq!(style(false).without_bucket("/files").as_deref(), Some("/"));
        assert_eq!(style(false).without_bucket("/files2/a"), None);
        assert_eq!(style(true).without_bucket("/files/a"), None);
    }
}

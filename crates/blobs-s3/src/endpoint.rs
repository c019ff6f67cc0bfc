//! Where an object is: host and path, in both styles of addressing.

use blobs::{BlobError, BlobErrorKind};
use url::{Host, Url};

/// The address of a store and of one bucket in it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Endpoint {
    /// `http` or `https`.
    pub scheme: String,
    /// `host`, or `host:port` where the port is not the scheme's own: exactly what the `Host` header says, because that
    /// is signed.
    authority: String,
    /// What stands before every path, without a slash at its end; mostly empty.
    prefix: String,
    bucket: String,
    path_style: bool,
}

impl Endpoint {
    /// # Errors
    /// `Failed`, naming an address that is none, or that cannot carry the bucket in its host name.
    pub fn new(address: Option<&str>, region: &str, bucket: &str, path_style: bool) -> Result<Self, BlobError> {
        let address = address.map_or_else(|| aws_address(region), str::to_owned);
        let refuse = |why: &str| BlobError::new(BlobErrorKind::Failed, format!("endpoint `{address}` {why}"));
        let url = Url::parse(&address).map_err(|error| refuse("is not a URL").with_source(error))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(refuse("is neither http nor https"));
        }
        if !url.username().is_empty() || url.password().is_some() || url.query().is_some() || url.fragment().is_some() {
            return Err(refuse("must hold nothing but scheme, host, port and path"));
        }
        let host = url.host().ok_or_else(|| refuse("has no host"))?;
        if !path_style && !matches!(host, Host::Domain(_)) {
            return Err(refuse("has no host name to put the bucket in front of: set path_style"));
        }
        // `port()` leaves out the scheme's own, as HTTP clients do in the `Host` header.
        let authority = url.port().map_or_else(|| host.to_string(), |port| format!("{host}:{port}"));
        Ok(Self {
            scheme: url.scheme().to_owned(),
            authority,
            prefix: url.path().trim_end_matches('/').to_owned(),
            bucket: bucket.to_owned(),
            path_style,
        })
    }

    /// What `Host` says in requests for the bucket and its objects.
    pub fn host(&self) -> String {
        if self.path_style { self.authority.clone() } else { format!("{}.{}", self.bucket, self.authority) }
    }

    /// The path of an object, not yet percent-encoded.
    pub fn path(&self, key: &str) -> String {
        if self.path_style {
            format!("{}/{}/{key}", self.prefix, self.bucket)
        } else {
            format!("{}/{key}", self.prefix)
        }
    }

    /// The address without a bucket, as the client library takes it.
    pub fn base(&self) -> String {
        format!("{}://{}{}", self.scheme, self.authority, self.prefix)
    }

    /// The library writes paths as `/bucket/key`; this is what is left of one where the bucket is in the host name.
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
    fn addresses_that_are_none() {
        for address in
            ["", "store.example", "ftp://store.example", "http://u:p@store.example", "http://store.example/?q"]
        {
            assert!(Endpoint::new(Some(address), "r", "files", true).is_err(), "{address}");
        }
        assert!(Endpoint::new(Some("http://127.0.0.1:1"), "r", "files", false).is_err(), "no name for the bucket");
    }

    #[test]
    fn the_bucket_leaves_the_path_only_in_the_host_style() {
        let style = |path_style| Endpoint::new(None, "r", "files", path_style).unwrap();
        assert_eq!(style(false).without_bucket("/files/a/b").as_deref(), Some("/a/b"));
        assert_eq!(style(false).without_bucket("/files").as_deref(), Some("/"));
        assert_eq!(style(false).without_bucket("/files2/a"), None);
        assert_eq!(style(true).without_bucket("/files/a"), None);
    }
}

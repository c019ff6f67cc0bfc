//! Base URL of the service in texts for its readers.

use actix_web::HttpRequest;
use actix_web::http::header::{HOST, HeaderMap};
use openapi::{BaseUrl, Host, Reach};

/// The configured base URL.
pub(crate) struct Published {
    url: BaseUrl,
    /// Only this machine reaches the URL: most often it is the default.
    is_local: bool,
}

impl Published {
    pub fn new(public_url: &str) -> Self {
        let url = BaseUrl::new(public_url).unwrap_or_else(BaseUrl::example);
        let is_local = Host::parse(url.authority()).is_some_and(|host| host.reach == Reach::Loopback);
        Published { url, is_local }
    }

    /// Returns the address for the reader of a text: the configured one or, if only this machine reaches that, the address of
    /// the request on this machine or a private network. A public address needs the setting, because a text with another one
    /// could be put into a shared cache and collect keys. Headers of proxies are ignored: anybody can send them.
    pub fn for_request(&self, request: &HttpRequest) -> BaseUrl {
        let requested = if self.is_local { self.requested(request.headers()) } else { None };
        requested.unwrap_or_else(|| self.url.clone())
    }

    /// Returns the address in `Host`, with the scheme of the configured URL.
    fn requested(&self, headers: &HeaderMap) -> Option<BaseUrl> {
        let mut hosts = headers.get_all(HOST);
        let (host, None) = (hosts.next()?.to_str().ok()?, hosts.next()) else { return None };
        Host::parse(host).filter(|host| host.reach != Reach::Public)?;
        let scheme = if self.url.as_str().starts_with("https:") { "https" } else { "http" };
        BaseUrl::new(&format!("{scheme}://{host}"))
    }

    /// The path of the configured URL, below which a proxy serves the API; empty at the root of a host.
    pub fn path(&self) -> &str {
        self.url.path()
    }

    /// Returns a path of the service, such as `/v1/files`, as clients reach it.
    pub fn path_of(&self, path: &str) -> String {
        format!("{}{path}", self.path())
    }

    /// True for the configured URL.
    pub fn is_configured(&self, url: &BaseUrl) -> bool {
        self.url == *url
    }
}

#[cfg(test)]
mod tests {
    use super::Published;
    use actix_web::test::TestRequest;

    fn shown(public_url: &str, host: &str) -> String {
        let request = TestRequest::get().insert_header(("Host", host)).to_http_request();
        Published::new(public_url).for_request(&request).as_str().to_owned()
    }

    #[test]
    fn configured_address_wins_over_the_request() {
        for host in ["evil.example", "127.0.0.1:8080", "nas.local"] {
            assert_eq!(shown("https://search.example.com", host), "https://search.example.com");
            assert_eq!(shown("http://192.168.1.5:8080", host), "http://192.168.1.5:8080");
        }
    }

    #[test]
    fn service_with_tls_shows_addresses_with_tls() {
        assert_eq!(shown("https://127.0.0.1:8080", "nas.local:8080"), "https://nas.local:8080");
        assert_eq!(shown("https://localhost", "localhost"), "https://localhost");
    }

    #[test]
    fn unconfigured_service_shows_private_addresses_of_requests() {
        for public_url in ["http://127.0.0.1:8080", "http://localhost:8080", "http://[::1]:8080"] {
            for host in ["nas.local:8080", "[fd00::1]:8080", "10.0.0.7", "localhost:1"] {
                assert_eq!(shown(public_url, host), format!("http://{host}"));
            }
            for host in ["evil.example", "6.6.6.6:8080", "\"><script>", "a b", ""] {
                assert_eq!(shown(public_url, host), public_url, "{host}");
            }
        }
    }
}

/// Placeholder for the base URL in texts.
pub(crate) const PLACEHOLDER: &str = "{{BASE_URL}}";

/// Base URL of a service, without a trailing slash. Its characters are inert in HTML, shell commands and string literals.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BaseUrl(String);

impl BaseUrl {
    /// Returns `None` for a URL of another scheme, and for one with quotes, spaces or other characters of a syntax.
    pub fn new(url: &str) -> Option<Self> {
        let url = url.trim_end_matches('/');
        let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
        let is_inert = |c: char| c.is_ascii_alphanumeric() || "-._~:/[]%".contains(c);
        (!rest.is_empty() && rest.chars().all(is_inert)).then(|| BaseUrl(url.to_owned()))
    }

    /// The address of no service, for texts without one.
    pub fn example() -> Self {
        BaseUrl("https://search.example.com".to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Host and port.
    pub fn authority(&self) -> &str {
        self.parts().0
    }

    /// The path, empty at the root of a host.
    pub fn path(&self) -> &str {
        self.parts().1
    }

    fn parts(&self) -> (&str, &str) {
        let rest = self.0.split_once("://").map_or("", |(_, rest)| rest);
        rest.split_at(rest.find('/').unwrap_or(rest.len()))
    }

    /// Returns a text with the URL in place of its placeholders.
    pub fn fill(&self, text: &str) -> String {
        text.replace(PLACEHOLDER, &self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::BaseUrl;

    #[test]
    fn only_inert_characters_are_accepted() {
        for url in ["http://127.0.0.1:8080", "https://search.example.com/api", "http://[::1]:8080", "http://a.b/%C3%BC"]
        {
            assert_eq!(BaseUrl::new(url).as_ref().map(BaseUrl::as_str), Some(url));
        }
        for url in [
            "",
            "http://",
            "ftp://a",
            "a.b",
            "http://a b",
            "http://a\"b",
            "http://a'b",
            "http://a<b",
            "http://a&b",
            "http://a$b",
            "http://a`b",
            "http://a\\b",
            "http://a\nb",
            "http://ü",
            "http://a@b",
            "http://a?b",
            "http://a#b",
            "http://a{b}",
            "http://a;b",
            "http://a(b)",
        ] {
            assert_eq!(BaseUrl::new(url), None, "{url}");
        }
    }

    #[test]
    fn path_is_a_prefix_of_links() {
        let path = |url: &str| BaseUrl::new(url).map(|url| url.path().to_owned());
        assert_eq!(path("https://a.b").as_deref(), Some(""));
        assert_eq!(path("https://a.b/").as_deref(), Some(""));
        assert_eq!(path("https://a.b:1/api/v").as_deref(), Some("/api/v"));
        assert_eq!(BaseUrl::new("https://a.b:1/api").as_ref().map(BaseUrl::authority), Some("a.b:1"));
    }
}

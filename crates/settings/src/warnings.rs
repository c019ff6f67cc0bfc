use url::Url;

use crate::Settings;
use crate::secret::without_credentials;

impl Settings {
    /// Returns what is valid and yet unsafe, one sentence each.
    pub fn warnings(&self) -> Vec<String> {
        let oauth = &self.auth.oauth;
        let is_plain = Url::parse(&oauth.jwks_url).is_ok_and(|url| url.scheme() == "http");
        let mut warnings = Vec::new();
        if !oauth.issuer.is_empty() && is_plain {
            warnings.push(format!(
                "auth.oauth.jwks_url = `{}` is not encrypted: whoever can change the response can forge access tokens; use \
                 https",
                without_credentials(&oauth.jwks_url)
            ));
        }
        warnings
    }
}

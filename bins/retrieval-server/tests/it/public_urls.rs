//! `server.public_url`: texts of the service contain each one that the settings accept.

use openapi::BaseUrl;
use settings::Settings;

#[test]
fn every_accepted_public_url_can_be_shown() {
    let spellings = [
        "https://search.acme.com",
        "https://köln.acme.com",
        "HTTPS://SEARCH.acme.com:8443/api",
        " https://search.acme.com\n",
        "https://search.acme.com/ü",
        "http://[::1]:8080",
        "https:search.acme.com",
    ];
    // Every character that has a meaning in some syntax, in a path and in a host.
    let ascii = (0_u8..0x80).map(char::from);
    let odd = ascii.flat_map(|c| [format!("https://search.acme.com/a{c}b"), format!("https://a{c}b.acme.com")]);
    for url in spellings.iter().map(|url| (*url).to_owned()).chain(odd) {
        // Storage of AWS, which every client reaches.
        let variables = [("RETRIEVAL__SERVER__PUBLIC_URL", url.as_str()), ("RETRIEVAL__STORAGE__BACKEND", "s3")];
        let loaded = Settings::load(None, variables.map(|(name, value)| (name.to_owned(), value.to_owned())));
        match loaded {
            Ok(settings) => {
                let public_url = settings.server.public_url;
                let shown = BaseUrl::new(&public_url);
                assert_eq!(shown.as_ref().map(BaseUrl::as_str), Some(public_url.as_str()), "{url:?}");
            }
            Err(error) => assert!(!spellings.contains(&url.as_str()), "{url:?}: {error}"),
        }
    }
}

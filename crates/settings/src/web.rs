//! Checks of the section `web`.

use url::Url;

use crate::values::{Check, http_url, not_empty};
use crate::{SettingsError, Web, WebHttp, WebProvider};

/// Most results that are read before ranking: each takes a connection and an extraction.
const MAX_READ_TOP: u32 = 20;

/// Returns one check per key. Keys of providers that are not used are free.
pub(crate) fn checks(web: &Web) -> Vec<Check> {
    let mut checks = vec![check_list(&web.providers), check_read_top(web.read_top)];
    for provider in &web.providers {
        match provider {
            WebProvider::Index => {}
            WebProvider::Searxng => checks.push(http_url("web.searxng.url", &web.searxng.url)),
            WebProvider::Brave => {
                checks.push(http_url("web.brave.url", &web.brave.url));
                if web.brave.api_key.is_empty() {
                    let reason = "must be set with `brave` in `web.providers`";
                    checks.push(Err(SettingsError::refused("web.brave.api_key", reason)));
                }
            }
            WebProvider::Http => checks.extend(check_http(&web.http)),
        }
    }
    checks
}

fn check_list(providers: &[WebProvider]) -> Check {
    let key = "web.providers";
    if providers.is_empty() {
        return Err(SettingsError::refused(key, "must name at least one of `index`, `searxng`, `brave` and `http`"));
    }
    if (1..providers.len()).any(|at| providers[..at].contains(&providers[at])) {
        return Err(SettingsError::refused(key, "must name each provider once"));
    }
    Ok(())
}

fn check_read_top(read_top: u32) -> Check {
    if read_top <= MAX_READ_TOP {
        return Ok(());
    }
    Err(SettingsError::invalid("web.read_top", read_top, format!("must be at most {MAX_READ_TOP}")))
}

fn check_http(http: &WebHttp) -> Vec<Check> {
    let query = if http.query_pointer.is_empty() {
        not_empty("web.http.query_parameter", &http.query_parameter)
    } else {
        check_body(&http.body)
    };
    vec![
        check_url(&http.url),
        if http.api_key.is_empty() { Ok(()) } else { not_empty("web.http.api_key_header", &http.api_key_header) },
        query,
        pointer("web.http.query_pointer", &http.query_pointer),
        pointer("web.http.results", &http.results),
        not_empty("web.http.result_url", &http.result_url),
        pointer("web.http.result_url", &http.result_url),
        pointer("web.http.result_title", &http.result_title),
        pointer("web.http.result_snippet", &http.result_snippet),
        pointer("web.http.result_date", &http.result_date),
    ]
}

/// Accepts fixed parameters, unlike [`http_url`]. Does not quote the URL, whose parameters may contain a key.
fn check_url(text: &str) -> Check {
    match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.fragment().is_none() => Ok(()),
        Ok(_) | Err(_) => Err(SettingsError::refused(
            "web.http.url",
            "must be an http or https URL such as `https://host.example/search?engine=7`",
        )),
    }
}

fn check_body(text: &str) -> Check {
    match serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text) {
        Ok(_) => Ok(()),
        Err(error) => Err(SettingsError::refused("web.http.body", format!("must be a JSON object: {error}"))),
    }
}

fn pointer(key: &str, text: &str) -> Check {
    if text.is_empty() || text.starts_with('/') {
        return Ok(());
    }
    Err(SettingsError::invalid(key, text, "must be a JSON pointer such as `/results`"))
}

//! Names of the reasons in reports.

use fetcher::FetchError;

/// Returns the name of a failure to fetch.
pub fn of_fetch(error: &FetchError) -> String {
    let name = match error {
        FetchError::Status { status, .. } => return format!("http_{status}"),
        FetchError::InvalidUrl { .. } => "invalid_url",
        FetchError::RefusedAddress => "refused_address",
        FetchError::RefusedPort { .. } => "refused_port",
        FetchError::Dns => "unknown_host",
        FetchError::Connect => "no_connection",
        FetchError::Tls => "tls",
        FetchError::Timeout { .. } => "timeout",
        FetchError::ContentType { .. } => "unsupported_type",
        FetchError::TooLarge { .. } => "too_large",
        FetchError::TooManyRedirects { .. } => "too_many_redirects",
        FetchError::RedirectLoop => "redirect_loop",
        FetchError::Robots => "robots",
        FetchError::RobotsUnreachable { .. } => "robots_unreachable",
        FetchError::Overloaded { .. } => "overloaded",
        FetchError::Interrupted => "interrupted",
        FetchError::Protocol { .. } => "protocol",
        // The type is open to new variants.
        _ => "other",
    };
    name.to_owned()
}

/// Returns true if no page of the host can be visited: the host, or its robots.txt, cannot be reached.
pub fn is_unreachable(error: &FetchError) -> bool {
    matches!(
        error,
        FetchError::Dns | FetchError::Connect | FetchError::Timeout { .. } | FetchError::RobotsUnreachable { .. }
    )
}

//! Check of the guard that keeps fetched pages and webhooks out of private networks.

use std::net::IpAddr;

use fetcher::{AddressGuard, FetchError, FetchRequest, Fetched, IpNet};
use model::OrganizationId;
use settings::Settings;
use uuid::Uuid;

use super::report::Finding;
use super::within;
use crate::compose;

/// Addresses that no organization may reach: this machine, private networks, and the metadata of clouds in several notations.
const PRIVATE: [&str; 9] = [
    "127.0.0.1",
    "::1",
    "10.0.0.1",
    "192.168.0.1",
    "169.254.169.254",
    "fd00:ec2::254",
    "::ffff:127.0.0.1",
    "64:ff9b::a9fe:a9fe",
    "0.0.0.0",
];

pub async fn check(settings: &Settings) -> Finding {
    let check = "address_guard";
    let hint = "open single hosts only: every organization can send requests there";
    let opened = [
        ("fetch.allow_networks", &settings.fetch.allow_networks),
        ("webhooks.allow_networks", &settings.webhooks.allow_networks),
    ];
    let opened: Vec<String> = opened.into_iter().filter_map(|(key, networks)| opened_by(key, networks)).collect();
    let probe = async {
        // By name, through the resolver and the whole fetcher.
        if refuses(&settings.fetch.allow_networks, "127.0.0.1") && refuses(&settings.fetch.allow_networks, "::1") {
            let request = FetchRequest::new(OrganizationId(Uuid::nil()), "http://localhost/");
            match compose::fetcher(settings)?.fetch(&request).await {
                Err(FetchError::RefusedAddress | FetchError::Dns) => {}
                Err(error) => return Ok(Finding::fail(check, format!("`localhost` was not refused: {error}"), DEFECT)),
                Ok(Fetched::NotModified | Fetched::Page(_)) => {
                    return Ok(Finding::fail(check, "`localhost` was fetched", DEFECT));
                }
            }
        }
        Ok(match opened.is_empty() {
            true => Finding::pass(check, "private networks are refused"),
            false => Finding::warn(check, opened.join("; "), hint),
        })
    };
    within(check, DEFECT, probe).await
}

const DEFECT: &str = "stop the server and report this: it may reach the private network";

fn refuses(allowed: &[IpNet], address: &str) -> bool {
    address.parse::<IpAddr>().is_ok_and(|address| !AddressGuard::new(allowed.to_vec()).allows(address))
}

/// Names the private addresses that a setting opens.
fn opened_by(key: &str, networks: &[IpNet]) -> Option<String> {
    let opened: Vec<&str> = PRIVATE.into_iter().filter(|address| !refuses(networks, address)).collect();
    let sample = if opened.is_empty() { String::new() } else { format!(", with {}", opened.join(", ")) };
    (!networks.is_empty()).then(|| format!("`{key}` opens {} networks{sample}", networks.len()))
}

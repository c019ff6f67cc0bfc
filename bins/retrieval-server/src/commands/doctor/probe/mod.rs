//! Round trip of a document through a running server, and isolation of two organizations.
//!
//! Both organizations are created for the check and deleted after it, whatever its outcome. They are not billed, and their
//! usage is deleted with them.

mod round_trip;
mod tenants;

use std::time::Duration;

use anyhow::Context;
use docstore::Docstore;
use reqwest::Client;
use settings::Settings;
use tokio::signal::unix::{SignalKind, signal};

use super::report::Finding;
use crate::data_folder;
use tenants::Tenants;

const ROUND_TRIP: &str = "round_trip";
const ISOLATION: &str = "isolation";
/// Time for all steps.
const DEADLINE: Duration = Duration::from_secs(60);
/// Time for a server to answer.
const ANSWER: Duration = Duration::from_secs(5);
/// Name of this service in its document of links.
const SERVICE: &str = "Retrieval API";

/// Reason for the end of the steps, with advice.
struct Problem {
    check: &'static str,
    detail: String,
    hint: String,
}

/// Returns a client of endpoints of the operator.
pub fn http_client() -> anyhow::Result<Client> {
    Ok(Client::builder().timeout(ANSWER).no_proxy().redirect(reqwest::redirect::Policy::none()).build()?)
}

/// Returns the findings of steps that cannot succeed, since the check of a backend failed.
pub fn not_tried(backend: &str) -> Vec<Finding> {
    let finding = |check| Finding::warn(check, "not tried", format!("mend `{backend}` first, and check again"));
    [ROUND_TRIP, ISOLATION].map(finding).into()
}

pub async fn check(settings: &Settings) -> Vec<Finding> {
    let Some(base) = server(settings).await else {
        let detail = format!("no server answers at `{}`", settings.server.public_url);
        let hint = if settings.has_tls() {
            "start the server, or let the name in `server.public_url` lead to this machine, for example in /etc/hosts, \
             and check again"
        } else {
            "start the server, and check again; compare `server.bind` and `server.public_url` with its address"
        };
        return [ROUND_TRIP, ISOLATION].map(|check| Finding::warn(check, detail.clone(), hint)).into();
    };
    // The check `database` passes without data, which the first start creates.
    let store = match data_folder::open_existing(settings).await {
        Ok(store) => store,
        Err(error) => {
            let hint = "a server answers, but its data is not here: run `doctor` with its settings file and in its \
                        working directory";
            return vec![Finding::fail(ROUND_TRIP, format!("{error:#}"), hint)];
        }
    };
    match probe(settings, &base, store).await {
        Ok(findings) => findings,
        Err(error) => {
            let hint = "the organizations of the check could not be created or deleted: see the check `database`";
            vec![Finding::fail(ROUND_TRIP, format!("{error:#}"), hint)]
        }
    }
}

/// Returns the base URL of a server of this installation: on this machine, else the public one. Another service there gets no key.
async fn server(settings: &Settings) -> Option<String> {
    let mut local = settings.server.bind;
    if local.ip().is_unspecified() {
        local.set_ip(if local.is_ipv4() {
            std::net::Ipv4Addr::LOCALHOST.into()
        } else {
            std::net::Ipv6Addr::LOCALHOST.into()
        });
    }
    // A certificate is not made for an address.
    let local = (!settings.has_tls()).then(|| format!("http://{local}"));
    for base in local.into_iter().chain([settings.server.public_url.clone()]) {
        if is_ours(&base).await.unwrap_or(false) {
            return Some(base);
        }
    }
    None
}

/// Returns true if this service answers at a base URL.
///
/// # Errors
/// Nobody answers, or with a certificate that is not valid.
pub async fn is_ours(base: &str) -> anyhow::Result<bool> {
    let response = http_client()?.get(format!("{base}/")).header("Accept", "application/json").send().await?;
    Ok(response.json::<serde_json::Value>().await.is_ok_and(|links| links["name"] == SERVICE))
}

async fn probe(settings: &Settings, base: &str, store: Docstore) -> anyhow::Result<Vec<Finding>> {
    let tenants = Tenants::create(store).await.context("creating two organizations")?;
    let outcome = tokio::select! {
        outcome = tokio::time::timeout(DEADLINE, round_trip::run(settings, base, &tenants)) => {
            outcome.unwrap_or_else(|_| Err(round_trip::too_slow()))
        }
        () = interrupted() => Err(Problem {
            check: ROUND_TRIP,
            detail: "interrupted".to_owned(),
            hint: "check again".to_owned(),
        }),
    };
    let removed = tenants.delete().await.context("deleting both organizations")?;
    let mut findings = match outcome {
        Ok(findings) => findings,
        Err(Problem { check, detail, hint }) => vec![Finding::fail(check, detail, hint)],
    };
    if !removed {
        let hint = "start an instance that works (`--role all` or `worker`)";
        findings.push(Finding::warn(
            "removal",
            "the organizations of the check are deleted, but their data is left",
            hint,
        ));
    }
    Ok(findings)
}

/// Waits for a signal that would end the command without its cleaning up.
async fn interrupted() {
    let signals = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
    let (Ok(mut interrupt), Ok(mut terminate)) = signals else { return std::future::pending().await };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

//! `retrieval usage`.

use retrieval_client::types::UsageOverview;
use retrieval_client::{Client, UsageQuery};

use crate::api_values;
use crate::cli::Usage;
use crate::failure::Failure;
use crate::terminal::Terminal;
use crate::terminal::appearance::{Appearance, Style};
use crate::terminal::money::money;
use crate::terminal::table::Table;
use crate::terminal::text::one_line;

pub async fn run(arguments: Usage, client: &Client, terminal: &Terminal) -> Result<(), Failure> {
    let Usage { from, to, interval, keys, group_by } = arguments;
    let answer = client.usage(&UsageQuery { from, to, interval, api_key_ids: keys, group_by }).await?;
    if terminal.json {
        return terminal.json(&answer.raw);
    }
    terminal.print(&render(&answer, &terminal.appearance))
}

fn render(usage: &UsageOverview, appearance: &Appearance) -> String {
    let (headline, range) = (&usage.headline, &usage.range);
    let window = format!("{} to {} ({})", one_line(&range.from), one_line(&range.to), one_line(&range.timezone));
    let totals = format!(
        "{} requests, {} errors ({:.1} %), {:.0} ms on average, {:.0} ms at the 95th percentile, {} spent",
        headline.requests,
        headline.errors,
        headline.error_rate * 100.0,
        headline.avg_duration_ms,
        headline.p95_duration_ms,
        money(headline.spend_cents)
    );
    let mut parts = vec![format!("{}\n{totals}\n", appearance.paint(Style::Faint, &window))];

    let mut endpoints = Table::new(&["ENDPOINT", "REQUESTS", "ERRORS", "P95 MS"]);
    for endpoint in &usage.endpoints {
        let numbers = [endpoint.requests.to_string(), endpoint.errors.to_string()];
        let p95 = format!("{:.0}", endpoint.p95_duration_ms);
        endpoints.row([endpoint.route.clone()].into_iter().chain(numbers).chain([p95]));
    }
    let mut keys = Table::new(&["KEY", "PREFIX", "STATUS", "REQUESTS", "ERRORS", "SPENT", "LAST USED"]);
    for key in &usage.keys {
        keys.row([
            key.name.clone(),
            key.key_prefix.clone(),
            api_values::wire(&key.status),
            key.requests.to_string(),
            key.errors.to_string(),
            money(key.spend_cents),
            key.last_used_at.clone().unwrap_or_else(|| "never".to_owned()),
        ]);
    }
    let mut products = Table::new(&["PRODUCT", "REQUESTS", "SPENT"]);
    for product in &usage.products {
        products.row([product.label.clone(), product.requests.to_string(), money(product.spend_cents)]);
    }
    let tables = [(usage.endpoints.len(), endpoints), (usage.keys.len(), keys), (usage.products.len(), products)];
    parts.extend(tables.iter().filter(|(rows, _)| *rows > 0).map(|(_, table)| table.render(appearance)));
    parts.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn usage_has_headline_and_tables() {
        let body = json!({
            "request_id": "5b0f3a52-2a0c-4ad1-9b1b-9cf8a4c4a001",
            "headline": { "requests": 200, "errors": 3, "error_rate": 0.015, "avg_duration_ms": 12.4,
                "p95_duration_ms": 40.0, "spend_cents": 205 },
            "endpoints": [{ "route": "POST /v1/search", "label": "Search", "requests": 200, "errors": 3,
                "p95_duration_ms": 40.0 }],
            "keys": [], "latency_series": [], "products": [], "series": [],
            "range": { "from": "2026-01-01", "to": "2026-01-31", "interval": "day", "timezone": "UTC" },
        });
        let usage: UsageOverview = serde_json::from_value(body).expect("a response");
        let expected = "2026-01-01 to 2026-01-31 (UTC)\n\
            200 requests, 3 errors (1.5 %), 12 ms on average, 40 ms at the 95th percentile, 2.05 spent\n\n\
            ENDPOINT         REQUESTS  ERRORS  P95 MS\nPOST /v1/search       200       3      40\n";
        assert_eq!(render(&usage, &Appearance { colour: false, width: usize::MAX }), expected);
    }
}

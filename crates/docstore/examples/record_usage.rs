//! Load generator: records COUNT requests of a busy organization, spread over the last HOURS, in the same batches as the
//! server.
//!
//! Usage: `record_usage URL ORGANIZATION KEYS COUNT HOURS`, with KEYS separated by commas. Prints progress every second.
#![expect(clippy::print_stdout, reason = "an example may print")]

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use docstore::{Docstore, Location, UsageEvent};
use model::{Clock, OrganizationId, SystemClock, Timestamp};
use uuid::Uuid;

/// Batch size of a server under load.
const BATCH: i64 = 2_000;
const ROUTES: [&str; 8] = [
    "POST /v1/search",
    "POST /v1/search",
    "POST /v1/search",
    "POST /v1/search",
    "POST /v1/document",
    "POST /v1/document",
    "GET /v1/files",
    "POST /v1/feedback",
];
const HOUR_MS: i64 = 60 * 60 * 1_000;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, organization, keys, count, hours] = arguments.as_slice() else {
        return Err("usage: record_usage URL ORGANIZATION KEYS COUNT HOURS".into());
    };
    let store = Docstore::open(&Location::parse(url, Path::new("."))?, 2)?;
    let organization_id = OrganizationId(Uuid::parse_str(organization)?);
    let identities: Vec<String> = keys.split(',').map(|key| format!("key:{key}")).collect();
    let (count, hours): (i64, i64) = (count.parse()?, hours.parse()?);
    let begin = SystemClock.now().as_millis() - hours * HOUR_MS;
    let mut random = 1_u64;
    let mut last_report = Instant::now();
    for first in (0..count).step_by(usize::try_from(BATCH)?) {
        let numbers = first..count.min(first + BATCH);
        let events = numbers.map(|number| {
            // Knuth's MMIX generator, whose high bits are of better quality.
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let bits = random >> 16;
            let pick = |shift: u32, of: usize| (bits >> shift) as usize % of;
            UsageEvent {
                organization_id,
                identity: identities[pick(0, identities.len())].clone(),
                route: ROUTES[pick(8, ROUTES.len())].to_owned(),
                status: [200, 200, 200, 200, 200, 200, 200, 400, 429, 502][pick(16, 10)],
                // Powers of two from 200 µs to about 400 ms.
                duration_us: 200 << pick(24, 12),
                created_at: Timestamp::from_millis(begin + hours * HOUR_MS * number / count),
            }
        });
        store.record_usage(events.collect(), true).await?;
        if last_report.elapsed() > Duration::from_secs(1) {
            last_report = Instant::now();
            println!("{first}");
        }
    }
    println!("{count}");
    Ok(())
}

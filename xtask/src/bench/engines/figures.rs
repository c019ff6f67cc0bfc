//! Figures of a contender on a collection.

use crate::bench::report::Section;
use serde::{Deserialize, Serialize};

/// Numbers of concurrent clients.
pub const CLIENTS: [usize; 3] = [1, 8, 64];

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Import {
    /// Documents per second until all can be found.
    pub rate: f64,
    pub disk_mb: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    pub contender: String,
    pub collection: String,
    pub documents: usize,
    /// Latency of one client.
    pub p50_ms: f64,
    pub p99_ms: f64,
    /// For each of [`CLIENTS`]; `None` if a search failed.
    pub searches_per_second: [Option<f64>; CLIENTS.len()],
    /// Mean nDCG@10 of a labelled collection.
    pub ndcg: Option<f64>,
    pub import: Import,
    /// Resident memory of all processes after the searches.
    pub memory_mb: f64,
}

impl Figures {
    pub fn report(&self, section: &mut Section) {
        section.number("p50 ms, one client", self.p50_ms);
        section.number("p99 ms, one client", self.p99_ms);
        for (clients, rate) in CLIENTS.iter().zip(self.searches_per_second) {
            let name = if *clients == 1 { "one client".to_owned() } else { format!("{clients} clients") };
            section.named(format!("searches/s, {name}"), rate.unwrap_or(f64::NAN));
        }
        if let Some(ndcg) = self.ndcg {
            section.number("nDCG@10", ndcg);
        }
        section.number("documents/s imported", self.import.rate);
        section.number("resident MB after the load", self.memory_mb);
        section.number("MB on disk", self.import.disk_mb);
    }
}

use diesel::prelude::*;
use model::{OrganizationId, Timestamp};

use crate::schema::{usage_events, usage_rollups};
use crate::types::row;

row! {
    /// One request.
    #[derive(Clone, Debug, Insertable, Queryable, Selectable)]
    #[diesel(table_name = usage_events, treat_none_as_default_value = false)]
    pub struct UsageEvent {
        pub organization_id: OrganizationId,
        pub identity: String,
        pub route: String,
        pub status: i32,
        pub duration_us: i64,
        pub created_at: Timestamp,
    }
}

row! {
    /// The requests of one identity to one route in one hour or day.
    #[derive(Clone, Debug, Insertable, PartialEq, Queryable, Selectable)]
    #[diesel(table_name = usage_rollups)]
    pub struct UsageRollup {
        pub organization_id: OrganizationId,
        /// Milliseconds: [`HOUR`] or [`DAY`].
        pub period: i64,
        /// A multiple of the period since the Unix epoch.
        pub start: Timestamp,
        pub identity: String,
        pub route: String,
        pub requests: i64,
        /// Answers of 400 to 499.
        pub client_errors: i64,
        /// Answers of 500 and more.
        pub server_errors: i64,
        pub duration_us: i64,
        pub spend_cents: i64,
        /// Of durations in microseconds; see [`DurationHistogram`](crate::DurationHistogram).
        pub histogram: Vec<u8>,
    }
}

pub const HOUR: i64 = 3_600_000;
pub const DAY: i64 = 24 * HOUR;

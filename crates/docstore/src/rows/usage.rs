use diesel::prelude::*;
use model::{OrganizationId, Timestamp};

use crate::arrays::array_row;
use crate::schema::{usage_events, usage_rollups};
use crate::types::row;

row! {
    /// Single request.
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

array_row!(UsageEvent => usage_events {
    organization_id: organization_id, identity: identity, route: route, status: status, duration_us: duration_us,
    created_at: created_at,
});

row! {
    /// Totals of the requests of one identity to one route in one minute, hour or day.
    #[derive(Clone, Debug, Insertable, PartialEq, Queryable, Selectable)]
    #[diesel(table_name = usage_rollups, treat_none_as_default_value = false)]
    pub struct UsageRollup {
        pub organization_id: OrganizationId,
        /// Length in milliseconds: [`MINUTE`], [`HOUR`] or [`DAY`].
        pub period: i64,
        /// Start of the period, a multiple of its length since the Unix epoch.
        pub start: Timestamp,
        pub identity: String,
        pub route: String,
        pub requests: i64,
        /// Responses with status 400-499.
        pub client_errors: i64,
        /// Responses with status 500 or higher.
        pub server_errors: i64,
        pub duration_us: i64,
        pub spend_cents: i64,
        /// Encoded [`DurationHistogram`](crate::DurationHistogram) of durations in microseconds.
        pub histogram: Vec<u8>,
    }
}

/// Position in the order of the rollups of one period.
#[derive(Clone, Debug)]
pub struct RollupPosition {
    pub start: Timestamp,
    pub identity: String,
    pub route: String,
}

impl RollupPosition {
    /// Returns the position before the rollups that start at this time or later: no identity is empty.
    pub fn before(start: Timestamp) -> Self {
        Self { start, identity: String::new(), route: String::new() }
    }

    /// Returns the position of a rollup.
    pub fn of(rollup: &UsageRollup) -> Self {
        Self { start: rollup.start, identity: rollup.identity.clone(), route: rollup.route.clone() }
    }
}

/// Milliseconds in a minute.
pub const MINUTE: i64 = 60_000;
/// Milliseconds in an hour.
pub const HOUR: i64 = 3_600_000;
/// Milliseconds in a day.
pub const DAY: i64 = 24 * HOUR;

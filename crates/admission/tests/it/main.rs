#![expect(clippy::unwrap_used, reason = "tests")]

mod compute;
mod fairness;
mod leaving;
mod overload;

use model::OrganizationId;
use uuid::Uuid;

fn organization(number: u128) -> OrganizationId {
    OrganizationId(Uuid::from_u128(number))
}

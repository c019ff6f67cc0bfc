//! The embedded engine against the contract, and what is its own: reopening, locks, damage, concurrency.

mod conformance;

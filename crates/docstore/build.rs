//! Rebuilds the crate when a migration is added: the macro that embeds the folders does not detect new ones.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations");
}

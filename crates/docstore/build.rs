//! A new migration must be compiled in: the macro that embeds the folders does not notice one that is added.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations");
}

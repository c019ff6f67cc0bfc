//! Hashes of stems. Stored term vectors contain them, and the buckets of long documents: after a change of these functions, raise
//! `TERMS_VERSION` and `ANALYSIS_VERSION`.

/// Hashes eight bytes at a time, with the finalizer of MurmurHash3 so that all bits depend on all bytes.
pub fn hash(stem: &str) -> u64 {
    let mut hash = stem.len() as u64;
    for chunk in stem.as_bytes().chunks(8) {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        hash = mix(hash, u64::from_le_bytes(bytes));
    }
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

/// Adds eight bytes to a hash.
pub fn mix(hash: u64, bytes: u64) -> u64 {
    let mixed = (hash.rotate_left(5) ^ bytes).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 32)
}

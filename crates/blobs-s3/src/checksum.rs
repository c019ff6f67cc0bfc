//! Checksum of a downloaded object.

use md5::{Digest, Md5};

/// Digest of the received bytes, if the store told the expected one.
pub(crate) struct Checksum(Option<(Md5, [u8; 16])>);

impl Checksum {
    /// Expects the digest in the ETag. `encryption` is the method of server-side encryption, if any.
    ///
    /// The ETag is the MD5 of the content only if the object was uploaded in one part and is not encrypted with a key of
    /// the customer or of a key service.
    pub fn expected(etag: &str, encryption: Option<&str>) -> Self {
        let is_content = encryption.is_none_or(|method| method == "AES256");
        let mut md5 = [0; 16];
        let decoded = is_content && hex::decode_to_slice(etag, &mut md5).is_ok();
        Self(decoded.then(|| (Md5::new(), md5)))
    }

    pub fn update(&mut self, bytes: &[u8]) {
        if let Some((digest, _)) = &mut self.0 {
            digest.update(bytes);
        }
    }

    /// Returns false if all bytes are there and differ from those that were stored.
    pub fn matches(&mut self) -> bool {
        self.0.take().is_none_or(|(digest, expected)| <[u8; 16]>::from(digest.finalize()) == expected)
    }
}

#[cfg(test)]
mod tests {
    use super::Checksum;

    fn matches(etag: &str, encryption: Option<&str>, content: &str) -> bool {
        let mut checksum = Checksum::expected(etag, encryption);
        content.as_bytes().chunks(2).for_each(|slice| checksum.update(slice));
        checksum.matches()
    }

    #[test]
    fn content_is_compared_with_an_etag_that_is_its_digest() {
        let walrus = "5d9c68c6c50ed3d02a2fcf54f63993b6";
        assert!(matches("900150983cd24fb0d6963f7d28e17f72", None, "abc"));
        assert!(!matches("900150983cd24fb0d6963f7d28e17f72", Some("AES256"), "abd"));
        for (etag, encryption) in [(walrus, Some("aws:kms")), ("5d9c68c6c50ed3d02a2fcf54f63993b6-2", None), ("x", None)]
        {
            assert!(matches(etag, encryption, "abc"), "`{etag}` says nothing about the content");
        }
    }
}

//! A folder with the files of a pair.

use std::fs;
use std::time::Duration;

use rcgen::{CertificateParams, KeyPair};
use server_tls::PairFiles;
use tempfile::TempDir;

pub const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// The first day of 2026.
pub const BEGIN: Duration = Duration::from_secs(1_767_225_600);

/// PEM texts of a pair.
pub struct Pair {
    pub certificate: String,
    pub key: String,
}

/// Returns a pair of the year 2026, signed by itself.
pub fn pair() -> Pair {
    let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    params.not_before = rcgen::date_time_ymd(2026, 1, 1);
    params.not_after = rcgen::date_time_ymd(2027, 1, 1);
    let key = KeyPair::generate().unwrap();
    Pair { certificate: params.self_signed(&key).unwrap().pem(), key: key.serialize_pem() }
}

pub struct Folder {
    folder: TempDir,
}

impl Folder {
    pub fn with(pair: &Pair) -> Self {
        let folder = Self { folder: tempfile::tempdir().unwrap() };
        folder.write("cert.pem", &pair.certificate);
        folder.write("key.pem", &pair.key);
        folder
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    pub fn remove(&self, name: &str) {
        fs::remove_file(self.folder.path().join(name)).unwrap();
    }

    pub fn files(&self) -> PairFiles {
        let path = |name: &str| self.folder.path().join(name);
        PairFiles { certificate: path("cert.pem"), key: path("key.pem") }
    }
}

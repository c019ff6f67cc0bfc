//! Checks of this machine and of the settings.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use model::{Clock, SystemClock};
use rustix::fs::Access;
use settings::{Settings, StorageBackend};

use super::report::Finding;
use super::within;
use crate::last_backup::{self, LastBackup};
use crate::{certificates, compose, descriptors, disk, sandbox};

/// Age from which on a backup is old.
const OLD_BACKUP: Duration = Duration::from_secs(7 * 24 * 60 * 60);

pub fn data_folder(settings: &Settings) -> Finding {
    let (check, folder) = ("data_folder", settings.data_dir.display());
    let hint = "`data_dir` must be a folder that the account of the server may write";
    let found = fs::metadata(&settings.data_dir);
    match &found {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Finding::fail(check, format!("`{folder}`: {error}"), hint);
        }
        Ok(metadata) if !metadata.is_dir() => return Finding::fail(check, format!("`{folder}` is not a folder"), hint),
        Ok(_) | Err(_) => {}
    }
    // The first start creates a missing folder in the nearest one that exists.
    let existing = disk::existing_ancestor(&settings.data_dir);
    if let Err(error) = rustix::fs::access(&existing, Access::WRITE_OK | Access::EXEC_OK) {
        return Finding::fail(check, format!("`{}` cannot be written: {error}", existing.display()), hint);
    }
    match found {
        Err(_) => Finding::pass(check, format!("`{folder}` is created at the first start")),
        Ok(metadata) if metadata.mode() & 0o077 != 0 => {
            let mode = metadata.mode() & 0o7777;
            let detail = format!("`{folder}` is open to other users (mode {mode:o})");
            Finding::warn(check, detail, "the next start of the server closes it")
        }
        Ok(_) => Finding::pass(check, format!("`{folder}`")),
    }
}

pub async fn sandbox(settings: &Settings) -> Finding {
    let (check, hint) = ("sandbox", "see \"Sandbox of extraction workers\" in docs/operations.md");
    let probe = async {
        let (_, report) = sandbox::probe(settings).await?;
        Ok(match sandbox::refusal(settings.extract.sandbox, &report) {
            Some(reason) => Finding::fail(check, reason, hint),
            None if report.is_confined() => Finding::pass(check, report.to_string()),
            None => Finding::warn(check, report.to_string(), hint),
        })
    };
    within(check, hint, probe).await
}

pub fn free_space(settings: &Settings) -> Finding {
    match disk::check(&settings.data_dir, settings.quotas.min_free_disk_bytes) {
        Ok(free) => Finding::pass("disk", free),
        Err(reason) => Finding::fail("disk", reason, "free space on the disk of `data_dir`, or lower the setting"),
    }
}

/// Compares the connections with the limit of file descriptors of this command, which a server of another user or a
/// service manager may not share.
pub fn connections(settings: &Settings) -> Finding {
    let (check, hint) =
        ("connections", "raise the limit of file descriptors: `ulimit -n`, or `LimitNOFILE=` of systemd");
    match descriptors::plan(settings, descriptors::limit()) {
        Ok(plan) if plan.lowered_by.is_none() => Finding::pass(check, plan.to_string()),
        Ok(plan) => Finding::warn(check, plan.to_string(), hint),
        Err(error) => Finding::fail(check, error.to_string(), hint),
    }
}

/// Reads the certificate of the settings, which a running server may not have taken over.
pub fn certificate(settings: &Settings) -> Finding {
    let (check, hint) = ("certificate", "renew the files; the server takes them over by itself");
    match certificates::load(settings) {
        Ok(None) => Finding::pass(check, "none: the listeners speak plain HTTP, behind a proxy"),
        Ok(Some(tls)) => match certificates::problem(&tls) {
            None => Finding::pass(check, format!("`{}` is valid", settings.server.tls_cert)),
            Some(problem) if certificates::is_unusable(&tls) => Finding::fail(check, problem, hint),
            Some(problem) => Finding::warn(check, problem, hint),
        },
        Err(error) => Finding::fail(check, format!("{error:#}"), "replace the files, and send SIGHUP to the server"),
    }
}

pub fn backup(settings: &Settings) -> Finding {
    let (check, hint) = ("backup", "schedule `retrieval-server backup DIR`, and copy the folder to another machine");
    match last_backup::read(settings) {
        LastBackup::OfDatabase => match settings.storage.backend {
            StorageBackend::S3 => {
                Finding::pass(check, "not checked: the database and the object store have backups of their own")
            }
            StorageBackend::Embedded => Finding::warn(
                check,
                format!(
                    "not checked: the tools of PostgreSQL do not copy `{}`",
                    compose::objects_dir(settings).display()
                ),
                "copy the objects after each dump: see \"Storage and backup\" in docs/operations.md",
            ),
        },
        LastBackup::NoData => Finding::pass(check, "there is nothing to back up yet"),
        LastBackup::None => Finding::warn(check, "no backup has been made", hint),
        LastBackup::At(at) => {
            let age = SystemClock.now().since(at);
            let detail = format!("the last backup is {} hours old", age.as_secs() / 3_600);
            if age > OLD_BACKUP { Finding::warn(check, detail, hint) } else { Finding::pass(check, detail) }
        }
    }
}

pub fn warnings(settings: &Settings) -> impl Iterator<Item = Finding> {
    let hint = "see docs/security.md";
    settings.warnings().into_iter().map(move |warning| Finding::warn("settings", warning, hint))
}

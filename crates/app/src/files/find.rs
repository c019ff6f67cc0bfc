use blobs::PresignGet;
use ingest::clock::to_date_time;
use ingest::objects;

use super::view::FileView;
use crate::error::Result;
use crate::{App, Error, Viewer};

/// A signed URL of a file's original.
#[derive(Clone, Debug)]
pub struct Download {
    pub url: String,
    pub expires_in_seconds: u64,
}

impl App {
    /// Returns one file of the viewer's organization.
    ///
    /// # Errors
    /// `FileNotFound` if none has this name.
    pub async fn find_file(&self, viewer: &Viewer, name: &str) -> Result<FileView> {
        let object_key = objects::key(viewer.organization_id, name);
        let file = self.store.find_file(viewer.organization_id, object_key).await?.ok_or(Error::FileNotFound)?;
        self.view(file).await?.ok_or(Error::FileNotFound)
    }

    /// Returns a URL that downloads the original of a file as an attachment.
    ///
    /// # Errors
    /// `FileNotFound` if no file has this name.
    pub async fn download_file(&self, viewer: &Viewer, name: &str) -> Result<Download> {
        let file = self.find_file(viewer, name).await?;
        let expires_in = self.options.presign_lifetime;
        let get = PresignGet {
            key: &objects::key(viewer.organization_id, &file.name),
            disposition: &file_types::attachment(&file.name),
            content_type: file_types::download_type(&file.name),
            expires_in,
        };
        let url = self.blobs.presign_get(&get, to_date_time(self.clock.now()))?;
        Ok(Download { url, expires_in_seconds: expires_in.as_secs() })
    }
}

use model::RunMode;

use super::{PresignRequest, Registered, Stored};
use crate::error::Result;
use crate::{App, Error, Viewer};

impl App {
    /// Stores a small file and queues an indexing run. It replaces a file of the same name.
    ///
    /// # Errors
    /// Those of [`App::presign_file`] and [`App::start_run`].
    pub async fn store_file(&self, viewer: &Viewer, filename: String, content: Vec<u8>) -> Result<Stored> {
        // Before anything is stored, since without an index nothing would find the file.
        if self.engine.is_none() {
            return Err(Error::NoRetrieval);
        }
        let request = PresignRequest { filename, size: content.len() as u64, content_type: None, labels: None };
        let Registered { name, object_key, replaces, .. } = self.register_name(viewer, request).await?;
        self.blobs.put(&object_key, content.into()).await?;
        let run = self.start_run(viewer, RunMode::Incremental).await?;
        Ok(Stored { name, run, replaces })
    }
}

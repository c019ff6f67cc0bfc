use std::sync::Arc;

use app::files::{FileView, PresignRequest, RunView};
use app::{Error, Viewer};
use blobs::BlobStore;
use docstore::{File, StorageQuotas};
use ingest::objects;
use model::{Clock, RunMode, SyncId};
use tokio_util::sync::CancellationToken;

use crate::{Tenant, TestApp, runtime, until};

impl TestApp {
    /// Uploads a file through a presigned URL. No run reads it yet.
    pub async fn upload(&self, tenant: &Tenant, filename: &str, body: &str) -> String {
        let request =
            PresignRequest { filename: filename.to_owned(), size: body.len() as u64, content_type: None, labels: None };
        let name = self.app.presign_file(&tenant.viewer, request).await.unwrap().name;
        self.put_object(tenant, &name, body).await;
        name
    }

    /// Stores a file under exactly this name, also one that presigning refuses or sanitizes.
    pub async fn plant_file(&self, tenant: &Tenant, name: &str, body: &str) {
        let organization_id = tenant.organization_id;
        let url = retrieval_core::url::workspace_url(organization_id, name);
        let file = File::registered(
            objects::key(organization_id, name),
            organization_id,
            name.to_owned(),
            retrieval_core::url::document_id(&url),
            self.clock.now(),
        );
        self.store.register_file(file, StorageQuotas::NONE).await.unwrap();
        self.put_object(tenant, name, body).await;
    }

    /// Returns all files, sorted by name.
    ///
    /// # Errors
    /// Those of [`App::list_files_part`](app::App::list_files_part).
    pub async fn list_files(&self, viewer: &Viewer) -> Result<Vec<FileView>, Error> {
        let (mut files, mut after) = (Vec::new(), None);
        loop {
            let part = self.app.list_files_part(viewer, after).await?;
            files.extend(part.files);
            if part.next.is_none() {
                break;
            }
            after = part.next;
        }
        files.sort_by(|one: &FileView, other| one.name.cmp(&other.name));
        Ok(files)
    }

    /// Stores the object of a file, as an upload through its URL does.
    pub async fn put_object(&self, tenant: &Tenant, name: &str, body: &str) {
        self.blobs.inner.put(&objects::key(tenant.organization_id, name), body.to_owned().into()).await.unwrap();
    }

    /// Removes the object of a file behind the back of the application.
    pub async fn lose_object(&self, tenant: &Tenant, name: &str) {
        self.blobs.inner.delete(&objects::key(tenant.organization_id, name)).await.unwrap();
    }

    /// Starts a run and works on it to its end.
    pub async fn index_files(&self, tenant: &Tenant, mode: RunMode) -> RunView {
        let run = self.app.start_run(&tenant.viewer, mode).await.unwrap();
        self.finish_run(tenant, run.sync_id).await
    }

    /// Works on queued runs until this one has ended. Its documents can then be found.
    pub async fn finish_run(&self, tenant: &Tenant, sync_id: SyncId) -> RunView {
        let stop = CancellationToken::new();
        let (feeder, stop_feeder) = (Arc::clone(&self.feeder), stop.clone());
        let feeding = runtime().spawn(async move { feeder.work(stop_feeder).await });
        let working = runtime().spawn(Arc::clone(&self.runner).work(stop.clone()));
        let sync_id = sync_id.to_string();
        let run = until("the end of the run", async || {
            let run = self.app.run_status(&tenant.viewer, &sync_id).await.unwrap();
            run.state.is_terminal().then_some(run)
        })
        .await;
        stop.cancel();
        feeding.await.unwrap();
        working.await.unwrap();
        run
    }
}

use std::collections::HashMap;

use docstore::File;
use futures_util::{StreamExt, TryStreamExt};
use ingest::objects;

use super::view::FileView;
use crate::cursor::{self, List};
use crate::error::Result;
use crate::{App, Viewer};

/// Rows read at a time for the whole list.
const ROWS: i64 = 5_000;
/// Concurrent requests to storage.
const CONCURRENT: usize = 16;

/// Place and size of a page.
#[derive(Clone, Debug)]
pub struct PageRequest {
    /// `next_cursor` of the previous page; `None` for the first one.
    pub cursor: Option<String>,
    /// Maximum number of entries, at least 1.
    pub limit: usize,
}

#[derive(Clone, Debug)]
pub struct FilesPage {
    /// May be fewer than the limit, even none, before the last page: names whose upload never came take part in the paging.
    pub files: Vec<FileView>,
    /// `None` on the last page.
    pub next_cursor: Option<String>,
}

impl PageRequest {
    /// Returns the number of rows to read: one more than the page has, to tell the last page.
    pub(super) fn rows(&self) -> i64 {
        i64::try_from(self.limit).unwrap_or(i64::MAX - 1) + 1
    }

    pub(super) fn after(&self, list: List) -> Result<Option<String>> {
        self.cursor.as_deref().map(|cursor| cursor::decode(list, cursor)).transpose()
    }

    /// Cuts the rows to the page and returns the cursor of the next one.
    pub(super) fn cut<T>(&self, list: List, rows: &mut Vec<T>, name: impl Fn(&T) -> &str) -> Option<String> {
        let has_more = rows.len() > self.limit;
        rows.truncate(self.limit);
        rows.last().filter(|_| has_more).map(|last| cursor::encode(list, name(last)))
    }
}

impl App {
    /// Returns the files in storage, sorted by name.
    pub async fn list_files(&self, viewer: &Viewer) -> Result<Vec<FileView>> {
        let organization_id = viewer.organization_id;
        let mut known: HashMap<String, File> = HashMap::new();
        let mut after = None;
        loop {
            let page = self.store.list_files(organization_id, after.take(), ROWS).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.object_key.clone());
            known.extend(page.into_iter().map(|file| (file.object_key.clone(), file)));
        }
        let mut files = Vec::with_capacity(known.len());
        if known.is_empty() {
            return Ok(files);
        }
        let prefix = objects::prefix(organization_id);
        let mut next: Option<String> = None;
        loop {
            let page = self.blobs.list(&prefix, next.as_deref()).await?;
            files.extend(page.objects.into_iter().filter_map(|object| {
                let file = known.remove(&object.key)?;
                FileView::of(file, object)
            }));
            match page.next {
                Some(more) => next = Some(more),
                None => break,
            }
        }
        files.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(files)
    }

    /// Returns a page of the files in storage, in the order of [`list_files`](Self::list_files). Its cost depends on the limit only.
    ///
    /// # Errors
    /// `Invalid` for a cursor that is not of this list.
    pub async fn list_files_page(&self, viewer: &Viewer, page: PageRequest) -> Result<FilesPage> {
        let after = page.after(List::Files)?;
        let mut rows = self.store.list_files_by_name(viewer.organization_id, after, page.rows()).await?;
        let next_cursor = page.cut(List::Files, &mut rows, |file| &file.name);
        let viewing = futures_util::stream::iter(rows).map(|file| async move { self.view(file).await });
        let views: Vec<Option<FileView>> = viewing.buffered(CONCURRENT).try_collect().await?;
        Ok(FilesPage { files: views.into_iter().flatten().collect(), next_cursor })
    }

    /// Returns a file with its object; `None` if there is no object.
    pub(super) async fn view(&self, file: File) -> Result<Option<FileView>> {
        let object = self.blobs.head(&file.object_key).await?;
        Ok(object.and_then(|object| FileView::of(file, object)))
    }
}

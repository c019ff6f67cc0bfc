use docstore::File;
use futures_util::{StreamExt, TryStreamExt};
use ingest::objects;

use super::view::FileView;
use crate::cursor::{self, List};
use crate::error::Result;
use crate::{App, Viewer};

/// Maximum number of files of a part of the whole list.
const PART: i64 = 1_000;
/// Concurrent requests to storage.
const CONCURRENT: usize = 16;
/// Most reads for a page, which goes on while it has no file.
const MAX_READS: usize = 10;
/// Names after which a page without files does not go on: as many as the largest page has.
const MAX_NAMES: usize = 1_000;

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
    /// May be fewer than the limit before the last page: names whose upload never came take part in the paging. None only after many
    /// such names, or on the last page.
    pub files: Vec<FileView>,
    /// `None` on the last page.
    pub next_cursor: Option<String>,
}

/// Files in the order of their keys, which is not that of names.
#[derive(Clone, Debug, Default)]
pub struct FilesPart {
    pub files: Vec<FileView>,
    /// Key after which the next part begins; `None` for the last one.
    pub next: Option<String>,
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
    /// Returns a part of the files in storage, whose keys follow `after`. All parts are the whole list: cheaper than its pages, but
    /// not in the order of names.
    pub async fn list_files_part(&self, viewer: &Viewer, after: Option<String>) -> Result<FilesPart> {
        let organization_id = viewer.organization_id;
        let rows = self.store.list_files(organization_id, after.clone(), PART).await?;
        let Some(last) = rows.last().map(|file| file.object_key.clone()) else { return Ok(FilesPart::default()) };
        let is_full = i64::try_from(rows.len()).is_ok_and(|count| count == PART);
        let mut objects = objects::list(&*self.blobs, organization_id, after, Some(&last)).await?;
        let views = rows.into_iter().filter_map(|file| {
            let object = objects.remove(&file.object_key)?;
            FileView::of(file, object)
        });
        Ok(FilesPart { files: views.collect(), next: is_full.then_some(last) })
    }

    /// Returns a page of the files in storage, in the order of their names. Its cost depends on the limit only.
    ///
    /// # Errors
    /// `Invalid` for a cursor that is not of this list.
    pub async fn list_files_page(&self, viewer: &Viewer, mut page: PageRequest) -> Result<FilesPage> {
        let reads = (MAX_NAMES / page.limit.max(1)).clamp(1, MAX_READS);
        for _ in 1..reads {
            let read = self.read_files_page(viewer, &page).await?;
            if !read.files.is_empty() || read.next_cursor.is_none() {
                return Ok(read);
            }
            page.cursor = read.next_cursor;
        }
        self.read_files_page(viewer, &page).await
    }

    /// Returns the files among the next names, at most as many as the page has.
    async fn read_files_page(&self, viewer: &Viewer, page: &PageRequest) -> Result<FilesPage> {
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

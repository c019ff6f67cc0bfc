use app::web::{self, WebPage};
use model::{Clock, DocId};

use crate::TestApp;

/// A page of the shared web index.
pub fn page(url: &str, markdown: &str) -> WebPage {
    WebPage { url: url.to_owned(), markdown: markdown.to_owned(), ..WebPage::default() }
}

impl TestApp {
    /// Imports pages and returns their ids, in order, once they can be found.
    pub async fn import(&self, pages: impl IntoIterator<Item = WebPage>) -> Vec<DocId> {
        let now = self.clock.now();
        let prepared: Vec<_> = pages.into_iter().map(|page| web::prepare_page(page, now).unwrap()).collect();
        let doc_ids = prepared.iter().map(|new| new.document.doc_id).collect();
        web::save_pages(&self.store, prepared, now).await.unwrap();
        self.feeder.drain_all().await.unwrap();
        doc_ids
    }

    pub async fn import_one(&self, page: WebPage) -> DocId {
        self.import([page]).await[0]
    }
}

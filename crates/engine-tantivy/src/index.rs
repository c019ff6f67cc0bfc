//! Single tantivy index with its reader, and with a writer while it is being changed.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use engine::{
    Change, EngineError, EngineErrorKind, FirstStageRequest, FirstStageResponse, IndexDocument, SemanticRequest,
};
use retrieval_core::analysis::Analyzers;
use tantivy::directory::MmapDirectory;
use tantivy::index::{IndexSettings, SegmentId};
use tantivy::indexer::IndexWriterOptions;
use tantivy::merge_policy::LogMergePolicy;
use tantivy::store::Compressor;
use tantivy::{Index, IndexReader, IndexWriter, ReloadPolicy, Searcher, SegmentReader, TantivyError};
use tokio::sync::OwnedMutexGuard;

use crate::TantivyOptions;
use crate::document::to_fields;
use crate::error::{from_directory, from_io, from_opening, from_tantivy};
use crate::line_tokenizer::{LineTokenizer, TOKENIZER};
use crate::schema::Fields;
use crate::search::{self, Caches, MAX_POSTINGS};
use crate::semantic::{self, ColumnCache, Searched, SemanticSearch, SketchCache, Sketches, Threads};

pub struct EngineIndex {
    fields: Fields,
    index: Index,
    reader: IndexReader,
    caches: Caches,
    columns: ColumnCache,
    sketches: SketchCache,
    writer: Mutex<OpenWriter>,
    options: TantivyOptions,
}

#[derive(Default)]
struct OpenWriter {
    writer: Option<IndexWriter>,
    last_used: Option<Instant>,
}

/// Minimum batch size for parallel analysis. For smaller batches a second thread costs more than it saves.
const PARALLEL_DOCUMENTS: usize = 64;

/// Minimum memory budget per thread that tantivy accepts.
const MIN_THREAD_MEMORY: usize = 15_000_000;

impl EngineIndex {
    /// Opens or creates the index in a directory.
    ///
    /// # Errors
    ///
    /// `Corrupt` if an existing index is damaged; `Unavailable` if it cannot be opened, and may be intact.
    pub fn open(path: &Path, options: TantivyOptions) -> Result<Self, EngineError> {
        std::fs::create_dir_all(path).map_err(|error| match path.is_file() {
            true => EngineError::new(EngineErrorKind::Corrupt, "the index directory is a file").with_source(error),
            false => from_io("cannot create the index directory")(error),
        })?;
        let fields = Fields::new();
        let directory = MmapDirectory::open(path).map_err(from_directory)?;
        let settings = IndexSettings {
            // No text is stored, so there is nothing to compress.
            docstore_compression: Compressor::None,
            docstore_compress_dedicated_thread: false,
            ..IndexSettings::default()
        };
        let builder = Index::builder().schema(fields.schema.clone()).settings(settings);
        let index = builder.open_or_create(directory).map_err(from_opening)?;
        index.tokenizers().register(TOKENIZER, LineTokenizer::default());
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into().map_err(from_opening)?;
        Ok(Self {
            fields,
            index,
            reader,
            caches: Caches::default(),
            columns: ColumnCache::default(),
            sketches: SketchCache::default(),
            writer: Mutex::default(),
            options,
        })
    }

    pub fn first_stage(&self, request: &FirstStageRequest) -> Result<FirstStageResponse, EngineError> {
        self.first_stage_within(request, MAX_POSTINGS)
    }

    /// Searches the index. A search of the web that has more than `max_postings` skips documents.
    fn first_stage_within(
        &self,
        request: &FirstStageRequest,
        max_postings: u64,
    ) -> Result<FirstStageResponse, EngineError> {
        let searcher = self.reader.searcher();
        search::first_stage(request, &searcher, &self.fields, &self.caches, max_postings).map_err(from_tantivy)
    }

    /// Searches vectors, unless sketches have to be built first.
    pub fn semantic(&self, request: &SemanticRequest, threads: &Threads) -> Result<Searched, EngineError> {
        let searcher = self.reader.searcher();
        semantic::semantic(
            request,
            &searcher,
            &self.fields,
            &self.caches.countries,
            &self.columns,
            &self.sketches,
            threads,
        )
        .map_err(from_tantivy)
    }

    /// Waits for the turn to build sketches.
    pub async fn turn_to_build(&self) -> OwnedMutexGuard<()> {
        self.sketches.turn().await
    }

    /// Builds the sketches that a search lacks, in its turn, with half of the threads: other searches go on meanwhile.
    pub fn build_sketches(&self, search: &SemanticSearch) -> Result<Vec<Arc<Sketches>>, EngineError> {
        search.build_sketches(&self.sketches, self.options.threads.div_ceil(2)).map_err(from_tantivy)
    }

    pub fn document_count(&self) -> u64 {
        self.reader.searcher().num_docs()
    }

    pub fn apply(&self, changes: &[Change]) -> Result<(), EngineError> {
        // Only the last change of a document has an effect.
        let mut last: HashMap<_, _> = HashMap::new();
        for (at, change) in changes.iter().enumerate() {
            last.insert(change.doc_id(), at);
        }
        if last.is_empty() {
            return Ok(());
        }
        let mut open = self.lock();
        if open.writer.is_none() {
            // An error after the last commit, which closed the writer, may have kept that commit invisible.
            self.reload().map_err(from_tantivy)?;
        }
        let searcher = self.reader.searcher();
        self.write(&mut open, |writer| {
            let mut documents = Vec::new();
            for (at, change) in changes.iter().enumerate() {
                if last.get(&change.doc_id()) != Some(&at) {
                    continue;
                }
                self.delete_existing(writer, &searcher, change)?;
                if let Change::Put(document) = change {
                    documents.push(&**document);
                }
            }
            self.add(writer, &documents)
        })
    }

    /// Removes all documents, also from a damaged index.
    pub fn clear(&self) -> Result<(), EngineError> {
        let mut open = self.lock();
        match self.write(&mut open, |writer| writer.delete_all_documents().map(drop)) {
            // No writer opens without the list of segments.
            Err(error) if error.kind == EngineErrorKind::Corrupt => self.recreate().map_err(from_tantivy),
            cleared => cleared,
        }
    }

    /// Replaces the list of segments by an empty one. The next writer removes their files.
    fn recreate(&self) -> tantivy::Result<()> {
        Index::create(self.index.directory().clone(), self.index.schema(), self.index.settings().clone())?;
        self.reload()
    }

    /// Closes the writer if its merges are done and it has not been used since `before`. Its buffers would be most of the memory of an
    /// idle server. Returns true if a writer remains open.
    pub fn close_writer(&self, before: Instant) -> Result<bool, EngineError> {
        let mut open = self.lock();
        if open.last_used.is_some_and(|last_used| last_used > before) {
            return Ok(open.writer.is_some());
        }
        // Closing waits for merges, and changes would wait for that.
        if open.writer.as_ref().is_some_and(|writer| self.is_merging(writer)) {
            return Ok(true);
        }
        if let Some(writer) = open.writer.take() {
            writer.wait_merging_threads().map_err(from_tantivy)?;
            self.reload().map_err(from_tantivy)?;
        }
        Ok(false)
    }

    /// Returns true if there are segments to be merged. The writer starts each merge at once, and the segments stay in the list until it
    /// is done. One that failed counts until the next commit, which starts it again.
    fn is_merging(&self, writer: &IndexWriter) -> bool {
        let segments = self.index.searchable_segment_metas();
        segments.is_ok_and(|segments| !writer.get_merge_policy().compute_merge_candidates(&segments).is_empty())
    }

    /// Applies the changes, commits, and makes them visible. An error closes the writer, and the changes are rolled back unless they
    /// were committed before it.
    fn write(
        &self,
        open: &mut OpenWriter,
        changes: impl FnOnce(&mut IndexWriter) -> tantivy::Result<()>,
    ) -> Result<(), EngineError> {
        let mut writer = match open.writer.take() {
            Some(writer) => writer,
            None => self.new_writer().map_err(from_tantivy)?,
        };
        // On an error the writer is dropped here, which discards uncommitted changes.
        changes(&mut writer).map_err(|error| cause_in_worker(&mut writer, error)).map_err(from_tantivy)?;
        writer.commit().map_err(from_tantivy)?;
        self.reload().map_err(from_tantivy)?;
        open.writer = Some(writer);
        open.last_used = Some(Instant::now());
        Ok(())
    }

    /// Makes the committed changes visible.
    fn reload(&self) -> tantivy::Result<()> {
        self.sketches.prepare(&self.index)?;
        self.reader.reload()?;
        let searcher = self.reader.searcher();
        let current: HashSet<SegmentId> = searcher.segment_readers().iter().map(SegmentReader::segment_id).collect();
        self.columns.retain(&current);
        self.sketches.retain(&current);
        Ok(())
    }

    fn new_writer(&self) -> tantivy::Result<IndexWriter> {
        let threads = self.options.threads.max(1);
        let options = IndexWriterOptions::builder()
            .num_worker_threads(threads)
            .memory_budget_per_thread((self.options.writer_memory / threads).max(MIN_THREAD_MEMORY))
            .num_merge_threads(1)
            .build();
        let writer = self.index.writer_with_options(options)?;
        // Files of a commit that was cut off, by a killed process or a full disk: the next commit would write files of the same names,
        // and fail again and again.
        writer.garbage_collect_files().wait()?;
        let mut policy = LogMergePolicy::default();
        // Most commits are small (one uploaded file, one fetched page). Each segment costs a lookup per term, so small
        // segments are merged early.
        policy.set_min_num_segments(4);
        policy.set_min_layer_size(1_000);
        // Replaced documents waste space and distort document frequencies.
        policy.set_del_docs_ratio_before_merge(0.25);
        writer.set_merge_policy(Box::new(policy));
        Ok(writer)
    }

    /// Deletes the previous version of the document, if the index contains it.
    ///
    /// A delete of a missing document would still be applied to every segment, and an import has only new documents. The searcher
    /// sees all commits.
    fn delete_existing(&self, writer: &IndexWriter, searcher: &Searcher, change: &Change) -> tantivy::Result<()> {
        let term = self.fields.id_term(change.doc_id());
        for reader in searcher.segment_readers() {
            if reader.inverted_index(self.fields.id)?.get_term_info(&term)?.is_some() {
                writer.delete_term(term);
                break;
            }
        }
        Ok(())
    }

    /// Adds documents. Analysis costs about as much as indexing, so it is spread over several threads.
    fn add(&self, writer: &IndexWriter, documents: &[&IndexDocument]) -> tantivy::Result<()> {
        let next = AtomicUsize::new(0);
        let work = || {
            let mut analyzers = Analyzers::default();
            while let Some(document) = documents.get(next.fetch_add(1, Ordering::Relaxed)) {
                writer.add_document(to_fields(document, &self.fields, &mut analyzers))?;
            }
            Ok(())
        };
        if documents.len() < PARALLEL_DOCUMENTS || self.options.threads < 2 {
            return work();
        }
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..self.options.threads).map(|_| scope.spawn(work)).collect();
            let mut result = work();
            for other in others {
                let other_result = other
                    .join()
                    .unwrap_or_else(|_| Err(TantivyError::ErrorInThread("analysis of a document panicked".to_owned())));
                result = result.and(other_result);
            }
            result
        })
    }

    fn lock(&self) -> MutexGuard<'_, OpenWriter> {
        // Poisoning is harmless: `write` takes the writer out while it works, so after a panic there is none.
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the error that ended an indexing thread. Adding a document reports every such end as `ErrorInThread`, be it a
/// panic or a full disk; joining the threads tells them apart.
fn cause_in_worker(writer: &mut IndexWriter, error: TantivyError) -> TantivyError {
    match error {
        TantivyError::ErrorInThread(_) => writer.prepare_commit().err().unwrap_or(error),
        error => error,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use engine::Filters;
    use model::{Collection, DocId};
    use tantivy::merge_policy::NoMergePolicy;
    use uuid::Uuid;

    use super::*;

    fn put(number: u128) -> Change {
        Change::Put(Box::new(IndexDocument::new(DocId(Uuid::from_u128(number)), Collection::Web)))
    }

    /// Returns an index whose segments are not merged while its writer is open.
    fn unmerged(folder: &Path) -> EngineIndex {
        let index = EngineIndex::open(folder, TantivyOptions::default()).expect("a new index");
        let writer = index.new_writer().expect("a writer");
        writer.set_merge_policy(Box::new(NoMergePolicy));
        index.lock().writer = Some(writer);
        index
    }

    #[test]
    fn writer_stays_open_until_segments_are_merged() {
        let folder = tempfile::tempdir().expect("a folder");
        let index = unmerged(folder.path());
        for number in 0..8 {
            index.apply(&[put(number)]).expect("a change");
        }
        // With the usual policy, as if these segments were being merged.
        index.lock().writer = None;
        index.lock().writer = Some(index.new_writer().expect("a writer"));
        assert!(index.close_writer(Instant::now()).expect("no failure"));
        // This change starts the merge.
        index.apply(&[put(8)]).expect("a change");
        let deadline = Instant::now() + Duration::from_secs(20);
        while index.close_writer(Instant::now()).expect("no failure") {
            assert!(Instant::now() < deadline, "the writer stays open");
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(index.index.searchable_segment_ids().expect("segments").len() < 8);
        assert_eq!(index.document_count(), 9);
    }

    /// Returns pseudo-random numbers below a limit.
    fn numbers(mut state: u64) -> impl FnMut(u64) -> u64 {
        move |limit| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % limit
        }
    }

    /// Returns a word, common ones most often. Languages have different stems of many of them.
    fn word(next: &mut impl FnMut(u64) -> u64) -> String {
        let number = next(300).min(next(300)).min(next(300));
        let letters = number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'b')).collect::<String>();
        format!("ka{letters}{}", ["", "ungen", "ings", "en"][usize::try_from(number % 4).expect("small")])
    }

    #[test]
    fn best_documents_are_the_same_if_others_are_skipped() {
        let folder = tempfile::tempdir().expect("a folder");
        let index = unmerged(folder.path());
        let mut next = numbers(7);
        let mut document = |number: u128| {
            let words: Vec<String> = (0..3 + next(12)).map(|_| word(&mut next)).collect();
            Change::Put(Box::new(IndexDocument {
                body: words.join(" "),
                language: [Some("en"), Some("de"), None][usize::try_from(number % 3).expect("small")]
                    .map(str::to_owned),
                ..IndexDocument::new(DocId(Uuid::from_u128(number)), Collection::Web)
            }))
        };
        // Several windows of one segment, and several segments.
        for numbers in [0..40_000, 40_000..40_300, 40_300..45_000] {
            index.apply(&numbers.map(&mut document).collect::<Vec<_>>()).expect("changes");
        }
        let removed = (0..45_000).step_by(7).map(|number| Change::Remove { doc_id: DocId(Uuid::from_u128(number)) });
        index.apply(&removed.collect::<Vec<_>>()).expect("changes");

        let mut next = numbers(8);
        for query in 0..200 {
            let mut text = || (0..1 + next(7)).map(|_| word(&mut next)).collect::<Vec<_>>().join(" ");
            let texts: Vec<String> = (0..[1, 1, 1, 3][query / 4 % 4]).map(|_| text()).collect();
            let request = FirstStageRequest {
                collection: Collection::Web,
                texts,
                exact_phrase: false,
                rerank_text: None,
                filters: Filters::default(),
                limit: [1, 10, 40, 1_000][query % 4],
            };
            let all = index.first_stage_within(&request, u64::MAX).expect("a search");
            let best = index.first_stage_within(&request, 0).expect("a search");
            assert_eq!(best.hits, all.hits, "{request:?}");
            assert_eq!(best.statistics, all.statistics, "{request:?}");
            let (estimated, counted) = (best.total as f64, all.total as f64);
            assert!(estimated >= counted / 1.5 && estimated <= counted * 1.5, "{estimated} of {counted}: {request:?}");
        }
    }
}

use crate::{
    ExtractError, ExtractErrorKind, ExtractRequest, Extracted, FileKind, delimited, family, html, odf, office, pdf,
    plain_text, rtf,
};

/// Stack size in bytes of the reader thread: readers recurse with the nesting of a document.
const STACK_BYTES: usize = 64 << 20;

/// Reads one document in this process, on its own thread with a large stack.
///
/// Memory and time are bounded only by the readers' own limits. Use the processes of `extract-worker` for
/// untrusted documents.
///
/// # Errors
/// Returns the cause as an [`ExtractErrorKind`]; a reader that panics gives [`ExtractErrorKind::Crashed`].
pub fn extract(request: &ExtractRequest, bytes: &[u8]) -> Result<Extracted, ExtractError> {
    std::thread::scope(|scope| {
        let reader = std::thread::Builder::new()
            .name("extract".into())
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, || read(request, bytes))
            .map_err(|error| {
                ExtractError::new(ExtractErrorKind::OutOfMemory, format!("cannot start a thread: {error}"))
            })?;
        reader.join().unwrap_or_else(|panic| {
            let said = panic
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned())
                .or_else(|| panic.downcast_ref::<String>().cloned())
                .unwrap_or_default();
            Err(ExtractError::new(ExtractErrorKind::Crashed, format!("the reader panicked: {said}")))
        })
    })
}

fn read(request: &ExtractRequest, bytes: &[u8]) -> Result<Extracted, ExtractError> {
    let kind = family::actual_kind(request.kind, bytes)?;
    let request = &ExtractRequest { kind, ..request.clone() };
    match kind {
        FileKind::Txt => plain_text::read_text(request, bytes),
        FileKind::Md => plain_text::read_markdown(request, bytes),
        FileKind::Csv | FileKind::Tsv => delimited::read(request, bytes),
        FileKind::Html => html::read(request, bytes),
        FileKind::Pdf => pdf::read(request, bytes),
        FileKind::Docx | FileKind::Pptx | FileKind::Xlsx | FileKind::Doc | FileKind::Ppt | FileKind::Xls => {
            office::read(request, bytes)
        }
        FileKind::Rtf => rtf::read(request, bytes),
        FileKind::Odt | FileKind::Odp | FileKind::Ods => odf::read(request, bytes),
    }
}

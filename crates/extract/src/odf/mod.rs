//! Reader for OpenDocument text documents, presentations and spreadsheets (OASIS ODF 1.3): a zip archive with one XML
//! part and few elements.

mod content;
mod formulas;
mod hidden;
mod lists;
mod meta;
mod numbering;
mod outline;
mod package;
mod paragraph;
mod styles;
mod tables;
mod value;

use self::content::Content;
use self::formulas::Formulas;
use self::package::Package;
use self::styles::Styles;
use crate::{ExtractError, ExtractRequest, Extracted, FileKind, blocks, language, names, tidy};

/// Reads one document.
pub(crate) fn read(request: &ExtractRequest, bytes: &[u8]) -> Result<Extracted, ExtractError> {
    let mut package = Package::open(request.kind, bytes)?;
    let content =
        package.part("content.xml")?.ok_or_else(|| ExtractError::corrupt("the archive has no `content.xml`"))?;
    let meta = package.part("meta.xml").ok().flatten().map(|part| meta::read(&part)).unwrap_or_default();
    let mut styles = Styles::default();
    if let Some(part) = package.part("styles.xml").ok().flatten() {
        styles.add(&part);
    }
    styles.add(&content);
    let blocks = Content::read(&content, &styles, Formulas::new(package), request.kind == FileKind::Ods)?;
    let markdown = tidy::markdown(&blocks::write(&blocks));
    Ok(Extracted {
        title: meta.title.or_else(|| names::title_of(&request.name)),
        author: meta.author,
        description: meta.description,
        language: language::detect(&markdown).or(meta.language),
        published_at: meta.published_at,
        markdown,
        ..Extracted::default()
    })
}

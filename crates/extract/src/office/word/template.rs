//! Properties that a program copies from its template into each document.

use office_oxide::ir::Metadata;

/// Author and time of the template of python-docx.
const AUTHOR: &str = "python-docx";
const TIME: &str = "2013-12-23T23:15:00Z";

/// Removes the author and the times of a template, which are not those of the document.
pub(super) fn remove_properties(metadata: &mut Metadata) {
    let is_of_template = |time: &Option<String>| time.as_deref() == Some(TIME);
    if metadata.author.as_deref() != Some(AUTHOR) || !is_of_template(&metadata.created) {
        return;
    }
    metadata.author = None;
    metadata.created = None;
    metadata.modified.take_if(|time| time == TIME);
}

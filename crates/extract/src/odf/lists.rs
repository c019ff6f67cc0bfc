//! Open lists and the numbers of their items (ODF 1.3 part 3, 5.3).

use std::collections::HashMap;

use quick_xml::events::BytesStart;

use super::numbering;
use super::styles::{Level, Styles};
use crate::xml;

/// Largest number of an item in markdown (CommonMark 0.31, 5.2).
const MAX_NUMBER: u32 = 999_999_999;

/// Maximum number of levels that one item shows; list styles have ten.
const MAX_SHOWN: u8 = 10;

/// Place of a paragraph in a list.
#[derive(Debug, PartialEq)]
pub(super) enum Label {
    /// Outside of lists.
    None,
    /// Another paragraph of an item.
    Continued,
    /// Header of a list, which has neither number nor bullet.
    Header,
    Bullet,
    Number(u32),
    /// A number that Markdown has no marker for, such as `IV.`, `(a)` or `1.1`.
    Text(String),
}

/// Part of a list whose first paragraph is yet to come.
#[derive(Clone, Copy)]
enum Fresh {
    Item,
    Header,
}

struct List {
    style: String,
    /// Level inside of the innermost table; 0 is the outermost.
    level: u8,
    is_continued: bool,
    /// Index of its counter.
    counter: usize,
    /// Number of the last item.
    last: Option<u32>,
    fresh: Option<Fresh>,
    /// Number of open tables around the list.
    tables: usize,
}

/// List whose numbers another one can continue.
struct Last {
    counter: usize,
    /// Next number of the list around it.
    outer: Option<u32>,
}

#[derive(Default)]
pub(super) struct Lists {
    open: Vec<List>,
    /// Next numbers. A list shares the counter of the one that it continues.
    counters: Vec<u32>,
    /// Last list by style and level.
    by_style: HashMap<(String, u8), Last>,
    /// Counters of the lists with an identifier.
    by_id: HashMap<String, usize>,
}

impl Lists {
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Starts a list. `tables` is the number of open tables.
    pub(super) fn start(&mut self, element: &BytesStart, styles: &Styles, tables: usize) {
        let parent = self.open.last().filter(|list| list.tables == tables);
        let style = xml::attribute(element, "text:style-name");
        let style = style.or_else(|| parent.map(|list| list.style.clone())).unwrap_or_default();
        // In a continued list, an item without text stands for the one that was interrupted.
        let within = parent.is_some_and(|list| list.is_continued && list.last.is_none());
        let continues = within || xml::attribute(element, "text:continue-numbering").as_deref() == Some("true");
        let level = parent.map_or(0, |list| list.level.saturating_add(1));
        let mut known = xml::attribute(element, "text:continue-list").and_then(|id| self.by_id.get(&id).copied());
        if known.is_none() && continues {
            // A new item of the list around it has ended the one that was interrupted.
            let outer = parent.and_then(|list| self.counters.get(list.counter).copied());
            let last = self.by_style.get(&(style.clone(), level)).filter(|last| !within || last.outer == outer);
            known = last.map(|last| last.counter);
        }
        let counter = known.unwrap_or(self.counters.len());
        if known.is_none() {
            self.counters.push(styles.level(&style, level).map_or(1, |level| level.start));
        }
        if let Some(id) = xml::attribute(element, "xml:id") {
            self.by_id.insert(id, counter);
        }
        self.open.push(List { style, level, is_continued: known.is_some(), counter, last: None, fresh: None, tables });
    }

    pub(super) fn end(&mut self) {
        self.open.pop();
    }

    pub(super) fn start_item(&mut self, element: &BytesStart) {
        let Some(list) = self.open.last_mut() else { return };
        list.fresh = Some(Fresh::Item);
        let start = xml::attribute(element, "text:start-value").and_then(|value| value.parse().ok());
        if let (Some(start), Some(next)) = (start, self.counters.get_mut(list.counter)) {
            *next = start;
        }
    }

    pub(super) fn start_header(&mut self) {
        if let Some(list) = self.open.last_mut() {
            list.fresh = Some(Fresh::Header);
        }
    }

    /// Returns the level of the innermost list; 0 is the outermost.
    pub(super) fn level(&self) -> u8 {
        self.open.last().map_or(0, |list| list.level)
    }

    /// Returns the label of a paragraph inside of `tables` open tables, and counts it.
    pub(super) fn label(&mut self, styles: &Styles, tables: usize) -> Label {
        let level = self.level();
        let outer = self.open.iter().rev().nth(1).filter(|list| list.tables == tables);
        let outer = outer.and_then(|list| self.counters.get(list.counter).copied());
        let Some(list) = self.open.last_mut().filter(|list| list.tables == tables) else { return Label::None };
        match list.fresh.take() {
            None => return Label::Continued,
            Some(Fresh::Header) => return Label::Header,
            Some(Fresh::Item) => {}
        }
        let Some(form) = styles.level(&list.style, level) else { return Label::Bullet };
        let Some(next) = self.counters.get_mut(list.counter) else { return Label::Bullet };
        let number = *next;
        *next = number.saturating_add(1);
        list.last = Some(number);
        self.by_style.insert((list.style.clone(), level), Last { counter: list.counter, outer });
        if form.is_plain() && number <= MAX_NUMBER {
            return Label::Number(number);
        }
        Label::Text(self.numbers(form, styles, tables))
    }

    /// Returns the number of the last item with those of the outer levels that it shows.
    fn numbers(&self, form: &Level, styles: &Styles, tables: usize) -> String {
        let lists = self.open.iter().rev().take_while(|list| list.tables == tables);
        let shown = lists.take(usize::from(form.shown.clamp(1, MAX_SHOWN)));
        let written = shown.filter_map(|list| {
            let format = &styles.level(&list.style, list.level)?.format;
            let next = self.counters.get(list.counter).copied().unwrap_or(1);
            // A list that goes on behind a paragraph is inside of the item before the next.
            let current = if list.is_continued { next.saturating_sub(1) } else { next };
            let number = list.last.unwrap_or(current);
            Some(numbering::written(number, format))
        });
        let mut written: Vec<String> = written.collect();
        written.reverse();
        form.label(&written)
    }
}

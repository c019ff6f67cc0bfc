//! Clutter inside an article: lists of links, links to other articles, empty headings.

use std::collections::HashSet;

use dom_query::{NodeRef, Selection};

use super::ending;
use super::measure::{Measures, introduces, is_block, is_heading, is_wide};
use super::node_map::NodeSet;
use super::prompts::{self, Prompt};
use super::teasers;

const HEADINGS: &str = "h2, h3, h4, h5, h6";
/// Minimum number of linked headings in a list of teasers, and maximum running text per heading.
const MIN_LISTED: usize = 4;
const MAX_TEASER: f64 = 250.0;

/// Maximum share of the article's running text in a box of notes or links.
const MAX_BOX_SHARE: f64 = 0.25;
/// Maximum running text per link in a box of links.
const MAX_LISTED: f64 = 150.0;
/// Maximum running text of notes.
const MAX_NOTES: f64 = 800.0;
/// Share of the article's running text at its end where offers to the reader are.
const MAX_TAIL: f64 = 0.15;
/// Minimum running text of an article in which paragraphs of links are clutter.
const MIN_ARTICLE: f64 = 250.0;
/// Levels that a heading's box is searched.
const MAX_BOX_DEPTH: usize = 4;
/// Minimum link share of a block that follows the heading of a list of links.
const MIN_LISTED_LINKS: f64 = 0.3;
/// Minimum link share of a paragraph that leads to another article.
const MIN_LEADING_LINKS: f64 = 0.25;
/// Maximum weight of a paragraph that only leads away.
const MAX_PROMPT: f64 = 250.0;
/// Minimum number of entries in a table of contents.
const MIN_CONTENTS: usize = 3;
/// Maximum weight of a line with the date of an article, and of its words besides the date.
const MAX_DATE: f64 = 80.0;
const MAX_DATE_LABEL: f64 = 16.0;
/// Minimum number of words in a sentence that announces a list.
const MIN_ANNOUNCEMENT: usize = 4;
/// Minimum number of chapters before a heading that is one of them, and maximum number of blocks of a chapter
/// or before it that are examined.
const MIN_CHAPTERS: usize = 2;
const MAX_CHAPTER: usize = 128;
/// Number of empty elements between a list and its heading.
const MAX_EMPTY: usize = 3;

/// Removes clutter inside an article.
pub(super) fn remove(content: &NodeRef) {
    let measures = Measures::of(content);
    let all = measures.get(content).running;
    let listing = is_listing(content, &measures);
    let mut clutter = Clutter {
        content: *content,
        measures,
        all,
        listing,
        gone: NodeSet::default(),
        removed: Vec::new(),
        prompted: false,
    };
    if !clutter.listing {
        for list in teasers::find(content, &clutter.measures) {
            clutter.drop(list);
        }
    }
    clutter.collect(content, 0.0);
    let headings: Vec<NodeRef> = clutter.removed.iter().flat_map(|removed| clutter.headings_of(removed)).collect();
    for element in clutter.removed.iter().chain(&headings) {
        element.remove_from_parent();
    }
    ending::trim(content, &clutter.measures, !clutter.prompted);
}

struct Clutter<'a> {
    content: NodeRef<'a>,
    measures: Measures,
    /// Running text of the article.
    all: f64,
    /// Set if the content is a list of teasers.
    listing: bool,
    /// Set if the links below the article had a heading.
    prompted: bool,
    removed: Vec<NodeRef<'a>>,
    gone: NodeSet,
}

impl<'a> Clutter<'a> {
    /// `passed` is the running text before the element.
    fn collect(&mut self, element: &NodeRef<'a>, mut passed: f64) {
        for child in element.children_it(false).filter(NodeRef::is_element) {
            let before = passed;
            passed += self.measures.get(&child).running;
            if self.gone.contains(&child.id) {
                continue;
            }
            if self.leads_away(&child, before) || (before == 0.0 && !self.listing && self.is_date(&child)) {
                self.drop(child);
            } else if !self.listing && self.drop_prompted(&child, before) {
                // Removed with what belongs to it.
            } else {
                self.collect(&child, before);
            }
        }
    }

    fn drop(&mut self, element: NodeRef<'a>) {
        if self.gone.insert(element.id) {
            self.removed.push(element);
        }
    }

    /// Returns true for blocks that consist of links. `passed` is the running text before the element.
    fn leads_away(&self, element: &NodeRef, passed: f64) -> bool {
        let measure = self.measures.get(element);
        let name = element.node_name().unwrap_or_default();
        let links = measure.link_share();
        match &*name {
            "ul" | "ol" | "dl" => {
                measure.running == 0.0
                    && ((links > 0.7 && measure.anchors >= 2 && !self.is_announced(element, passed))
                        || self.is_table_of_contents(element))
            }
            "h2" | "h3" | "h4" | "h5" | "h6" => links > 0.6 && measure.running == 0.0 && !self.listing,
            "div" | "section" | "aside" | "figure" | "header" => {
                links > 0.6 && measure.running == 0.0 && !(self.listing && holds_heading(element))
            }
            "table" => links > 0.8 && measure.running == 0.0 && measure.anchors >= 4,
            // A paragraph of links only leads away from the text. In a list that was found to be content it is kept.
            "p" if element.parent().is_none_or(|parent| !parent.has_name("li")) => {
                (measure.running == 0.0
                    && self.all >= MIN_ARTICLE
                    && (links > 0.95 || (links > 0.8 && measure.anchors >= 2)))
                    || self.is_advertisement(element)
            }
            "form" => measure.running == 0.0,
            _ => false,
        }
    }

    /// Returns true for a line with a date and hardly anything else.
    fn is_date(&self, element: &NodeRef) -> bool {
        let text = self.measures.get(element).text;
        let block = element.node_name().is_some_and(|name| is_block(&name));
        if !block || text == 0.0 || text > MAX_DATE {
            return false;
        }
        let times = Selection::from(*element).select("time");
        let dated: f64 = times.nodes().iter().map(|time| self.measures.get(time).text).sum();
        let words = element.text();
        let sentence = words.trim_end().ends_with('.');
        times.exists() && text <= dated + MAX_DATE_LABEL && !sentence && has_year(&words)
    }

    /// Returns true for a list that the sentence before it announces, inside the article. At its end, such lists lead to
    /// other articles.
    fn is_announced(&self, list: &NodeRef, passed: f64) -> bool {
        if self.all - passed <= self.all * MAX_TAIL {
            return false;
        }
        self.before(list).is_some_and(|before| {
            let text = before.text();
            // A wide character is worth half a word.
            let words = text.split_whitespace().count().max(text.chars().filter(|c| is_wide(*c)).count() / 2);
            introduces(&before) && words >= MIN_ANNOUNCEMENT && prompts::prompt(&text).is_none()
        })
    }

    /// Returns true for a list of links to places on the same page.
    fn is_table_of_contents(&self, list: &NodeRef) -> bool {
        if self.measures.get(list).anchors > 0 {
            return false;
        }
        let entries = Selection::from(*list).select("a[href^='#']");
        let text: f64 = entries.nodes().iter().map(|entry| self.measures.get(entry).text).sum();
        entries.length() >= MIN_CONTENTS && text > self.measures.get(list).text * 0.8
    }

    /// Returns true for a short paragraph that offers a subscription or profiles in social networks.
    fn is_advertisement(&self, paragraph: &NodeRef) -> bool {
        let measure = self.measures.get(paragraph);
        if measure.anchors == 0 || measure.text > MAX_PROMPT {
            return false;
        }
        let links = Selection::from(*paragraph).select("a[href]");
        let addresses: Vec<_> = links.nodes().iter().filter_map(|link| link.attr("href")).collect();
        let networks: HashSet<&str> = addresses.iter().filter_map(|address| prompts::network(address)).collect();
        networks.len() >= 2 || addresses.iter().any(|address| prompts::is_subscription(address))
    }

    /// Removes a paragraph that leads to another article, or a heading with the links or notes below it.
    fn drop_prompted(&mut self, element: &NodeRef<'a>, passed: f64) -> bool {
        let measure = self.measures.get(element);
        if measure.text == 0.0 || measure.text > MAX_PROMPT {
            return false;
        }
        let inline = match element.node_name().as_deref() {
            Some("p" | "div" | "h2" | "h3" | "h4" | "h5" | "h6" | "blockquote" | "center") => false,
            Some("strong" | "b" | "span" | "em") => true,
            _ => return false,
        };
        let Some(mut prompt) = prompts::prompt(&element.text()) else { return false };
        let remaining = self.all - passed;
        let at_end = remaining <= self.all * MAX_TAIL;
        if prompt == Prompt::Topic {
            // Inside an article it is the title of a chapter, unless a list of links follows.
            let follows = element.next_element_sibling();
            if is_heading(element) && !at_end && !follows.is_some_and(|next| self.leads_away(&next, passed)) {
                return false;
            }
            prompt = Prompt::Links;
        }
        self.prompted |= prompt == Prompt::Links && at_end;
        let gone = match prompt {
            Prompt::Links | Prompt::Topic => None,
            // Notes follow the article.
            Prompt::Notes => {
                let inside = remaining > (self.all * MAX_BOX_SHARE).min(MAX_NOTES);
                (inside || is_chapter(element)).then_some(false)
            }
            Prompt::Label => Some(true),
            Prompt::Credit => Some(self.is_beside_image(element)),
            Prompt::Offer => Some(at_end && !self.is_step(element)),
        };
        if let Some(gone) = gone {
            let gone = gone && self.is_simple(element) && !holds_code(element);
            if gone {
                self.drop(*element);
            }
            return gone;
        }
        if measure.anchors > 0 && measure.link_share() >= MIN_LEADING_LINKS && !inline {
            self.drop(*element);
            return true;
        }
        if measure.text > prompts::MAX_HEADING {
            return false;
        }
        let heading = self.outermost_with_same_text(element);
        if let Some(around) = self.box_of(&heading, prompt) {
            self.drop(around);
            return true;
        }
        let section = self.section_of(&heading, prompt, passed);
        let nothing_follows = heading.next_element_sibling().is_none();
        if section.is_empty() && !nothing_follows {
            return false;
        }
        self.drop(heading);
        for part in section {
            self.drop(part);
        }
        true
    }

    /// Returns true for a paragraph or the like without blocks inside.
    fn is_simple(&self, element: &NodeRef) -> bool {
        ["p", "div", "center"].iter().any(|name| element.has_name(name))
            && !element.descendants_it().any(|inner| inner.node_name().is_some_and(|name| is_block(&name)))
    }

    /// Returns true for a text below or above an image, also in the small box of one.
    fn is_beside_image(&self, element: &NodeRef<'a>) -> bool {
        let label = self.outermost_with_same_text(element);
        let is_box = |around: &NodeRef| around.id != self.content.id && self.measures.get(around).text <= MAX_PROMPT;
        let around = std::iter::once(*element).chain(element.ancestors_it(Some(MAX_BOX_DEPTH)));
        let inside_label =
            around.take_while(|around| self.measures.get(around).text <= self.measures.get(element).text);
        label.parent().is_some_and(|parent| is_box(&parent) && holds_image(&parent))
            || inside_label.take_while(|around| around.id != self.content.id).any(|around| {
                let beside = [around.prev_element_sibling(), around.next_element_sibling()];
                beside.iter().flatten().any(holds_image)
            })
    }

    /// Returns true for an offer without a link or form that a heading of the text announces: a step of a guide.
    fn is_step(&self, element: &NodeRef) -> bool {
        let beside = [element.prev_element_sibling(), element.next_element_sibling()];
        let has_form = beside.iter().flatten().any(|beside| beside.has_name("form"));
        let is_headed =
            self.before(element).is_some_and(|before| is_heading(&before) && prompts::prompt(&before.text()).is_none());
        is_headed && !has_form && self.measures.get(element).anchors == 0
    }

    fn outermost_with_same_text(&self, element: &NodeRef<'a>) -> NodeRef<'a> {
        let text = self.measures.get(element).text;
        let around = element.ancestors_it(Some(MAX_BOX_DEPTH));
        let same = around.take_while(|around| around.id != self.content.id && self.measures.get(around).text <= text);
        same.last().unwrap_or(*element)
    }

    /// Returns the small element that begins with the heading and holds its links or notes.
    fn box_of(&self, heading: &NodeRef<'a>, prompt: Prompt) -> Option<NodeRef<'a>> {
        let mut found = None;
        let mut inner = *heading;
        for around in heading.ancestors_it(Some(MAX_BOX_DEPTH)) {
            let measure = self.measures.get(&around);
            let mut before = std::iter::successors(inner.prev_element_sibling(), NodeRef::prev_element_sibling);
            let begins = before.all(|before| self.measures.get(&before).text == 0.0);
            if around.id == self.content.id || !begins || measure.running > self.all * MAX_BOX_SHARE {
                break;
            }
            let belongs = match prompt {
                Prompt::Links => measure.anchors > 0 && measure.running <= measure.anchors as f64 * MAX_LISTED,
                _ => measure.running <= MAX_NOTES && !is_technical(heading, &around),
            };
            if belongs {
                found = Some(around);
            }
            inner = around;
        }
        found
    }

    /// Returns the blocks below a heading that belong to it. Behind the text of an article, further articles do, however
    /// long they are.
    fn section_of(&self, heading: &NodeRef<'a>, prompt: Prompt, passed: f64) -> Vec<NodeRef<'a>> {
        let mut section = Vec::new();
        let mut running = 0.0;
        let mut next = heading.next_element_sibling();
        while let Some(block) = next {
            let measure = self.measures.get(&block);
            running += measure.running;
            let belongs = match prompt {
                Prompt::Links if passed >= teasers::MIN_LEFT && block.has_name("article") => true,
                Prompt::Links => {
                    let links = measure.anchors > 0 && measure.link_share() >= MIN_LISTED_LINKS;
                    (measure.text == 0.0 || links) && running <= self.all * MAX_BOX_SHARE
                }
                _ => !is_heading(&block) && running <= (self.all * MAX_BOX_SHARE).min(MAX_NOTES),
            };
            if !belongs {
                break;
            }
            if prompt != Prompt::Links && section.len() < MAX_CHAPTER && is_technical(heading, &block) {
                return Vec::new();
            }
            section.push(block);
            next = block.next_element_sibling();
        }
        section
    }

    /// Returns the label and the heading of a removed list. A heading goes only if nothing else follows it.
    fn headings_of(&self, removed: &NodeRef<'a>) -> Vec<NodeRef<'a>> {
        let is_short = |before: &NodeRef| self.measures.get(before).text <= prompts::MAX_HEADING;
        let label = self.before(removed).filter(|before| is_short(before) && introduces(before));
        let after = removed.next_element_sibling();
        let ends = after.is_none_or(|after| is_heading(&after));
        // The heading above a label may also be that of the page or of further sections.
        let is_own = |heading: &NodeRef| {
            let level = heading.node_name();
            !heading.has_name("h1") && after.is_none_or(|after| after.node_name().as_deref() <= level.as_deref())
        };
        let heading = self
            .before(label.as_ref().unwrap_or(removed))
            .filter(|before| ends && is_heading(before) && is_short(before) && (label.is_none() || is_own(before)));
        label.into_iter().chain(heading).collect()
    }

    /// Returns the element before another one, unless it is removed. Empty elements are skipped.
    fn before<'n>(&self, element: &NodeRef<'n>) -> Option<NodeRef<'n>> {
        let mut before = element.prev_element_sibling();
        for _ in 0..MAX_EMPTY {
            before = before
                .filter(|element| self.measures.get(element).text > 0.0 || element.has_name("img"))
                .or_else(|| before.and_then(|element| element.prev_element_sibling()));
        }
        before.filter(|element| !self.gone.contains(&element.id))
    }
}

fn holds_image(element: &NodeRef) -> bool {
    const IMAGES: [&str; 5] = ["img", "figure", "video", "picture", "iframe"];
    std::iter::once(*element).chain(element.descendants_it()).any(|node| IMAGES.iter().any(|name| node.has_name(name)))
}

fn holds_code(element: &NodeRef) -> bool {
    Selection::from(*element).select("code, pre, kbd, samp").exists()
}

/// Returns true for code or a table of data below a heading like `Comments`, which is that of a chapter. A counter in
/// the heading is that of visitors' comments.
fn is_technical(heading: &NodeRef, section: &NodeRef) -> bool {
    !heading.text().contains(|c: char| c.is_ascii_digit()) && Selection::from(*section).select("code, pre, th").exists()
}

/// Returns true for a heading with its own text as id, like the headings of its level before it.
fn is_chapter(heading: &NodeRef) -> bool {
    let letters =
        |text: &str| -> String { text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect() };
    let name = heading.node_name();
    let before = std::iter::successors(heading.prev_element_sibling(), NodeRef::prev_element_sibling);
    let chapters = before.take(MAX_CHAPTER).filter(|before| before.node_name() == name && before.has_attr("id"));
    is_heading(heading)
        && heading.attr("id").is_some_and(|id| letters(&id) == letters(&heading.text()))
        && chapters.take(MIN_CHAPTERS).count() == MIN_CHAPTERS
}

/// Returns true for a text with a year of the web: a time alone may be that of a live ticker's entry.
fn has_year(text: &str) -> bool {
    let numbers = text.split(|c: char| !c.is_ascii_digit());
    numbers.into_iter().any(|number| number.len() == 4 && (number.starts_with("19") || number.starts_with("20")))
}

fn holds_heading(element: &NodeRef) -> bool {
    Selection::from(*element).select(HEADINGS).exists()
}

/// Returns true for a list of teasers: linked headings, each with little running text.
fn is_listing(content: &NodeRef, measures: &Measures) -> bool {
    let headings = Selection::from(*content).select(HEADINGS);
    let linked = headings.nodes().iter().filter(|heading| measures.get(heading).link_share() > 0.6).count();
    linked >= MIN_LISTED && measures.get(content).running <= linked as f64 * MAX_TEASER
}

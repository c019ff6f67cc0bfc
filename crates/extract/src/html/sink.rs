//! Tree of a page in construction, whose size and depth are known at any time.

use std::borrow::Cow;
use std::cell::Cell;

use dom_query::{Document, NodeId, NodeRef};
use html5ever::tendril::StrTendril;
use html5ever::tree_builder::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::{Attribute, QualName};

/// Maximum number of tags whose attributes are added to `html` or `body`, because each is compared with all before.
const MAX_MERGED: usize = 100;

/// Builds a [`Document`].
#[derive(Default)]
pub(super) struct BoundedSink {
    page: Document,
    elements: Cell<usize>,
    merged: Cell<usize>,
    /// Parent of the node that was added last.
    parent: Cell<Option<NodeId>>,
}

impl BoundedSink {
    /// Returns the number of elements so far.
    pub(super) fn elements(&self) -> usize {
        self.elements.get()
    }

    /// Returns the number of elements around the node that was added last.
    pub(super) fn depth(&self) -> usize {
        let parent = self.parent.get().and_then(|parent| self.page.tree.get(&parent));
        parent.map_or(0, |parent| 1 + parent.ancestors_it(None).count())
    }
}

fn parent_of(node: Option<NodeRef>) -> Option<NodeId> {
    node.and_then(|node| node.parent()).map(|parent| parent.id)
}

impl TreeSink for BoundedSink {
    type Handle = NodeId;
    type Output = Document;
    type ElemName<'a> = <Document as TreeSink>::ElemName<'a>;

    fn finish(self) -> Document {
        self.page
    }

    /// Drops the message: nobody reads it.
    fn parse_error(&self, _message: Cow<'static, str>) {}

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, flags: ElementFlags) -> NodeId {
        self.elements.set(self.elements.get() + 1);
        self.page.create_element(name, attributes, flags)
    }

    fn append(&self, parent: &NodeId, child: NodeOrText<NodeId>) {
        self.page.append(parent, child);
        self.parent.set(Some(*parent));
    }

    fn append_before_sibling(&self, sibling: &NodeId, child: NodeOrText<NodeId>) {
        self.page.append_before_sibling(sibling, child);
        self.parent.set(parent_of(self.page.tree.get(sibling)));
    }

    fn append_based_on_parent_node(&self, element: &NodeId, previous: &NodeId, child: NodeOrText<NodeId>) {
        self.page.append_based_on_parent_node(element, previous, child);
        self.parent.set(parent_of(self.page.tree.get(element)).or(Some(*previous)));
    }

    fn add_attrs_if_missing(&self, target: &NodeId, attributes: Vec<Attribute>) {
        if self.merged.replace(self.merged.get() + 1) < MAX_MERGED {
            self.page.add_attrs_if_missing(target, attributes);
        }
    }

    fn get_document(&self) -> NodeId {
        self.page.get_document()
    }

    fn elem_name<'a>(&'a self, target: &'a NodeId) -> Self::ElemName<'a> {
        self.page.elem_name(target)
    }

    fn create_comment(&self, text: StrTendril) -> NodeId {
        self.page.create_comment(text)
    }

    fn create_pi(&self, target: StrTendril, data: StrTendril) -> NodeId {
        self.page.create_pi(target, data)
    }

    fn append_doctype_to_document(&self, name: StrTendril, public_id: StrTendril, system_id: StrTendril) {
        self.page.append_doctype_to_document(name, public_id, system_id);
    }

    fn get_template_contents(&self, target: &NodeId) -> NodeId {
        self.page.get_template_contents(target)
    }

    fn same_node(&self, one: &NodeId, other: &NodeId) -> bool {
        self.page.same_node(one, other)
    }

    fn set_quirks_mode(&self, mode: QuirksMode) {
        self.page.set_quirks_mode(mode);
    }

    fn remove_from_parent(&self, target: &NodeId) {
        self.page.remove_from_parent(target);
    }

    fn reparent_children(&self, node: &NodeId, new_parent: &NodeId) {
        self.page.reparent_children(node, new_parent);
    }

    fn is_mathml_annotation_xml_integration_point(&self, handle: &NodeId) -> bool {
        self.page.is_mathml_annotation_xml_integration_point(handle)
    }
}

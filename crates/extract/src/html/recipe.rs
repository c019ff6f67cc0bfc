//! Ingredients of a recipe that stand apart from its text.

use dom_query::{NodeRef, Selection};

use super::measure::Measures;
use super::node_map::NodeSet;

/// Selector of ingredients by structured data, class or id in the languages of many recipes.
const INGREDIENTS: &str = "[itemprop=recipeIngredient], [itemprop=ingredients], [class*=ingredient i], [id*=ingredient i], \
     [class*=zutaten i], [id*=zutaten i]";
/// Maximum number of lists, and maximum weight of their text.
const MAX_LISTS: usize = 8;
const MAX_TEXT: f64 = 4000.0;
/// Maximum share of link text: some sites link every ingredient to a shop.
const MAX_LINKS: f64 = 0.7;
/// Number of ancestors in which the list of an ingredient is searched.
const MAX_DEPTH: usize = 6;

/// Moves lists of ingredients outside the content into it, before or after its text as on the page.
pub(super) fn attach(body: &NodeRef, content: &NodeRef, measures: &Measures) {
    let page = Selection::from(*body);
    let ingredients = page.select(INGREDIENTS);
    if !ingredients.exists() || Selection::from(*content).select(INGREDIENTS).exists() {
        return;
    }
    let around: NodeSet = content.ancestors_it(None).map(|around| around.id).collect();
    let mut lists: Vec<NodeRef> = Vec::new();
    let mut taken = NodeSet::default();
    for ingredient in ingredients.nodes() {
        let list = list_of(ingredient, &around);
        let path = std::iter::once(list).chain(list.ancestors_it(None));
        if !around.contains(&list.id) && path.into_iter().all(|node| !taken.contains(&node.id)) {
            taken.insert(list.id);
            lists.push(list);
        }
    }
    let text: f64 = lists.iter().map(|list| measures.get(list).text).sum();
    if lists.len() > MAX_LISTS
        || text > MAX_TEXT
        || lists.iter().any(|list| measures.get(list).link_share() > MAX_LINKS)
    {
        return;
    }
    let before: NodeSet = body.descendants_it().take_while(|node| node.id != content.id).map(|node| node.id).collect();
    let (before, after): (Vec<_>, Vec<_>) = lists.into_iter().partition(|list| before.contains(&list.id));
    for list in before.iter().rev() {
        let heading = heading_of(list);
        content.prepend_child(list);
        heading.inspect(|heading| content.prepend_child(heading));
    }
    for list in &after {
        heading_of(list).inspect(|heading| content.append_child(heading));
        content.append_child(list);
    }
}

/// Returns the outermost list or table around an ingredient that does not hold the content.
fn list_of<'a>(ingredient: &NodeRef<'a>, around_content: &NodeSet) -> NodeRef<'a> {
    let around = ingredient.ancestors_it(Some(MAX_DEPTH)).take_while(|around| !around_content.contains(&around.id));
    let lists = around.filter(|around| ["ul", "ol", "dl", "table"].iter().any(|name| around.has_name(name)));
    lists.last().unwrap_or(*ingredient)
}

fn heading_of<'a>(list: &NodeRef<'a>) -> Option<NodeRef<'a>> {
    list.prev_element_sibling().filter(|before| ["h2", "h3", "h4"].iter().any(|name| before.has_name(name)))
}

//! Collections on the server: names, creation, existence.
//!
//! Documents are read and written under an alias, which is created last. So a collection that searches see has all its
//! payload indexes, whenever a creation was interrupted.

use std::collections::BTreeSet;

use engine::EngineError;
use model::IndexName;
use qdrant_client::QdrantError;
use qdrant_client::qdrant::payload_index_params::IndexParams;
use qdrant_client::qdrant::vectors_config::Config;
use qdrant_client::qdrant::{
    CreateAlias, CreateCollection, CreateFieldIndexCollection, Datatype, Distance, FieldType, IntegerIndexParams,
    KeywordIndexParams, Memory, MultiVectorComparator, MultiVectorConfig, OptimizersConfigDiff, PayloadIndexParams,
    SparseIndexConfig, SparseVectorConfig, SparseVectorParams, TextIndexParamsBuilder, TokenizerType, UpdateCollection,
    UuidIndexParams, VectorParams, VectorsConfig,
};
use retrieval_core::analysis::ANALYSIS_VERSION;

use crate::document::{TERMS, field};
use crate::nodes::{Call, Nodes};
use crate::{QdrantOptions, response};

/// Version of the storage format, part of the names. A new version creates new collections beside the old ones.
const VERSION: u32 = 3;
const _: () = assert!(ANALYSIS_VERSION == 3, "other terms belong into an index of another version");

/// Number of segments that the server merges the terms of a node's shard into: its own choice for many cores.
///
/// A merge indexes the tokens of all documents of its segments anew, which is most of its work. With two segments, the choice for two
/// cores, every few thousand new documents are merged with half of the index. Set after the creation, which would make as many empty
/// segments at once: a small index is faster in two.
const SEGMENTS: u64 = 8;

/// Name of the listing of aliases in errors.
const LISTING: &str = "listing the indexes";

/// Returns the alias of an index.
pub fn alias(prefix: &str, name: IndexName) -> String {
    format!("{prefix}{}-v{VERSION}", name.as_str())
}

/// Returns the name of the collection with the generations of both indexes.
pub fn generations(prefix: &str) -> String {
    format!("{prefix}generations-v{VERSION}")
}

/// Returns the beginning of the aliases of the vectors of an index.
pub fn vectors_alias(prefix: &str, name: IndexName) -> String {
    format!("{}-vectors-", alias(prefix, name))
}

/// Returns the name of the collection behind an alias.
fn data(alias: &str) -> String {
    format!("{alias}-data")
}

/// Returns all aliases of the server that the key may see, by all nodes.
pub async fn aliases(nodes: &Nodes) -> Result<BTreeSet<String>, EngineError> {
    Ok(list(nodes, |_| false).await?.into_iter().flatten().collect())
}

/// Returns those of the aliases that no node knows.
///
/// # Errors
///
/// `Unavailable` if there are some, but most of the nodes did not answer.
pub async fn missing<'a>(nodes: &Nodes, aliases: &[&'a str]) -> Result<Vec<&'a str>, EngineError> {
    let known = list(nodes, |known| aliases.iter().all(|alias| is_known(alias, known))).await?;
    let missing: Vec<&str> = aliases.iter().copied().filter(|alias| !is_known(alias, &known)).collect();
    if !missing.is_empty() {
        nodes.require_most(LISTING, &known)?;
    }
    Ok(missing)
}

/// Returns the aliases that each node knows, or those of fewer nodes once they `suffice`.
async fn list(nodes: &Nodes, suffice: impl Fn(&[Vec<String>]) -> bool) -> Result<Vec<Vec<String>>, EngineError> {
    let list = |client: qdrant_client::Qdrant| async move {
        let listed = client.list_aliases().await?;
        Ok::<Vec<String>, QdrantError>(listed.aliases.into_iter().map(|alias| alias.alias_name).collect())
    };
    nodes.call_all(LISTING, list, suffice).await
}

fn is_known(alias: &str, known: &[Vec<String>]) -> bool {
    known.iter().flatten().any(|known| known == alias)
}

/// Creates the collection of an index with its payload indexes, or completes it.
pub async fn create_index(nodes: &Nodes, options: &QdrantOptions, alias: &str) -> Result<(), EngineError> {
    let terms = SparseVectorParams {
        index: Some(SparseIndexConfig {
            memory: Some(Memory::Cold.into()),
            datatype: Some(Datatype::Float16.into()),
            ..SparseIndexConfig::default()
        }),
        modifier: None,
    };
    let collection = CreateCollection {
        sparse_vectors_config: Some(SparseVectorConfig { map: [(TERMS.to_owned(), terms)].into() }),
        ..CreateCollection::default()
    };
    let name = data(alias);
    create(nodes, options, &name, collection).await?;
    limit_merges(nodes, &name).await?;
    complete(nodes, alias, name, indexes().chain(indexes_of_terms())).await
}

/// Creates a collection for vectors of this number of components, or completes it.
pub async fn create_for_vectors(
    nodes: &Nodes,
    options: &QdrantOptions,
    alias: &str,
    components: usize,
) -> Result<(), EngineError> {
    let passages = VectorParams {
        size: components as u64,
        distance: Distance::Cosine.into(),
        memory: Some(Memory::Cold.into()),
        datatype: Some(Datatype::Float16.into()),
        // The score of a document is that of its best passage.
        multivector_config: Some(MultiVectorConfig { comparator: MultiVectorComparator::MaxSim.into() }),
        ..VectorParams::default()
    };
    let collection = CreateCollection {
        vectors_config: Some(VectorsConfig { config: Some(Config::Params(passages)) }),
        ..CreateCollection::default()
    };
    let name = data(alias);
    create(nodes, options, &name, collection).await?;
    complete(nodes, alias, name, indexes()).await
}

/// Creates a collection of payloads without vectors, unless it exists.
pub async fn create_of_payloads(nodes: &Nodes, options: &QdrantOptions, name: &str) -> Result<(), EngineError> {
    create(nodes, options, name, CreateCollection::default()).await
}

/// Gives a collection its payload indexes, and then its alias.
async fn complete(
    nodes: &Nodes,
    alias: &str,
    name: String,
    indexes: impl Iterator<Item = (&'static str, FieldType, IndexParams)>,
) -> Result<(), EngineError> {
    for (field, kind, params) in indexes {
        let request = &CreateFieldIndexCollection {
            collection_name: name.clone(),
            wait: Some(true),
            field_name: field.to_owned(),
            field_type: Some(kind.into()),
            field_index_params: Some(PayloadIndexParams { index_params: Some(params) }),
            ..CreateFieldIndexCollection::default()
        };
        let create = |client: qdrant_client::Qdrant| async move { client.create_field_index(request.clone()).await };
        response::completed(
            "creating the index",
            nodes.call("creating the index", Call::Change, create).await?.result,
        )?;
    }
    let request = &CreateAlias { collection_name: name, alias_name: alias.to_owned() };
    let create = |client: qdrant_client::Qdrant| async move { client.create_alias(request.clone()).await };
    nodes.call("creating the index", Call::Change, create).await?;
    Ok(())
}

/// Lets the server keep [`SEGMENTS`] segments.
async fn limit_merges(nodes: &Nodes, name: &str) -> Result<(), EngineError> {
    let request = &UpdateCollection {
        collection_name: name.to_owned(),
        optimizers_config: Some(OptimizersConfigDiff {
            default_segment_number: Some(SEGMENTS),
            ..OptimizersConfigDiff::default()
        }),
        ..UpdateCollection::default()
    };
    let update = |client: qdrant_client::Qdrant| async move { client.update_collection(request.clone()).await };
    nodes.call("creating the index", Call::Change, update).await?;
    Ok(())
}

async fn create(
    nodes: &Nodes,
    options: &QdrantOptions,
    name: &str,
    collection: CreateCollection,
) -> Result<(), EngineError> {
    let action = "creating the index";
    if exists(nodes, name).await? {
        return Ok(());
    }
    let request = &CreateCollection {
        collection_name: name.to_owned(),
        shard_number: Some(options.shards),
        replication_factor: Some(options.replicas),
        ..collection
    };
    let create = |client: qdrant_client::Qdrant| async move { client.create_collection(request.clone()).await };
    match nodes.call(action, Call::Change, create).await {
        Ok(_) => Ok(()),
        // Another process may create it at the same time.
        Err(error) => {
            if exists(nodes, name).await? {
                Ok(())
            } else {
                Err(error)
            }
        }
    }
}

async fn exists(nodes: &Nodes, name: &str) -> Result<bool, EngineError> {
    nodes.call("finding the index", Call::Read, |client| async move { client.collection_exists(name).await }).await
}

/// Returns the payload indexes of what filters name.
fn indexes() -> impl Iterator<Item = (&'static str, FieldType, IndexParams)> {
    let tenant = UuidIndexParams { is_tenant: Some(true), ..UuidIndexParams::default() };
    let published_at = IntegerIndexParams { lookup: Some(false), range: Some(true), ..IntegerIndexParams::default() };
    let keywords = [field::LANGUAGE, field::COUNTRY, field::DOMAINS, field::PATHS, field::LABELS];
    let keyword = |field| (field, FieldType::Keyword, IndexParams::KeywordIndexParams(KeywordIndexParams::default()));
    [
        (field::ORGANIZATION, FieldType::Uuid, IndexParams::UuidIndexParams(tenant)),
        (field::PUBLISHED_AT, FieldType::Integer, IndexParams::IntegerIndexParams(published_at)),
    ]
    .into_iter()
    .chain(keywords.into_iter().map(keyword))
}

/// Returns the payload indexes of what is counted.
fn indexes_of_terms() -> impl Iterator<Item = (&'static str, FieldType, IndexParams)> {
    let length = IntegerIndexParams { lookup: Some(true), range: Some(false), ..IntegerIndexParams::default() };
    let tokens = TextIndexParamsBuilder::new(TokenizerType::Whitespace).lowercase(false).memory(Memory::Cold).build();
    [
        (field::LENGTH, FieldType::Integer, IndexParams::IntegerIndexParams(length.clone())),
        (field::TERM_COUNT, FieldType::Integer, IndexParams::IntegerIndexParams(length)),
        (field::TOKENS, FieldType::Text, IndexParams::TextIndexParams(tokens)),
    ]
    .into_iter()
}

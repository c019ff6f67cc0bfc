//! One description of the tables for both backends; migrations/ makes them.

diesel::table! {
    use diesel::sql_types::*;
    use crate::types::DbUuid;

    organizations (id) {
        id -> DbUuid,
        name -> Text,
        billed -> Bool,
        created_at -> BigInt,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::types::DbUuid;

    api_keys (id) {
        id -> DbUuid,
        organization_id -> DbUuid,
        name -> Text,
        prefix -> Text,
        digest -> Binary,
        scopes -> Text,
        limit_rps -> Nullable<Integer>,
        created_at -> BigInt,
        expires_at -> Nullable<BigInt>,
        revoked_at -> Nullable<BigInt>,
        last_used_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::types::DbUuid;

    balances (organization_id) {
        organization_id -> DbUuid,
        cents -> BigInt,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::types::DbUuid;

    balance_entries (id) {
        id -> DbUuid,
        organization_id -> DbUuid,
        cents -> BigInt,
        reason -> Text,
        search_id -> Nullable<DbUuid>,
        created_at -> BigInt,
        identity -> Nullable<Text>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::types::DbUuid;

    audit_entries (id) {
        id -> DbUuid,
        created_at -> BigInt,
        actor -> Text,
        action -> Text,
        organization_id -> Nullable<DbUuid>,
        subject_id -> Nullable<DbUuid>,
        details -> Text,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::types::DbUuid;

    documents (doc_id) {
        doc_id -> DbUuid,
        organization_id -> Nullable<DbUuid>,
        canonical_url -> Text,
        source_url -> Text,
        source_uri -> Nullable<Text>,
        title -> Nullable<Text>,
        description -> Nullable<Text>,
        mime -> Nullable<Text>,
        language -> Nullable<Text>,
        country -> Nullable<Text>,
        labels -> Text,
        published_at -> Nullable<BigInt>,
        first_seen_at -> BigInt,
        last_seen_at -> BigInt,
        last_crawled_at -> Nullable<BigInt>,
        latest_capture_id -> Nullable<DbUuid>,
        removed_at -> Nullable<BigInt>,
        listed -> Bool,
        stale_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::types::DbUuid;

    captures (capture_id) {
        capture_id -> DbUuid,
        doc_id -> DbUuid,
        captured_at -> BigInt,
        format -> Text,
        content_digest -> Text,
        content -> Text,
        headings -> Text,
        fetched_from -> Nullable<Text>,
        etag -> Nullable<Text>,
        last_modified -> Nullable<Text>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::types::DbUuid;

    passages (passage_id) {
        passage_id -> DbUuid,
        doc_id -> DbUuid,
        capture_id -> DbUuid,
        ordinal -> Integer,
        byte_start -> Integer,
        byte_end -> Integer,
        char_start -> Integer,
        char_end -> Integer,
        section_path -> Text,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::types::DbUuid;

    grants (organization_id, doc_id) {
        organization_id -> DbUuid,
        doc_id -> DbUuid,
        granted_at -> BigInt,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::types::DbUuid;

    searches (search_id) {
        search_id -> DbUuid,
        organization_id -> DbUuid,
        identity -> Text,
        session_id -> DbUuid,
        query -> Text,
        results -> Text,
        created_at -> BigInt,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::types::DbUuid;

    feedback (feedback_id) {
        feedback_id -> DbUuid,
        organization_id -> DbUuid,
        identity -> Text,
        session_id -> DbUuid,
        event_type -> Text,
        search_id -> Nullable<DbUuid>,
        doc_id -> Nullable<DbUuid>,
        passage_id -> Nullable<DbUuid>,
        comment -> Nullable<Text>,
        query -> Nullable<Text>,
        result_rank -> Nullable<Integer>,
        client_model -> Nullable<Text>,
        created_at -> BigInt,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::types::DbUuid;

    files (object_key) {
        object_key -> Text,
        organization_id -> DbUuid,
        name -> Text,
        doc_id -> DbUuid,
        content_type -> Nullable<Text>,
        created_at -> BigInt,
        processed_etag -> Nullable<Text>,
        processed_size -> Nullable<BigInt>,
        outcome -> Nullable<Text>,
        reason -> Nullable<Text>,
        last_run_id -> Nullable<DbUuid>,
        withdrawn_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::types::DbUuid;

    index_runs (sync_id) {
        sync_id -> DbUuid,
        organization_id -> DbUuid,
        mode -> Text,
        state -> Text,
        requested_at -> BigInt,
        started_at -> Nullable<BigInt>,
        completed_at -> Nullable<BigInt>,
        error -> Nullable<Text>,
        enumerated -> BigInt,
        fetched -> BigInt,
        indexed -> BigInt,
        failed -> BigInt,
        skipped_unsupported -> BigInt,
        deleted -> BigInt,
        bytes -> BigInt,
        lease_owner -> Nullable<Text>,
        lease_expires_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::types::DbUuid;

    outbox (id) {
        id -> BigInt,
        index_name -> Text,
        doc_id -> DbUuid,
        created_at -> BigInt,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::types::DbUuid;

    leases (name) {
        name -> Text,
        owner -> Text,
        expires_at -> BigInt,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::types::DbUuid;

    usage_events (id) {
        id -> BigInt,
        organization_id -> DbUuid,
        identity -> Text,
        route -> Text,
        status -> Integer,
        duration_us -> BigInt,
        created_at -> BigInt,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::types::DbUuid;

    usage_rollups (organization_id, period, start, identity, route) {
        organization_id -> DbUuid,
        period -> BigInt,
        start -> BigInt,
        identity -> Text,
        route -> Text,
        requests -> BigInt,
        client_errors -> BigInt,
        server_errors -> BigInt,
        duration_us -> BigInt,
        spend_cents -> BigInt,
        histogram -> Binary,
    }
}

diesel::joinable!(api_keys -> organizations (organization_id));
diesel::joinable!(captures -> documents (doc_id));
diesel::allow_tables_to_appear_in_same_query!(
    documents,
    captures,
    passages,
    grants,
    feedback,
    searches,
    files,
    organizations,
    api_keys,
    balances,
    balance_entries
);

//! Table definitions, shared by both backends. The tables themselves are created by the migrations.

mod column_types {
    pub use diesel::sql_types::{BigInt, Binary, Bool, Integer, Nullable, Text};
    pub use model::*;
    pub use uuid::Uuid;

    pub use crate::outbox_work::OutboxWork;
    pub use crate::types::Stored;
}

diesel::table! {
    contractions (migration) {
        migration -> Text,
    }
}

diesel::table! {
    use crate::schema::column_types::*;

    organizations (id) {
        id -> Stored<OrganizationId>,
        name -> Text,
        billed -> Bool,
        created_at -> Stored<Timestamp>,
        deleted_at -> Nullable<Stored<Timestamp>>,
        removed_at -> Nullable<Stored<Timestamp>>,
    }
}

diesel::table! {
    use crate::schema::column_types::*;

    api_keys (id) {
        id -> Stored<ApiKeyId>,
        organization_id -> Stored<OrganizationId>,
        name -> Text,
        prefix -> Text,
        digest -> Binary,
        scopes -> Stored<Vec<Scope>>,
        limit_rps -> Nullable<Integer>,
        created_at -> Stored<Timestamp>,
        expires_at -> Nullable<Stored<Timestamp>>,
        revoked_at -> Nullable<Stored<Timestamp>>,
        last_used_at -> Nullable<Stored<Timestamp>>,
    }
}

diesel::table! {
    use crate::schema::column_types::*;

    balances (organization_id) {
        organization_id -> Stored<OrganizationId>,
        cents -> BigInt,
    }
}

diesel::table! {
    use crate::schema::column_types::*;

    balance_entries (id) {
        id -> Stored<BalanceEntryId>,
        organization_id -> Stored<OrganizationId>,
        cents -> BigInt,
        reason -> Stored<BalanceReason>,
        search_id -> Nullable<Stored<SearchId>>,
        created_at -> Stored<Timestamp>,
        identity -> Nullable<Text>,
        research_id -> Nullable<Stored<ResearchId>>,
    }
}

diesel::table! {
    use crate::schema::column_types::*;

    audit_entries (id) {
        id -> Stored<AuditEntryId>,
        created_at -> Stored<Timestamp>,
        actor -> Text,
        action -> Stored<AuditAction>,
        organization_id -> Nullable<Stored<OrganizationId>>,
        subject_id -> Nullable<Stored<Uuid>>,
        details -> Text,
    }
}

diesel::table! {
    use crate::schema::column_types::*;

    documents (doc_id) {
        doc_id -> Stored<DocId>,
        organization_id -> Nullable<Stored<OrganizationId>>,
        canonical_url -> Text,
        source_url -> Text,
        source_uri -> Nullable<Text>,
        title -> Nullable<Text>,
        description -> Nullable<Text>,
        mime -> Nullable<Text>,
        language -> Nullable<Text>,
        country -> Nullable<Text>,
        labels -> Text,
        published_at -> Nullable<Stored<Timestamp>>,
        first_seen_at -> Stored<Timestamp>,
        last_seen_at -> Stored<Timestamp>,
        last_crawled_at -> Nullable<Stored<Timestamp>>,
        latest_capture_id -> Nullable<Stored<CaptureId>>,
        removed_at -> Nullable<Stored<Timestamp>>,
        listed -> Bool,
    }
}

diesel::table! {
    use crate::schema::column_types::*;

    captures (capture_id) {
        capture_id -> Stored<CaptureId>,
        doc_id -> Stored<DocId>,
        captured_at -> Stored<Timestamp>,
        format -> Stored<CaptureFormat>,
        content_digest -> Text,
        content -> Text,
        headings -> Text,
        fetched_from -> Nullable<Text>,
        etag -> Nullable<Text>,
        last_modified -> Nullable<Text>,
        organization_id -> Nullable<Stored<OrganizationId>>,
        parts -> Nullable<Text>,
        superseded_at -> Nullable<Stored<Timestamp>>,
        kept_until -> Nullable<Stored<Timestamp>>,
    }
}

diesel::table! {
    use crate::schema::column_types::*;

    capture_parts (capture_id, part) {
        capture_id -> Stored<CaptureId>,
        part -> Integer,
        content -> Text,
    }
}

diesel::table! {
    use crate::schema::column_types::*;

    capture_terms (capture_id, bucket) {
        capture_id -> Stored<CaptureId>,
        bucket -> Integer,
        lists -> Binary,
    }
}

diesel::table! {
    use crate::schema::column_types::*;

    passages (capture_id, ordinal) {
        passage_id -> Stored<PassageId>,
        doc_id -> Stored<DocId>,
        capture_id -> Stored<CaptureId>,
        ordinal -> Integer,
        byte_start -> Integer,
        byte_end -> Integer,
        char_start -> Integer,
        char_end -> Integer,
        section_path -> Text,
    }
}

diesel::table! {
    use crate::schema::column_types::*;

    page_reads (organization_id, doc_id) {
        organization_id -> Stored<OrganizationId>,
        doc_id -> Stored<DocId>,
        source_url -> Text,
        title -> Nullable<Text>,
        description -> Nullable<Text>,
        mime -> Nullable<Text>,
        language -> Nullable<Text>,
        labels -> Text,
        published_at -> Nullable<Stored<Timestamp>>,
        first_seen_at -> Stored<Timestamp>,
        last_seen_at -> Stored<Timestamp>,
        last_crawled_at -> Nullable<Stored<Timestamp>>,
        stale_at -> Nullable<Stored<Timestamp>>,
        latest_capture_id -> Nullable<Stored<CaptureId>>,
    }
}

diesel::table! {
    use crate::schema::column_types::*;

    grants (organization_id, doc_id) {
        organization_id -> Stored<OrganizationId>,
        doc_id -> Stored<DocId>,
        granted_at -> Stored<Timestamp>,
        capture_id -> Nullable<Stored<CaptureId>>,
    }
}

diesel::table! {
    use crate::schema::column_types::*;

    searches (search_id) {
        search_id -> Stored<SearchId>,
        organization_id -> Stored<OrganizationId>,
        identity -> Text,
        session_id -> Stored<SessionId>,
        query -> Text,
        results -> Stored<Vec<DocId>>,
        created_at -> Stored<Timestamp>,
        request -> Nullable<Text>,
        details -> Nullable<Text>,
    }
}

diesel::table! {
    use crate::schema::column_types::*;

    feedback (feedback_id) {
        feedback_id -> Stored<FeedbackId>,
        organization_id -> Stored<OrganizationId>,
        identity -> Text,
        session_id -> Stored<SessionId>,
        event_type -> Stored<FeedbackEvent>,
        search_id -> Nullable<Stored<SearchId>>,
        doc_id -> Nullable<Stored<DocId>>,
        passage_id -> Nullable<Stored<PassageId>>,
        comment -> Nullable<Text>,
        query -> Nullable<Text>,
        result_rank -> Nullable<Integer>,
        client_model -> Nullable<Text>,
        created_at -> Stored<Timestamp>,
    }
}

diesel::table! {
    use crate::schema::column_types::*;

    files (object_key) {
        object_key -> Text,
        organization_id -> Stored<OrganizationId>,
        name -> Text,
        doc_id -> Stored<DocId>,
        content_type -> Nullable<Text>,
        created_at -> Stored<Timestamp>,
        processed_etag -> Nullable<Text>,
        processed_size -> Nullable<BigInt>,
        outcome -> Nullable<Stored<FileOutcome>>,
        reason -> Nullable<Text>,
        last_run_id -> Nullable<Stored<SyncId>>,
        withdrawn_at -> Nullable<Stored<Timestamp>>,
        bytes -> BigInt,
        upload_expires_at -> Nullable<Stored<Timestamp>>,
        labels -> Nullable<Text>,
        processed_at -> Nullable<Stored<Timestamp>>,
        original_name -> Nullable<Text>,
        withdrawn_etag -> Nullable<Text>,
    }
}

diesel::table! {
    use crate::schema::column_types::*;

    storage_totals (organization_id) {
        organization_id -> Stored<OrganizationId>,
        files -> BigInt,
        bytes -> BigInt,
    }
}

diesel::table! {
    use crate::schema::column_types::*;

    index_runs (sync_id) {
        sync_id -> Stored<SyncId>,
        organization_id -> Stored<OrganizationId>,
        mode -> Stored<RunMode>,
        state -> Stored<RunState>,
        requested_at -> Stored<Timestamp>,
        started_at -> Nullable<Stored<Timestamp>>,
        completed_at -> Nullable<Stored<Timestamp>>,
        error -> Nullable<Text>,
        enumerated -> BigInt,
        fetched -> BigInt,
        indexed -> BigInt,
        failed -> BigInt,
        skipped_unsupported -> BigInt,
        deleted -> BigInt,
        bytes -> BigInt,
        lease_owner -> Nullable<Text>,
        lease_expires_at -> Nullable<Stored<Timestamp>>,
    }
}

diesel::table! {
    use crate::schema::column_types::*;

    run_files (sync_id, name) {
        sync_id -> Stored<SyncId>,
        name -> Text,
        organization_id -> Stored<OrganizationId>,
        outcome -> Stored<FileOutcome>,
        reason -> Nullable<Text>,
        processed_at -> Stored<Timestamp>,
    }
}

diesel::table! {
    use crate::schema::column_types::*;

    outbox (id) {
        id -> BigInt,
        index_name -> Stored<IndexName>,
        doc_id -> Stored<OutboxWork>,
        created_at -> Stored<Timestamp>,
        organization_id -> Nullable<Stored<OrganizationId>>,
    }
}

diesel::table! {
    use crate::schema::column_types::*;

    index_generations (index_name) {
        index_name -> Stored<IndexName>,
        completed -> Nullable<Stored<Generation>>,
        started -> Nullable<Stored<Generation>>,
    }
}

diesel::table! {
    use crate::schema::column_types::*;

    capture_vectors (capture_id, model) {
        capture_id -> Stored<CaptureId>,
        model -> Text,
        passages -> Binary,
        complete -> Bool,
        content_key -> BigInt,
        created_at -> Stored<Timestamp>,
    }
}

diesel::table! {
    use crate::schema::column_types::*;

    term_vectors (doc_id) {
        doc_id -> Stored<DocId>,
        capture_id -> Stored<CaptureId>,
        version -> Integer,
        text_key -> BigInt,
        terms -> Binary,
    }
}

diesel::table! {
    use crate::schema::column_types::*;

    embedding_jobs (doc_id) {
        doc_id -> Stored<DocId>,
        organization_id -> Nullable<Stored<OrganizationId>>,
        enqueued_at -> Stored<Timestamp>,
        attempts -> Integer,
        not_before -> Stored<Timestamp>,
        lease_owner -> Nullable<Text>,
    }
}

diesel::table! {
    use crate::schema::column_types::*;

    index_models (index_name) {
        index_name -> Stored<IndexName>,
        model -> Nullable<Text>,
        queued_to -> Nullable<Stored<DocId>>,
        queued -> Bool,
    }
}

diesel::table! {
    use crate::schema::column_types::*;

    leases (name) {
        name -> Text,
        owner -> Text,
        expires_at -> Stored<Timestamp>,
    }
}

diesel::table! {
    model_calibrations (model, version) {
        model -> Text,
        version -> Integer,
        meaning -> Double,
        repetition -> Double,
        by_language -> Text,
    }
}

diesel::table! {
    use crate::schema::column_types::*;

    usage_events (id) {
        id -> BigInt,
        organization_id -> Stored<OrganizationId>,
        identity -> Text,
        route -> Text,
        status -> Integer,
        duration_us -> BigInt,
        created_at -> Stored<Timestamp>,
    }
}

diesel::table! {
    use crate::schema::column_types::*;

    usage_rollups (organization_id, period, start, identity, route) {
        organization_id -> Stored<OrganizationId>,
        period -> BigInt,
        start -> Stored<Timestamp>,
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

diesel::table! {
    use crate::schema::column_types::*;

    webhooks (webhook_id) {
        webhook_id -> Stored<WebhookId>,
        organization_id -> Stored<OrganizationId>,
        url -> Text,
        event_types -> Text,
        secret -> Text,
        previous_secret -> Nullable<Text>,
        previous_secret_expires_at -> Nullable<Stored<Timestamp>>,
        created_at -> Stored<Timestamp>,
        failing_since -> Nullable<Stored<Timestamp>>,
        last_error -> Nullable<Text>,
        disabled_at -> Nullable<Stored<Timestamp>>,
        disabled_reason -> Nullable<Text>,
    }
}

diesel::table! {
    use crate::schema::column_types::*;

    webhook_deliveries (delivery_id) {
        delivery_id -> Stored<DeliveryId>,
        organization_id -> Stored<OrganizationId>,
        webhook_id -> Nullable<Stored<WebhookId>>,
        url -> Nullable<Text>,
        secret -> Nullable<Text>,
        event_type -> Text,
        payload -> Text,
        attempts -> Integer,
        next_attempt_at -> Stored<Timestamp>,
        lease_owner -> Nullable<Text>,
        lease_expires_at -> Nullable<Stored<Timestamp>>,
        last_error -> Nullable<Text>,
        created_at -> Stored<Timestamp>,
    }
}

diesel::table! {
    use crate::schema::column_types::*;

    research_runs (research_id) {
        research_id -> Stored<ResearchId>,
        organization_id -> Stored<OrganizationId>,
        session_id -> Stored<SessionId>,
        identity -> Text,
        query -> Text,
        request -> Text,
        state -> Text,
        progress -> Text,
        output -> Nullable<Text>,
        status -> Stored<ResearchStatus>,
        stop_reason -> Nullable<Stored<ResearchStop>>,
        error -> Nullable<Text>,
        metadata -> Text,
        webhook_url -> Nullable<Text>,
        webhook_secret -> Nullable<Text>,
        webhook_events -> Nullable<Text>,
        searches -> Integer,
        documents -> Integer,
        tokens -> BigInt,
        last_sequence -> BigInt,
        attempts -> Integer,
        lease_owner -> Nullable<Text>,
        lease_expires_at -> Nullable<Stored<Timestamp>>,
        created_at -> Stored<Timestamp>,
        started_at -> Nullable<Stored<Timestamp>>,
        completed_at -> Nullable<Stored<Timestamp>>,
        expires_at -> Stored<Timestamp>,
    }
}

diesel::table! {
    use crate::schema::column_types::*;

    research_events (research_id, sequence) {
        research_id -> Stored<ResearchId>,
        sequence -> BigInt,
        organization_id -> Stored<OrganizationId>,
        kind -> Text,
        at -> Stored<Timestamp>,
        data -> Text,
    }
}

diesel::table! {
    use crate::schema::column_types::*;

    crawls (crawl_id) {
        crawl_id -> Stored<CrawlId>,
        name -> Text,
        settings -> Text,
        status -> Stored<CrawlStatus>,
        created_at -> Stored<Timestamp>,
        started_at -> Stored<Timestamp>,
        finished_at -> Nullable<Stored<Timestamp>>,
        page_limit -> Nullable<BigInt>,
        url_limit -> BigInt,
        urls -> BigInt,
        queued -> BigInt,
        pages -> BigInt,
    }
}

diesel::table! {
    use crate::schema::column_types::*;

    crawl_urls (crawl_id, url_id) {
        crawl_id -> Stored<CrawlId>,
        url_id -> Stored<DocId>,
        url -> Text,
        host -> Text,
        kind -> Stored<CrawlUrlKind>,
        depth -> Integer,
        priority -> Integer,
        chain -> Integer,
        path_key -> Nullable<BigInt>,
        state -> Stored<CrawlUrlState>,
        reason -> Nullable<Text>,
        target_id -> Nullable<Stored<DocId>>,
        queued -> Bool,
        next_fetch_at -> Nullable<Stored<Timestamp>>,
        attempts -> Integer,
        missing -> Integer,
        fetched_at -> Nullable<Stored<Timestamp>>,
        changed_at -> Nullable<Stored<Timestamp>>,
        visits -> Integer,
        changes -> Integer,
        interval_seconds -> Nullable<BigInt>,
        fetched_from -> Nullable<Text>,
        etag -> Nullable<Text>,
        last_modified -> Nullable<Text>,
        content_digest -> Nullable<Text>,
    }
}

diesel::table! {
    use crate::schema::column_types::*;

    crawl_queues (crawl_id, host) {
        crawl_id -> Stored<CrawlId>,
        host -> Text,
        next_at -> Nullable<Stored<Timestamp>>,
    }
}

diesel::table! {
    use crate::schema::column_types::*;

    crawl_hosts (host) {
        host -> Text,
        next_request_at -> Stored<Timestamp>,
        response_millis -> BigInt,
        failures -> Integer,
        claimed_at -> Stored<Timestamp>,
        lease_owner -> Nullable<Text>,
        lease_expires_at -> Nullable<Stored<Timestamp>>,
    }
}

diesel::table! {
    use crate::schema::column_types::*;

    crawl_counts (crawl_id, kind, reason) {
        crawl_id -> Stored<CrawlId>,
        kind -> Text,
        reason -> Text,
        count -> BigInt,
        example -> Nullable<Text>,
    }
}

diesel::joinable!(api_keys -> organizations (organization_id));
diesel::joinable!(captures -> documents (doc_id));
diesel::allow_tables_to_appear_in_same_query!(
    documents,
    captures,
    capture_parts,
    capture_terms,
    capture_vectors,
    embedding_jobs,
    term_vectors,
    passages,
    page_reads,
    grants,
    feedback,
    searches,
    files,
    storage_totals,
    webhooks,
    webhook_deliveries,
    research_runs,
    research_events,
    organizations,
    api_keys,
    balances,
    balance_entries
);
diesel::allow_tables_to_appear_in_same_query!(crawls, crawl_queues, crawl_hosts, crawl_urls);
diesel::allow_tables_to_appear_in_same_query!(index_runs, run_files);

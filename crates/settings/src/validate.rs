use url::Url;

use crate::values::{Check, http_url, not_empty, positive};
use crate::{
    GenerateBackend, IndexBackend, OAuth, RateLimitBackend, RerankBackend, Settings, SettingsError, StorageBackend,
    embed, public_url, reach, rendering, telemetry, tls, web,
};

/// Maximum number of shards, and of replicas of each. Every shard costs each node of the index memory and threads.
const MAX_SHARDS: u32 = 1024;

impl Settings {
    /// Validates URLs, sizes and the requirements of the chosen backends.
    ///
    /// # Errors
    /// Returns every invalid key.
    pub fn validate(&self) -> Check {
        SettingsError::check(self.errors())
    }

    /// Returns one error per invalid key, in the order of the file.
    pub(crate) fn errors(&self) -> Vec<SettingsError> {
        [
            self.check_data_dir(),
            public_url::check(self),
            tls::check(self),
            self.check_workers(),
            connections("server.max_connections", self.server.max_connections),
            connections("storage.max_connections", self.storage.max_connections),
            positive("server.request_timeout_ms", self.server.request_timeout_ms),
            self.check_binds(),
            self.check_origins(),
            self.check_database(),
            self.check_index_url(),
            self.check_index_prefix(),
            self.check_index_copies(),
            self.check_public_endpoint(),
            reach::check_storage(self),
            optional_url("storage.endpoint", &self.storage.endpoint),
            self.check_region(),
            self.check_bucket(),
            self.check_access_key(),
            positive("rate_limit.default_rps", u64::from(self.rate_limit.default_rps)),
            self.check_rate_limit_url(),
            self.check_rerank_url(),
            positive("rerank.timeout_ms", self.rerank.timeout_ms),
            self.check_generate_url(),
            positive("generate.timeout_ms", self.generate.timeout_ms),
            positive("generate.max_tokens", u64::from(self.generate.max_tokens)),
            positive("research.runs_per_organization", u64::from(self.research.runs_per_organization)),
            positive("research.retention_days", u64::from(self.research.retention_days)),
            positive("webhooks.timeout_ms", self.webhooks.timeout_ms),
            positive("fetch.timeout_ms", self.fetch.timeout_ms),
            positive("fetch.max_bytes", self.fetch.max_bytes),
            self.check_contact(),
            positive("web.read_timeout_ms", self.web.read_timeout_ms),
            positive("web.timeout_ms", self.web.timeout_ms),
            positive("crawl.hosts_at_a_time", u64::from(self.crawl.hosts_at_a_time)),
            positive("crawl.max_urls", self.crawl.max_urls),
            positive("files.max_object_bytes", self.files.max_object_bytes),
            positive("files.max_per_organization", self.files.max_per_organization),
            // Without an audience, tokens of the same issuer for other services would be accepted.
            self.with_oauth(|oauth| not_empty("auth.oauth.audience", &oauth.audience)),
            self.with_oauth(|oauth| http_url("auth.oauth.jwks_url", &oauth.jwks_url)),
            self.with_oauth(|oauth| not_empty("auth.oauth.organization_claim", &oauth.organization_claim)),
            not_empty("log.filter", &self.log.filter),
        ]
        .into_iter()
        .chain(embed::checks(&self.embed))
        .chain(rendering::checks(&self.fetch))
        .chain(web::checks(&self.web))
        .chain(telemetry::checks(&self.telemetry))
        .filter_map(Result::err)
        .collect()
    }

    fn check_contact(&self) -> Check {
        match self.fetch.contact.chars().find(|c| !c.is_ascii_graphic()) {
            None => Ok(()),
            Some(control) => {
                let reason = format!("must be a URL or a mail address, without {control:?}");
                Err(SettingsError::invalid("fetch.contact", &self.fetch.contact, reason))
            }
        }
    }

    /// Checks the form of the URL only; the rest is checked when the database is opened.
    fn check_database(&self) -> Check {
        let url = self.database.url.expose();
        let sqlite = url.strip_prefix("sqlite:").map(|file| file.strip_prefix("//").unwrap_or(file));
        let reason = match sqlite {
            // Each pooled connection to `:memory:` would be its own database.
            Some(file) if file.is_empty() || file.starts_with(":memory:") || file.contains('?') => {
                "has no database file: write `sqlite:FILE`"
            }
            Some(_) => return Ok(()),
            None if Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "postgres" | "postgresql")) => return Ok(()),
            None => "is neither `sqlite:FILE` nor `postgres://user:password@host/database`",
        };
        Err(SettingsError::refused("database.url", reason))
    }

    fn check_data_dir(&self) -> Check {
        if self.data_dir.as_os_str().is_empty() {
            return Err(SettingsError::invalid("data_dir", "", "must be a folder"));
        }
        Ok(())
    }

    fn check_workers(&self) -> Check {
        if self.server.workers > 1024 {
            return Err(SettingsError::invalid("server.workers", self.server.workers, "must be at most 1024"));
        }
        Ok(())
    }

    fn check_binds(&self) -> Check {
        let mut binds = vec![("server.bind", self.server.bind), ("operations.bind", self.operations.bind)];
        if self.storage.backend == StorageBackend::Embedded {
            binds.push(("storage.bind", self.storage.bind));
        }
        for (i, (key, bind)) in binds.iter().enumerate() {
            // Port 0 is any free port, so two of them do not conflict.
            if let Some((other, _)) = binds[..i].iter().find(|(_, other)| other == bind && bind.port() != 0) {
                return Err(SettingsError::invalid(key, bind, format!("is already the address of `{other}`")));
            }
        }
        Ok(())
    }

    fn check_origins(&self) -> Check {
        let is_origin = |text: &str| {
            Url::parse(text).is_ok_and(|url| {
                matches!(url.scheme(), "http" | "https")
                    && url.origin().ascii_serialization().eq_ignore_ascii_case(text)
            })
        };
        match self.mcp.allow_origins.iter().find(|text| !is_origin(text)) {
            None => Ok(()),
            Some(text) => {
                let reason = "must be an origin such as `https://app.example` or `http://app.example:3000`";
                Err(SettingsError::invalid("mcp.allow_origins", text, reason))
            }
        }
    }

    fn check_index_url(&self) -> Check {
        match self.index.backend {
            IndexBackend::Meilisearch => http_url("index.url", &self.index.url),
            IndexBackend::Qdrant => self.index.url.split(',').try_for_each(|url| http_url("index.url", url.trim())),
            IndexBackend::Embedded | IndexBackend::None => Ok(()),
        }
    }

    fn check_index_copies(&self) -> Check {
        for (key, number) in [("index.shards", self.index.shards), ("index.replicas", self.index.replicas)] {
            if !(1..=MAX_SHARDS).contains(&number) {
                return Err(SettingsError::invalid(key, number, format!("must be between 1 and {MAX_SHARDS}")));
            }
        }
        Ok(())
    }

    fn check_index_prefix(&self) -> Check {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if !self.index.prefix.chars().all(fits) {
            let reason = "may contain only ASCII letters, digits, `-` and `_`";
            return Err(SettingsError::invalid("index.prefix", &self.index.prefix, reason));
        }
        Ok(())
    }

    fn check_public_endpoint(&self) -> Check {
        let (key, endpoint) = ("storage.public_endpoint", &self.storage.public_endpoint);
        optional_url(key, endpoint)?;
        // The embedded store serves no path but its buckets. Another store may have one.
        let has_path = Url::parse(endpoint).is_ok_and(|url| !url.path().trim_end_matches('/').is_empty());
        if self.storage.backend == StorageBackend::Embedded && has_path {
            let reason = "must have no path: signatures of upload URLs cover it; use a name or a port of its own";
            return Err(SettingsError::invalid(key, endpoint, reason));
        }
        Ok(())
    }

    fn check_region(&self) -> Check {
        not_empty("storage.region", &self.storage.region)
    }

    fn check_bucket(&self) -> Check {
        // Common rules of all S3 stores: 3 to 63 of these characters, a letter or digit at both ends.
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
        let ends = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let bucket = &self.storage.bucket;
        if !(3..=63).contains(&bucket.len())
            || !bucket.chars().all(fits)
            || !bucket.starts_with(ends)
            || !bucket.ends_with(ends)
        {
            let reason = "must be 3 to 63 lowercase letters, digits, `-` or `.`, with a letter or digit at both ends";
            return Err(SettingsError::invalid("storage.bucket", bucket, reason));
        }
        Ok(())
    }

    fn check_access_key(&self) -> Check {
        let storage = &self.storage;
        for (key, given, missing) in [
            ("storage.secret_access_key", &storage.access_key_id, &storage.secret_access_key),
            ("storage.access_key_id", &storage.secret_access_key, &storage.access_key_id),
        ] {
            if !given.is_empty() && missing.is_empty() {
                return Err(SettingsError::refused(key, "must be set too: an access key has two parts"));
            }
        }
        Ok(())
    }

    fn check_rate_limit_url(&self) -> Check {
        if self.rate_limit.backend == RateLimitBackend::Redis {
            let known = ["redis://", "rediss://", "unix://", "redis+unix://"];
            if !known.iter().any(|scheme| self.rate_limit.url.expose().starts_with(scheme)) {
                let reason = "must be a Redis URL such as `redis://host:6379` with `rate_limit.backend` = `redis`";
                return Err(SettingsError::refused("rate_limit.url", reason));
            }
        }
        Ok(())
    }

    fn check_rerank_url(&self) -> Check {
        match self.rerank.backend {
            RerankBackend::Http => http_url("rerank.url", &self.rerank.url),
            RerankBackend::Lexical | RerankBackend::None => Ok(()),
        }
    }

    fn check_generate_url(&self) -> Check {
        match self.generate.backend {
            GenerateBackend::Http => http_url("generate.url", &self.generate.url),
            GenerateBackend::None => Ok(()),
        }
    }

    fn with_oauth(&self, check: impl FnOnce(&OAuth) -> Check) -> Check {
        let oauth = &self.auth.oauth;
        if oauth.issuer.is_empty() { Ok(()) } else { check(oauth) }
    }
}

fn optional_url(key: &str, text: &str) -> Check {
    if text.is_empty() { Ok(()) } else { http_url(key, text) }
}

/// Few connections are no use: a browser opens six, and an eighth is reserved for trusted networks.
fn connections(key: &str, value: u32) -> Check {
    if value == 0 || (16..=1_000_000).contains(&value) {
        return Ok(());
    }
    Err(SettingsError::invalid(key, value, "must be 0 or between 16 and 1000000"))
}

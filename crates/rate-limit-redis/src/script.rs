//! Counting script. Redis runs it atomically, so that the count is exact under concurrency.

use redis::aio::MultiplexedConnection;
use redis::{RedisResult, Script};

/// Lifetime of a counter by the clock of Redis, from the opening of its window.
///
/// Longer than a window plus the clock differences between instances, so that no late call reopens an expired window;
/// short, so that an instance whose clock is ahead does not block others for longer.
const LIFETIME_MS: u32 = 2_000;

/// One hash per key: the latest window and the tokens spent in it. The window only moves forward.
const COUNT: &str = r"
local state = redis.call('HMGET', KEYS[1], 'window', 'spent')
local window, limit = tonumber(ARGV[1]), tonumber(ARGV[2])
local latest, spent = tonumber(state[1]), tonumber(state[2])
local opened = latest == nil or window > latest
if opened then latest, spent = window, 0 end
local allowed = spent < limit
if allowed then spent = spent + 1 end
if opened then
    redis.call('HSET', KEYS[1], 'window', ARGV[1], 'spent', spent)
    redis.call('PEXPIRE', KEYS[1], ARGV[3])
elseif allowed then
    redis.call('HSET', KEYS[1], 'spent', spent)
end
return {allowed and 1 or 0, spent, latest}
";

/// Result of the script.
#[derive(Clone, Copy, Debug)]
pub struct Count {
    pub allowed: bool,
    /// Requests allowed in the window, including this one.
    pub spent: u32,
    /// Window in which the request was counted: whole seconds since the Unix epoch.
    pub window: i64,
}

pub struct Counter {
    script: Script,
    prefix: String,
}

impl Counter {
    pub fn new(prefix: String) -> Self {
        Self { script: Script::new(COUNT), prefix }
    }

    /// Counts a request. One round trip; three if Redis does not know the script yet.
    pub async fn count(
        &self,
        redis: &mut MultiplexedConnection,
        key: &str,
        limit: u32,
        window: i64,
    ) -> RedisResult<Count> {
        let mut call = self.script.key(self.redis_key(key));
        let (allowed, spent, window) = call.arg(window).arg(limit).arg(LIFETIME_MS).invoke_async(redis).await?;
        Ok(Count { allowed, spent, window })
    }

    /// Counts on an empty key, which proves everything a count needs: the password, write permission, memory.
    pub async fn probe(&self, redis: &mut MultiplexedConnection) -> RedisResult<()> {
        self.count(redis, "", 1, 0).await.map(drop)
    }

    /// Formats the key. The braces are a cluster hash tag: the key alone, not the prefix, determines the node.
    fn redis_key(&self, key: &str) -> String {
        format!("{}{{{key}}}", self.prefix)
    }
}

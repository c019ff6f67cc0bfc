//! The count, as one script: Redis runs it alone, so that it is exact however many ask at once.

use redis::aio::MultiplexedConnection;
use redis::{RedisResult, Script};

/// A counter's life, by the clock of Redis, from the opening of its window.
///
/// Longer than a window and the differences between the clocks of instances together, so that no late call finds the
/// window gone and opens it again; short, so that an instance whose clock ran ahead holds nobody back for longer.
const LIFE_MS: u32 = 2_000;

/// One hash a key: the latest window, and what was spent in it. A window only ever moves forward.
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

/// What the script answered.
#[derive(Clone, Copy, Debug)]
pub struct Count {
    pub allowed: bool,
    /// Requests that were let through in the window, this one included.
    pub spent: u32,
    /// The window that the request counted in: whole seconds since the Unix epoch.
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

    /// One round trip; three when Redis does not know the script yet.
    pub async fn count(
        &self,
        redis: &mut MultiplexedConnection,
        key: &str,
        limit: u32,
        window: i64,
    ) -> RedisResult<Count> {
        let mut call = self.script.key(self.redis_key(key));
        let (allowed, spent, window) = call.arg(window).arg(limit).arg(LIFE_MS).invoke_async(redis).await?;
        Ok(Count { allowed, spent, window })
    }

    /// Counts for nobody. Proves everything that a count needs: a password that is right, the right to write, memory.
    pub async fn prove(&self, redis: &mut MultiplexedConnection) -> RedisResult<()> {
        self.count(redis, "", 1, 0).await.map(drop)
    }

    /// The braces are a cluster's hash tag: whatever the prefix is, the key alone says which node has it.
    fn redis_key(&self, key: &str) -> String {
        format!("{}{{{key}}}", self.prefix)
    }
}

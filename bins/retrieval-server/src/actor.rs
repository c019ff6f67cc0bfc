//! Actors of changes, for the audit log.

use std::fs;

/// The server itself, at its first start.
pub const SERVER: &str = "server";

/// Returns the actor of a command, `cli:USER@HOST`. The user comes from the operating system, because the environment
/// can be forged. A user without a line in `/etc/passwd` is named by number.
pub fn of_command_line() -> String {
    let uid = rustix::process::getuid().as_raw();
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let user = name_of(uid, &users).map_or_else(|| uid.to_string(), str::to_owned);
    let system = rustix::system::uname();
    format!("cli:{user}@{}", system.nodename().to_string_lossy())
}

/// Finds the name of a user id in lines of `name:password:uid:...` (passwd(5)).
fn name_of(uid: u32, users: &str) -> Option<&str> {
    let uid = uid.to_string();
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == uid && !name.is_empty()).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_name_is_found_by_user_id() {
        let users =
            "root:x:0:0:root:/root:/bin/sh\n\n# none\nalice:x:1000:1000::/home/alice:/bin/sh\nbob:x:10000:1::/:/\n";
        assert_eq!(name_of(0, users), Some("root"));
        assert_eq!(name_of(1000, users), Some("alice"));
        for unknown in [100, 1, 4_000_000_000] {
            assert_eq!(name_of(unknown, users), None);
        }
    }
}

//! Memory that this process may use: that of the machine or of its control group.

use std::fs;
use std::path::Path;

const CGROUP_ROOT: &str = "/sys/fs/cgroup";

/// Returns the memory in bytes; `None` where the system does not tell.
pub fn total() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| parse_meminfo(&text));
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let group = limits_of_groups(Path::new(CGROUP_ROOT), &own);
    machine.into_iter().chain(group).min()
}

/// Returns the total of `/proc/meminfo` (proc_meminfo(5)) in bytes.
fn parse_meminfo(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// Returns the lowest limit of the groups that `/proc/self/cgroup` names and of their ancestors. Inside a container the
/// root is the container's own group.
fn limits_of_groups(root: &Path, own: &str) -> Option<u64> {
    // Version 2 has one hierarchy, `0::/path`; version 1 has one per controller, `4:memory:/path`.
    let groups = own.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':');
        let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let (folder, file) = match controllers {
            "" => (root.to_owned(), "memory.max"),
            _ if controllers.split(',').any(|name| name == "memory") => (root.join("memory"), "memory.limit_in_bytes"),
            _ => return None,
        };
        Some((folder, file, path.trim_start_matches('/').to_owned()))
    });
    let limits = groups.flat_map(|(folder, file, path)| {
        let ancestors: Vec<_> = Path::new(&path).ancestors().map(|group| folder.join(group).join(file)).collect();
        // `max` means no limit.
        ancestors.into_iter().filter_map(|file| fs::read_to_string(file).ok()?.trim().parse::<u64>().ok())
    });
    limits.min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn total_of_the_machine_is_parsed() {
        assert_eq!(parse_meminfo("MemTotal:       24683656 kB\nMemFree: 1 kB\n"), Some(24_683_656 * 1024));
        assert_eq!(parse_meminfo("MemFree: 1 kB\n"), None);
    }

    #[test]
    fn lowest_limit_of_the_group_and_its_ancestors_counts() {
        let root = tempfile::tempdir().expect("a folder");
        let group = root.path().join("services/one");
        fs::create_dir_all(&group).expect("a group");
        fs::write(group.join("memory.max"), "max\n").expect("written");
        fs::write(root.path().join("services/memory.max"), "536870912\n").expect("written");
        assert_eq!(limits_of_groups(root.path(), "0::/services/one\n"), Some(512 << 20));
        assert_eq!(limits_of_groups(root.path(), "0::/\n"), None);
        let first = root.path().join("memory/one");
        fs::create_dir_all(&first).expect("a group");
        fs::write(first.join("memory.limit_in_bytes"), "1000\n").expect("written");
        assert_eq!(limits_of_groups(root.path(), "5:cpu,cpuacct:/one\n4:memory:/one\n"), Some(1000));
    }
}

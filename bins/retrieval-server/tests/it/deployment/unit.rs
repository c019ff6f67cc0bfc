use settings::Settings;

use super::{AFTER_DRAIN, assert_command, read};

/// Returns the values of a key of the unit.
fn values<'a>(unit: &'a str, key: &str) -> Vec<&'a str> {
    unit.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix('=')).collect()
}

#[test]
fn unit_starts_the_installed_program_and_gives_it_time_to_stop() {
    let unit = read("deploy/systemd/retrieval.service");
    let [start] = values(&unit, "ExecStart")[..] else { panic!("one ExecStart") };
    let page = include_str!("../../../../../docs/deploy.md");
    let (program, arguments) = start.split_once(' ').unwrap();
    assert!(page.contains(&format!(
        "sudo install -m 755 ~/.cargo/bin/retrieval-server {}",
        program.rsplit_once('/').unwrap().0
    )));
    let config = arguments.strip_prefix("--config ").unwrap();
    assert!(page.contains(&format!("sudo tee {config}")), "{config}");
    assert_command(&[]);
    let stop: u64 = values(&unit, "TimeoutStopSec")[0].parse().unwrap();
    assert!(stop >= Settings::load(None, []).unwrap().server.drain_seconds + AFTER_DRAIN, "{stop}");
    let folder = format!("/var/lib/{}", values(&unit, "StateDirectory")[0]);
    assert!(page.contains(&format!("data_dir = \"{folder}/data\"")));
    assert_eq!(values(&unit, "User"), ["retrieval"]);
    assert!(page.contains(&format!("--home-dir {folder}")));
}

#[test]
fn worker_without_memory_does_not_stop_the_service() {
    let unit = read("deploy/systemd/retrieval.service");
    assert_eq!(values(&unit, "OOMPolicy"), ["continue"]);
    assert_eq!(values(&unit, "Restart"), ["on-failure"], "for the server itself");
}

#[test]
fn drop_in_for_low_ports_overrides_what_the_unit_takes_away() {
    let (unit, page) = (read("deploy/systemd/retrieval.service"), include_str!("../../../../../docs/deploy.md"));
    let (_, drop_in) = page.split_once("  [Service]\n").unwrap();
    let (drop_in, _) = drop_in.split_once("```").unwrap();
    let drop_in: Vec<_> = drop_in.lines().filter_map(|line| line.trim().split_once('=')).collect();
    let expected = [
        ("AmbientCapabilities", "CAP_NET_BIND_SERVICE"),
        ("CapabilityBoundingSet", "CAP_NET_BIND_SERVICE"),
        ("PrivateUsers", "no"),
    ];
    assert_eq!(drop_in, expected);
    for (key, value) in expected {
        assert!(values(&unit, key).len() == 1 && values(&unit, key) != [value], "{key}");
    }
}

#[test]
fn unit_is_hardened_and_permits_the_sandbox_of_workers() {
    let unit = read("deploy/systemd/retrieval.service");
    for line in [
        "NoNewPrivileges=yes",
        "ProtectSystem=strict",
        "ProtectHome=yes",
        "PrivateTmp=yes",
        "CapabilityBoundingSet=",
        "RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK",
        "SystemCallFilter=@system-service",
    ] {
        assert!(unit.lines().any(|found| found == line), "{line}");
    }
    let permitted = values(&unit, "SystemCallFilter").join(" ");
    for call in ["seccomp", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"] {
        assert!(permitted.split(' ').any(|found| found == call), "{call}");
    }
    assert!(!permitted.contains("~@resources"));
}

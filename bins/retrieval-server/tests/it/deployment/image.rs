use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::{assert_command, document, path, read, settings, strings};

/// Returns the arguments of an instruction.
fn instruction<'a>(containerfile: &'a str, name: &str) -> Vec<&'a str> {
    containerfile.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).collect()
}

#[test]
fn image_has_the_ports_of_its_settings_and_files_that_exist() {
    let (containerfile, settings) = (read("deploy/Containerfile"), settings(&read("deploy/container.toml")));
    let exposed: BTreeSet<&str> =
        instruction(&containerfile, "EXPOSE").into_iter().flat_map(|line| line.split(' ')).collect();
    let ports =
        [settings.server.bind, settings.operations.bind, settings.storage.bind].map(|bind| bind.port().to_string());
    assert_eq!(exposed, ports.iter().map(String::as_str).collect());
    assert!(containerfile.contains(&format!("/dev/tcp/127.0.0.1/{}", settings.operations.bind.port())), "health check");
    let published = document("deploy/compose/single.yml");
    let published: Vec<&str> = strings(&published["services"]["retrieval"]["ports"]);
    let outside = [settings.server.bind, settings.storage.bind].map(|bind| format!("127.0.0.1:{0}:{0}", bind.port()));
    assert_eq!(published, outside, "the internal listener is not published");
    let copied = instruction(&containerfile, "COPY").into_iter().filter(|line| !line.starts_with("--from"));
    for source in copied.map(|line| line.split(' ').next().unwrap()) {
        assert!(path(&format!("../{source}")).exists(), "{source}");
    }
    assert_eq!(settings.data_dir.to_str(), Some("/var/lib/retrieval/data"));
    assert_eq!(instruction(&containerfile, "VOLUME"), ["/var/lib/retrieval"]);
}

#[test]
fn image_is_built_by_the_pinned_compiler_and_runs_without_root() {
    let containerfile = read("deploy/Containerfile");
    let toolchain: toml::Table = read("../rust-toolchain.toml").parse().unwrap();
    let pinned = toolchain["toolchain"]["channel"].as_str().unwrap();
    let image = instruction(&containerfile, "FROM")[0];
    assert!(image.starts_with(&format!("rust:{pinned}-")), "{image}: the toolchain is {pinned}");
    let user = instruction(&containerfile, "USER")[0];
    let pods = ["api", "worker"].map(|name| document(&format!("deploy/kubernetes/{name}.yaml")));
    for pod in pods {
        let context = &pod["spec"]["template"]["spec"]["securityContext"];
        assert_eq!(user, format!("{}:{}", context["runAsUser"], context["runAsGroup"]));
    }
    let entry: Value = serde_json::from_str(instruction(&containerfile, "ENTRYPOINT")[0]).unwrap();
    assert_eq!(strings(&entry), ["retrieval-server", "--config", "/etc/retrieval/settings.toml"]);
}

#[test]
fn documented_backup_goes_to_the_volume_beside_the_data() {
    let (containerfile, page) = (read("deploy/Containerfile"), include_str!("../../../../../docs/deploy.md"));
    let backup = format!("{}/backup", instruction(&containerfile, "VOLUME")[0]);
    let entry: Value = serde_json::from_str(instruction(&containerfile, "ENTRYPOINT")[0]).unwrap();
    for command in [
        format!("compose exec retrieval {} backup {backup}\n", strings(&entry).join(" ")),
        format!("compose cp retrieval:{backup} "),
        format!("compose exec retrieval rm -r {backup}\n"),
    ] {
        assert!(page.contains(&command), "{command}");
    }
    assert_command(&["backup", &backup]);
    let data_dir = settings(&read("deploy/container.toml")).data_dir;
    assert!(!data_dir.starts_with(&backup) && !Path::new(&backup).starts_with(&data_dir), "{}", data_dir.display());
}

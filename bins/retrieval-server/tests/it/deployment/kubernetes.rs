use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::{Value, json};
use settings::Settings;

use super::{AFTER_DRAIN, assert_command, document, path, read, secret_files, settings, strings, yaml};

const FOLDER: &str = "deploy/kubernetes";

/// Returns the objects of the folder by kind and name.
fn objects() -> BTreeMap<(String, String), Value> {
    let resources = document(&format!("{FOLDER}/kustomization.yaml"));
    let documents =
        strings(&resources["resources"]).into_iter().flat_map(|file| yaml(&read(&format!("{FOLDER}/{file}"))));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    documents.map(|object| ((text(&object["kind"]), text(&object["metadata"]["name"])), object)).collect()
}

fn of_kind<'a>(objects: &'a BTreeMap<(String, String), Value>, kind: &str) -> Vec<(&'a str, &'a Value)> {
    let found = objects.iter().filter(|((known, _), _)| known == kind);
    found.map(|((_, name), object)| (name.as_str(), object)).collect()
}

fn settings_toml(objects: &BTreeMap<(String, String), Value>) -> String {
    let [(_, map)] = of_kind(objects, "ConfigMap")[..] else { panic!("one ConfigMap") };
    map["data"]["settings.toml"].as_str().unwrap().to_owned()
}

/// Returns the objects that run pods, with the templates of these.
fn workloads(objects: &BTreeMap<(String, String), Value>) -> Vec<(&str, &Value, &Value)> {
    let found = [of_kind(objects, "Deployment"), of_kind(objects, "Job")].concat();
    found.into_iter().map(|(name, object)| (name, object, &object["spec"]["template"])).collect()
}

fn ports(settings: &Settings) -> BTreeMap<&'static str, u16> {
    [("api", settings.server.bind.port()), ("operations", settings.operations.bind.port())].into()
}

#[test]
fn every_file_is_applied_to_the_namespace() {
    let files = fs::read_dir(path(FOLDER)).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let files: BTreeSet<String> = files.filter(|name| name != "kustomization.yaml").collect();
    let kustomization = document(&format!("{FOLDER}/kustomization.yaml"));
    assert_eq!(files, strings(&kustomization["resources"]).into_iter().map(str::to_owned).collect());
    assert_eq!(kustomization["images"][0]["newTag"], env!("CARGO_PKG_VERSION"));
    let objects = objects();
    let namespace = of_kind(&objects, "Namespace")[0].0;
    assert_eq!(kustomization["namespace"], namespace);
    for ((kind, name), object) in &objects {
        assert!(kind == "Namespace" || object["metadata"]["namespace"] == namespace, "{kind} {name}");
    }
}

#[test]
fn pods_meet_the_restricted_standard_and_run_known_commands() {
    for (name, _, template) in workloads(&objects()) {
        let pod = &template["spec"];
        assert_eq!(pod["securityContext"]["runAsNonRoot"], true, "{name}");
        assert_eq!(pod["securityContext"]["seccompProfile"]["type"], "RuntimeDefault", "{name}");
        assert_eq!(pod["automountServiceAccountToken"], false, "{name}");
        for container in pod["containers"].as_array().unwrap() {
            let expected = json!({
                "allowPrivilegeEscalation": false,
                "readOnlyRootFilesystem": true,
                "capabilities": { "drop": ["ALL"] },
            });
            assert_eq!(container["securityContext"], expected, "{name}");
            assert!(container["resources"]["limits"]["memory"].is_string(), "{name}");
            assert_command(&strings(&container["args"]));
        }
    }
}

#[test]
fn ports_and_probes_are_those_of_the_settings() {
    let objects = objects();
    let settings = settings(&settings_toml(&objects));
    let known = ports(&settings);
    for (name, deployment) in of_kind(&objects, "Deployment") {
        let template = &deployment["spec"]["template"];
        let container = &template["spec"]["containers"][0];
        for port in container["ports"].as_array().unwrap() {
            assert_eq!(port["containerPort"], known[port["name"].as_str().unwrap()], "{name}");
        }
        for (probe, path) in
            [("startupProbe", "/healthz"), ("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")]
        {
            assert_eq!(container[probe]["httpGet"], json!({ "path": path, "port": "operations" }), "{name}: {probe}");
        }
        assert_eq!(
            template["metadata"]["annotations"]["prometheus.io/port"],
            known["operations"].to_string(),
            "{name}"
        );
        // The grace period covers the hook, the drain, and what follows it.
        let grace = template["spec"]["terminationGracePeriodSeconds"].as_u64().unwrap();
        let hook = &container["lifecycle"]["preStop"]["exec"]["command"][1];
        let hook: u64 = hook.as_str().map_or(0, |seconds| seconds.parse().unwrap());
        assert!(grace >= hook + settings.server.drain_seconds + AFTER_DRAIN, "{name}: {grace}");
    }
    let [(_, service)] = of_kind(&objects, "Service")[..] else { panic!("one Service") };
    assert_eq!(service["spec"]["ports"][0]["targetPort"], "api");
    let [(_, policy)] = of_kind(&objects, "NetworkPolicy")[..] else { panic!("one NetworkPolicy") };
    let open = policy["spec"]["ingress"].as_array().unwrap().iter().map(|rule| &rule["ports"][0]["port"]);
    assert_eq!(open.collect::<Vec<_>>(), [&json!(known["api"]), &json!(known["operations"])]);
    let [(_, ingress)] = of_kind(&objects, "Ingress")[..] else { panic!("one Ingress") };
    let host = ingress["spec"]["rules"][0]["host"].as_str().unwrap();
    assert_eq!(settings.server.public_url, format!("https://{host}"));
}

#[test]
fn ingress_leaves_the_limits_to_the_server() {
    let objects = objects();
    let settings = settings(&settings_toml(&objects));
    let [(_, ingress)] = of_kind(&objects, "Ingress")[..] else { panic!("one Ingress") };
    let annotation = |name: &str| {
        let value = &ingress["metadata"]["annotations"][format!("nginx.ingress.kubernetes.io/{name}")];
        value.as_str().unwrap_or_else(|| panic!("{name}: annotations are texts")).to_owned()
    };
    assert_eq!(
        annotation("proxy-body-size"),
        "9m",
        "the API answers larger bodies itself: it reads up to 8 MiB of them"
    );
    let timeout: u64 = annotation("proxy-read-timeout").parse().unwrap();
    assert!(timeout * 1_000 > settings.server.request_timeout_ms, "{timeout}");
    assert_eq!(annotation("proxy-next-upstream"), "off");
    // The network policy admits the namespace of the same controller.
    assert_eq!(ingress["spec"]["ingressClassName"], "nginx");
    assert!(read(&format!("{FOLDER}/network.yaml")).contains("ingress-nginx"));
}

#[test]
fn objects_select_each_other() {
    let objects = objects();
    let labels = |name: &str| {
        let key = ("Deployment".to_owned(), name.to_owned());
        objects.get(&key).unwrap_or_else(|| panic!("no deployment {name}"))["spec"]["template"]["metadata"]["labels"]
            .clone()
    };
    for (name, deployment) in of_kind(&objects, "Deployment") {
        assert_eq!(deployment["spec"]["selector"]["matchLabels"], labels(name), "{name}");
        let budget = &objects[&("PodDisruptionBudget".to_owned(), name.to_owned())];
        assert_eq!(budget["spec"]["selector"]["matchLabels"], labels(name), "{name}");
        let scaler = &objects[&("HorizontalPodAutoscaler".to_owned(), name.to_owned())];
        assert_eq!(scaler["spec"]["scaleTargetRef"]["name"], name);
        assert!(scaler["spec"]["metrics"].to_string().contains("\"cpu\""), "{name}");
    }
    let [(service, object)] = of_kind(&objects, "Service")[..] else { panic!("one Service") };
    assert_eq!(object["spec"]["selector"], labels("retrieval-api"));
    let ingress = &of_kind(&objects, "Ingress")[0].1["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"];
    assert_eq!(ingress["name"], service);
    let scaler = &objects[&("HorizontalPodAutoscaler".to_owned(), "retrieval-worker".to_owned())];
    let queued = scaler["spec"]["metrics"][1]["external"]["metric"]["name"].as_str().unwrap();
    // The rule of the adapter is a comment.
    let rule = read(&format!("{FOLDER}/autoscaling.yaml"));
    assert!(
        rule.contains(&format!("as: {queued} ")) && rule.contains("retrieval_index_runs{state=\"queued\"}"),
        "{queued}"
    );
}

#[test]
fn secrets_are_mounted_where_the_settings_look_for_them() {
    let objects = objects();
    let toml = settings_toml(&objects);
    let files = secret_files(&toml);
    let comment = read(&format!("{FOLDER}/settings.yaml"));
    let keys: BTreeSet<String> = comment
        .lines()
        .take_while(|line| line.starts_with('#'))
        .flat_map(|line| line.split("--from-file=").skip(1).map(|rest| rest.split(' ').next().unwrap()))
        .map(|key| format!("/run/secrets/retrieval/{key}"))
        .collect();
    assert_eq!(files, keys);
    for (name, _, template) in workloads(&objects) {
        let pod = &template["spec"];
        let mounted = pod["containers"][0]["volumeMounts"].as_array().unwrap().iter();
        let mounts: BTreeMap<&str, &str> =
            mounted.map(|mount| (mount["name"].as_str().unwrap(), mount["mountPath"].as_str().unwrap())).collect();
        let expected =
            [("settings", "/etc/retrieval"), ("secrets", "/run/secrets/retrieval"), ("data", "/var/lib/retrieval")];
        assert_eq!(mounts, expected.into(), "{name}");
        let volumes: BTreeSet<&str> =
            pod["volumes"].as_array().unwrap().iter().map(|volume| volume["name"].as_str().unwrap()).collect();
        assert_eq!(volumes, mounts.into_keys().collect(), "{name}");
    }
}

//! Two instances behind nginx that look like one server. A suite that starts a server starts this program instead, and each
//! of its requests reaches the next instance.

use crate::bench::client::Client;
use crate::bench::server::Server;
use crate::services::{self, process};
use crate::{interrupt, shell};
use anyhow::{Context, bail};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;
use toml::{Table, Value};

const INSTANCES: usize = 2;
const NGINX: &str = "nginx";

#[derive(clap::Args)]
pub struct Options {
    /// Server of which two instances run
    #[arg(long, value_name = "FILE")]
    server: PathBuf,
    /// Arguments of the server; all but `serve --config FILE` are for one process
    #[arg(last = true)]
    arguments: Vec<String>,
}

/// Returns why two instances cannot run here.
pub fn absent() -> Option<&'static str> {
    shell::find_program(NGINX).is_none().then_some("no `nginx` on the PATH")
}

/// Writes a program into `folder` that takes the arguments of `server` and calls [`run`]. Returns its path.
///
/// # Errors
///
/// Returns an error if the program cannot be written.
pub fn launcher(server: &Path, folder: &Path) -> anyhow::Result<PathBuf> {
    let program = folder.join("retrieval-server");
    let xtask = std::env::current_exe().context("cannot find this program")?;
    let text = format!("#!/bin/sh\nexec '{}' instances --server '{}' -- \"$@\"\n", xtask.display(), server.display());
    fs::write(&program, text)?;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
    Ok(program)
}

/// Runs `serve --config FILE` as two instances until a termination signal, and all other commands as they are.
///
/// # Errors
///
/// Returns an error if the settings cannot be read, or a program does not start in time.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let arguments: Vec<_> = options.arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["serve", "--config", file] => serve(&options.server, Path::new(file)),
        _ => bail!(Command::new(&options.server).args(arguments).exec()),
    }
}

/// Addresses that a server listens on.
struct Addresses {
    api: String,
    operations: String,
}

fn serve(server: &Path, file: &Path) -> anyhow::Result<ExitCode> {
    interrupt::watch()?;
    let folder = file.parent().context("the settings have no folder")?;
    let settings: Table = fs::read_to_string(file)?.parse()?;
    let public =
        Addresses { api: text(&settings, "server", "bind")?, operations: text(&settings, "operations", "bind")? };
    let mut addresses = Vec::new();
    let mut instances = Vec::new();
    for number in 0..INSTANCES {
        let [api, operations] = services::free_ports()?.map(|port| format!("127.0.0.1:{port}"));
        let own = Addresses { api, operations };
        let mut command = Command::new(server);
        command.args(["serve", "--config"]).arg(file);
        command.env("RETRIEVAL__DATA_DIR", folder.join(format!("data-{number}")));
        command.env("RETRIEVAL__SERVER__BIND", &own.api).env("RETRIEVAL__OPERATIONS__BIND", &own.operations);
        let log = folder.join(format!("instance-{number}.log"));
        instances.push(Server::start(command, &log, &Client::new(&format!("http://{}", own.operations), ""))?);
        addresses.push(own);
    }
    let configuration = folder.join("nginx.conf");
    fs::write(&configuration, nginx(folder, &public, &addresses))?;
    let mut command = process::command(Path::new(NGINX));
    command.arg("-p").arg(folder).arg("-c").arg(&configuration);
    let port = public.api.rsplit(':').next().and_then(|port| port.parse().ok()).context("`server.bind` has no port")?;
    let proxy = process::start(command, NGINX, port)?;
    while !interrupt::caught() {
        std::thread::sleep(Duration::from_millis(10));
    }
    // First, so that no request reaches an instance that is ending.
    drop(proxy);
    Ok(ExitCode::SUCCESS)
}

fn text(settings: &Table, section: &str, name: &str) -> anyhow::Result<String> {
    let value = settings.get(section).and_then(|section| section.get(name)).and_then(Value::as_str);
    Ok(value.with_context(|| format!("`{section}.{name}` is missing"))?.to_owned())
}

/// Returns the configuration of a proxy that gives each request to the next instance. It is one process, so that nothing
/// remains after a `SIGKILL`.
fn nginx(folder: &Path, public: &Addresses, instances: &[Addresses]) -> String {
    let site = |name: &str, address: fn(&Addresses) -> &str| {
        let servers: String = instances.iter().map(|own| format!("server {}; ", address(own))).collect();
        format!(
            "upstream {name} {{ {servers}}}\n\
             server {{ listen {}; location / {{ proxy_pass http://{name}; proxy_http_version 1.1; \
             proxy_set_header Connection \"\"; proxy_set_header Host $http_host; proxy_buffering off; \
             proxy_read_timeout 75s; proxy_next_upstream off; }} }}\n",
            address(public)
        )
    };
    let folder = folder.display();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|kind| format!("{kind}_temp_path {folder}/nginx-{kind};\n"))
        .collect();
    format!(
        "daemon off;\nmaster_process off;\npid {folder}/nginx.pid;\nerror_log {folder}/nginx.log;\n\
         events {{ worker_connections 1024; }}\n\
         http {{\naccess_log off;\nclient_max_body_size 2m;\n{temporary}{}{}}}\n",
        site("api", |addresses| &addresses.api),
        site("operations", |addresses| &addresses.operations),
    )
}

#[cfg(test)]
mod tests {
    use super::{Addresses, nginx};
    use std::path::Path;

    #[test]
    fn proxy_listens_for_the_server_and_names_every_instance() {
        let of = |number| Addresses { api: format!("h:1{number}"), operations: format!("h:2{number}") };
        let text = nginx(Path::new("/f"), &of(0), &[of(1), of(2)]);
        for line in [
            "upstream api { server h:11; server h:12; }\nserver { listen h:10;",
            "upstream operations { server h:21; server h:22; }\nserver { listen h:20;",
        ] {
            assert!(text.contains(line), "{text}");
        }
    }
}

//! Behaviour on a terminal: hidden prompt, widths, sanitized content.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, open};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use serde_json::json;

use crate::mock_server::{MockServer, Reply};
use crate::program::{Home, KEY};

const ID: &str = "5b0f3a52-2a0c-4ad1-9b1b-9cf8a4c4a001";
const COLUMNS: u16 = 40;

/// Pseudo-terminal of 40 columns: the test types into `keyboard`, the program uses `screen`.
pub struct Pty {
    keyboard: File,
    screen: OwnedFd,
}

impl Pty {
    fn open() -> Self {
        Self::of_width(COLUMNS)
    }

    pub fn of_width(columns: u16) -> Self {
        let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&keyboard).unwrap();
        unlockpt(&keyboard).unwrap();
        let name = ptsname(&keyboard, Vec::new()).unwrap();
        let screen = open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        tcsetwinsize(&screen, Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        Self { keyboard: keyboard.into(), screen }
    }

    pub fn start(&self, mut command: Command) -> Child {
        let side = || Stdio::from(self.screen.try_clone().unwrap());
        command.env("TERM", "xterm").stdin(side()).stdout(side()).stderr(side()).spawn().unwrap()
    }

    fn echoes(&self) -> bool {
        tcgetattr(&self.screen).unwrap().local_modes.contains(LocalModes::ECHO)
    }

    /// Returns the complete output after the program has ended.
    pub fn shown(self) -> String {
        let Self { mut keyboard, screen } = self;
        drop(screen);
        let mut bytes = Vec::new();
        let mut part = [0; 4096];
        // After the other side is closed, reading fails instead of returning 0.
        while let Ok(count @ 1..) = keyboard.read(&mut part) {
            bytes.extend_from_slice(&part[..count]);
        }
        String::from_utf8(bytes).unwrap()
    }
}

/// Waits until the prompt has disabled echo.
fn wait_for_prompt(pty: &Pty) {
    let started = Instant::now();
    while pty.echoes() {
        assert!(started.elapsed() < Duration::from_secs(20), "no prompt");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn typed_key_is_hidden() {
    let server = MockServer::start(|request, _| match request.line.as_str() {
        "GET /v1/me" => Reply::error(404, "not_found"),
        _ => Reply::json(200, &json!({ "request_id": ID, "files": [] })),
    });
    let (home, mut pty) = (Home::new(), Pty::open());
    let mut child = pty.start(home.command(&["login", "--base-url", server.address()]));
    wait_for_prompt(&pty);
    pty.keyboard.write_all(format!("{KEY}\n").as_bytes()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(pty.echoes(), "echo is restored");
    let shown = pty.shown();
    assert!(shown.contains("API key for http") && shown.contains("key verified") && !shown.contains(KEY), "{shown}");
    assert!(home.config().is_file());
}

#[test]
fn interrupted_prompt_restores_the_terminal() {
    let (home, pty) = (Home::new(), Pty::open());
    let mut child = pty.start(home.command(&["login"]));
    wait_for_prompt(&pty);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(pty.echoes());
}

#[test]
fn help_fits_the_window() {
    for arguments in [
        &["--help"][..],
        &["search", "--help"],
        &["research", "--help"],
        &["files", "add", "-h"],
        &["mcp", "--help"],
        &["help", "read"],
    ] {
        let pty = Pty::of_width(80);
        let mut child = pty.start(Home::new().command(arguments));
        assert_eq!(child.wait().unwrap().code(), Some(0));
        let shown = pty.shown();
        let plain: Vec<String> = shown.lines().map(without_escapes).collect();
        assert!(plain.len() > 10, "{shown}");
        for line in plain {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}

/// Removes the escape sequences of colours.
fn without_escapes(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or(part, |(_, rest)| rest))
}

#[test]
fn tables_fit_the_window_and_names_are_sanitized() {
    let files = json!([{ "name": "潮".repeat(60), "size": 3, "last_modified": "2026-01-05T10:00:00Z",
        "status": "failed", "reason": "encrypted: \u{1b}[2Jthe document is encrypted and cannot be read" },
        { "name": "\u{1b}[2J.txt", "size": 3_500_000, "last_modified": "2026-01-05T10:00:00Z", "status": "indexed" }]);
    let server = MockServer::start(move |_, _| Reply::json(200, &json!({ "request_id": ID, "files": files })));
    let (home, pty) = (Home::new(), Pty::open());
    let mut child = pty.start(home.command_at(&server, &["files", "list", "--color", "never"]));
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let shown = pty.shown();
    assert!(shown.contains("␛[2J") && !shown.contains('\u{1b}'), "{shown:?}");
    let widths: Vec<usize> =
        shown.lines().map(|line| line.chars().map(|c| if c == '潮' { 2 } else { 1 }).sum()).collect();
    assert!(widths.len() == 3 && widths.iter().all(|width| *width <= usize::from(COLUMNS)), "{shown}");
}

#[test]
fn json_errors_on_a_terminal_are_sanitized_and_equal() {
    let server = MockServer::start(|_, _| Reply::error(400, "\u{9b}2J\u{202e}"));
    let (home, pty) = (Home::new(), Pty::open());
    let mut child = pty.start(home.command_at(&server, &["files", "list", "--json"]));
    assert_eq!(child.wait().unwrap().code(), Some(2));
    let shown = pty.shown();
    assert!(!shown.contains(['\u{9b}', '\u{202e}']), "{shown:?}");
    let error = serde_json::from_str::<serde_json::Value>(&shown).unwrap();
    assert_eq!(error["error"]["code"], "\u{9b}2J\u{202e}");
}

#[test]
fn json_on_a_terminal_is_sanitized_and_equal() {
    let body = json!({ "request_id": ID, "files": [], "note": "\u{9b}2J" });
    let sent = body.clone();
    let server = MockServer::start(move |_, _| Reply::json(200, &sent));
    let (home, pty) = (Home::new(), Pty::open());
    let mut child = pty.start(home.command_at(&server, &["files", "list", "--json"]));
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let shown = pty.shown();
    assert!(!shown.contains('\u{9b}'), "{shown:?}");
    assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), body);
}

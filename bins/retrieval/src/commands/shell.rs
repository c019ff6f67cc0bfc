//! `retrieval completions` and `retrieval man`, generated from the command line definition.

use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::cli::Cli;
use crate::failure::Failure;
use crate::terminal::Terminal;

pub fn completions(shell: Shell, terminal: &Terminal) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "retrieval", &mut script);
    terminal.print(&String::from_utf8_lossy(&script))
}

/// Prints the program's page, or writes the pages of all commands to a folder.
pub fn man(out: Option<&Path>, terminal: &Terminal) -> Result<(), Failure> {
    let Some(folder) = out else {
        let mut page = Vec::new();
        Man::new(Cli::command()).render(&mut page).map_err(Failure::Output)?;
        return terminal.print(&String::from_utf8_lossy(&page));
    };
    let unwritable = |source| Failure::Local { what: format!("cannot write into `{}`", folder.display()), source };
    std::fs::create_dir_all(folder).map_err(unwritable)?;
    clap_mangen::generate_to(Cli::command(), folder).map_err(unwritable)
}

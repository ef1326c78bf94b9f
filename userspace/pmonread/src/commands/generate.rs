// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! `pmonread generate`: man pages and shell completions, for packages.

use crate::{
    args::{Cli, GenerateArgs},
    exit::Exit,
};
use anyhow::Context as _;
use clap::CommandFactory;
use clap_complete::{generate_to, Shell};
use std::{fs, io, path::Path};

pub(crate) fn run(args: &GenerateArgs) -> anyhow::Result<Exit> {
    let folder = &args.folder;
    let failed = || format!("cannot write to {}", folder.display());
    fs::create_dir_all(folder).with_context(failed)?;
    man_pages(folder).with_context(failed)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        generate_to(shell, &mut Cli::command(), "pmonread", folder).with_context(failed)?;
    }
    Ok(Exit::Success)
}

/// Writes a page for the program and each command. Examples and tables keep their lines.
fn man_pages(folder: &Path) -> io::Result<()> {
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    let visible = program.get_subcommands().filter(|c| !c.is_hide_set());
    let commands: Vec<_> = visible.cloned().collect();
    for command in commands.into_iter().chain([program]) {
        let name = command
            .get_display_name()
            .unwrap_or(command.get_name())
            .to_owned();
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page)?;
        let page = String::from_utf8_lossy(&page);
        let page = page.replace(".SH EXTRA\n", ".SH EXAMPLES AND NOTES\n.nf\n");
        fs::write(folder.join(format!("{name}.1")), page)?;
    }
    Ok(())
}

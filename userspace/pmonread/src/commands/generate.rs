// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! `pmonread generate`: man pages and shell completions, for packages.

use crate::{
    args::{Cli, GenerateArgs},
    exit::Exit,
};
use anyhow::Context as _;
use clap::CommandFactory;
use clap_complete::{generate_to, Shell};
use std::fs;

pub(crate) fn run(args: &GenerateArgs) -> anyhow::Result<Exit> {
    let folder = &args.folder;
    let failed = || format!("cannot write to {}", folder.display());
    fs::create_dir_all(folder).with_context(failed)?;
    clap_mangen::generate_to(Cli::command(), folder).with_context(failed)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        generate_to(shell, &mut Cli::command(), "pmonread", folder).with_context(failed)?;
    }
    Ok(Exit::Success)
}

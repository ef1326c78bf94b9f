// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! `pmonread`: counts and samples of the pmon kernel module.

use std::process::ExitCode;

fn main() -> ExitCode {
    pmonread::main()
}

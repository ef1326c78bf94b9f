// SPDX-License-Identifier: GPL-2.0-only

//! Makes the types of `abi` from the kernel's header.

use std::{env, error::Error, path::PathBuf};

const HEADER: &str = "../../include/uapi/linux/pmon.h";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={HEADER}");
    let out = PathBuf::from(env::var("OUT_DIR")?).join("abi.rs");
    bindgen::Builder::default()
        .header(HEADER)
        .allowlist_item("(pmon|PMON)_.*")
        .prepend_enum_name(false)
        .rust_edition(bindgen::RustEdition::Edition2021)
        .generate()?
        .write_to_file(out)?;
    Ok(())
}

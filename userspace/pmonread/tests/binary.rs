// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! The program itself, on a host without the module.

use assert_cmd::Command;
use std::{
    io::Read,
    process::{Command as Plain, Stdio},
};

fn pmonread(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pmonread"));
    command.args(args);
    command
}

#[test]
fn exit_codes_are_those_of_the_help() {
    pmonread(&["--version"])
        .assert()
        .code(0)
        .stdout("pmonread 0.1.0\n");
    pmonread(&[]).assert().code(2);
    pmonread(&["script", "-i", "/dev/null"]).assert().code(1);
}

#[test]
fn a_missing_module_is_explained() {
    if std::path::Path::new("/dev/pmon").exists() {
        return;
    }
    let output = pmonread(&["stat", "-d", "0.1"])
        .assert()
        .code(1)
        .get_output()
        .clone();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text, "pmonread: cannot open /dev/pmon: the module is not loaded; try `modprobe pmon` and look at dmesg (ENOENT)\n");
}

#[test]
fn nobody_has_to_read_to_the_end() {
    let mut child = Plain::new(env!("CARGO_BIN_EXE_pmonread"))
        .arg("list")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut err = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut err)
        .unwrap();
    assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(0), ""));
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! `pmonread script`: prints the records of a file.

use crate::{
    args::ScriptArgs,
    exit::Exit,
    output::{export, Csv, Exporter, Json, Labels, Text},
    Context,
};
use anyhow::Context as _;
use pmon::recording::{Item, RecordingReader, Trailer};
use std::{
    fs::File,
    io::{self, BufReader, Read, Write},
};

pub(crate) fn run(args: &ScriptArgs, cx: &mut Context<'_>) -> anyhow::Result<Exit> {
    let path = &args.input;
    let input: Box<dyn Read> = if path.as_os_str() == "-" {
        Box::new(io::stdin())
    } else {
        let name = path.display();
        Box::new(File::open(path).with_context(|| format!("cannot read {name}"))?)
    };
    let mut reader = RecordingReader::new(BufReader::new(input))?;
    let result = print(args, cx.out, &mut reader);
    // What came before an error stands before its message.
    cx.out.flush()?;
    let trailer = result?;
    if !trailer.adds_up() {
        writeln!(
            cx.err,
            "pmonread: records are missing that nothing accounts for"
        )?;
        return Ok(Exit::Incomplete);
    }
    Ok(Exit::Success)
}

fn print(
    args: &ScriptArgs,
    out: &mut dyn Write,
    reader: &mut RecordingReader<impl Read>,
) -> anyhow::Result<Box<Trailer>> {
    let mut exporter: Box<dyn Exporter + '_> = match args.format.separator() {
        _ if args.format.json => Box::new(Json { out }),
        Some(separator) => Box::new(Csv::new(out, separator)),
        None => Box::new(Text::new(out, &args.fields, args.values)),
    };
    let labels = Labels::new(reader.header());
    exporter.header(reader.header())?;
    loop {
        match reader.read()? {
            Some(Item::Record(merged)) => export(exporter.as_mut(), &merged, &labels)?,
            Some(Item::Trailer(trailer)) => {
                exporter.trailer(&trailer, &labels)?;
                return Ok(trailer);
            }
            None => return Ok(Box::default()),
        }
    }
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! Samples of one CBo: who ran when 100000 lookups in the last-level cache were full?

use pmon::{event, wire::record::Record, RingOptions, Selection, Session};
use std::{
    error::Error,
    time::{Duration, Instant},
};

fn main() -> Result<(), Box<dyn Error>> {
    let lookups = event::parse("cbox0/event=0x34,umask=0x11,state=0x3f,socket=0,period=100000/")?;
    let mut session = Session::open()?;
    session.add(lookups, &Selection::default())?;
    session.make_rings(RingOptions::default())?;

    session.start()?;
    let mut reader = session.reader();
    let end = Instant::now() + Duration::from_secs(5);
    while Instant::now() < end {
        session.wait(None, Duration::from_millis(100))?;
        reader.fill(session.now());
        while let Some(merged) = reader.pop() {
            if let Ok(Record::Sample(s)) = merged?.record() {
                let (cx, at) = (s.context, s.context.time as f64 / 1e9);
                println!("{at:.6} cpu {} pid {} ip {:#x}", cx.cpu, cx.pid, cx.ip);
            }
        }
    }
    session.stop()?;
    Ok(())
}

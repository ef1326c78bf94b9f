// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! Rings in a file in memory, mapped as the kernel's are.

use pmon::{
    abi,
    wire::{
        record::{write_sample, Context, Overflow},
        ring::Producer,
    },
    Errno, Mapping, RingMemory,
};
use rustix::fs::{ftruncate, memfd_create, MemfdFlags};
use std::{
    fs::File,
    os::{fd::AsFd, unix::fs::FileExt},
    rc::Rc,
};

const PAGE: u64 = 4096;

/// The rings, seen by their producer.
pub(crate) struct Rings {
    mapping: Rc<Mapping>,
    producers: Vec<Producer>,
    cpus: Vec<u32>,
}

/// The rings, seen by the session.
struct Shared(Rc<Mapping>);

impl RingMemory for Shared {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn ring(&self, index: usize) -> Option<pmon::wire::ring::Memory<'_>> {
        self.0.ring(index)
    }
}

impl Rings {
    /// A ring of `bytes` for each of `cpus`. `broken` replaces a word of the first page.
    pub(crate) fn new(
        cpus: Vec<u32>,
        bytes: u64,
        flags: u32,
        broken: Option<(usize, u64)>,
    ) -> Result<Self, pmon::Error> {
        let stride = PAGE + bytes;
        let size = PAGE + stride * cpus.len() as u64;
        let fd = memfd_create("pmon-fake", MemfdFlags::CLOEXEC).map_err(failed)?;
        ftruncate(&fd, size).map_err(failed)?;
        let file = File::from(fd);
        let mut first = [
            u64::from(abi::PMON_ABI_VERSION) | ((cpus.len() as u64) << 32),
            PAGE,
            stride,
        ];
        if let Some((field, value)) = broken {
            first[field] = value;
        }
        put(&file, 0, &first)?;
        for (i, &cpu) in (0..).zip(&cpus) {
            let cpu = u64::from(cpu) | (u64::from(flags) << 32);
            put(&file, PAGE + i * stride, &[cpu, PAGE, bytes])?;
        }
        let mapping = Mapping::new(file.as_fd(), size)?;
        let producer = |(i, &cpu)| Some(Producer::new(mapping.ring(i)?, cpu, flags, PAGE, 0, 0));
        let producers = cpus.iter().enumerate().filter_map(producer).collect();
        Ok(Self {
            mapping: Rc::new(mapping),
            producers,
            cpus,
        })
    }

    pub(crate) fn share(&self) -> Box<dyn RingMemory> {
        Box::new(Shared(self.mapping.clone()))
    }

    pub(crate) fn of_cpu(&self, cpu: u32) -> usize {
        self.cpus.iter().position(|&c| c == cpu).unwrap_or(0)
    }

    pub(crate) fn write(
        &mut self,
        ring: usize,
        cx: &Context,
        overflow: &Overflow,
        values: &[(u32, u64)],
    ) {
        let (Some(producer), Some(mem)) = (self.producers.get_mut(ring), self.mapping.ring(ring))
        else {
            return;
        };
        write_sample(producer, mem, cx, overflow, values.iter().copied());
    }

    /// Records lost in all rings.
    pub(crate) fn lost(&self) -> u64 {
        self.producers.iter().map(Producer::lost).sum()
    }

    /// Overwrites the header of the oldest unread record.
    pub(crate) fn damage(&self, ring: usize) {
        if let Some(mem) = self.mapping.ring(ring) {
            let at = mem.page.tail.relaxed() / 8 % mem.data.len() as u64;
            // CAST: below the length of a slice.
            mem.data[at as usize].set_relaxed(u64::MAX);
        }
    }

    /// Overwrites a word of ring 0: of its data, or (`Err`) one of its positions.
    pub(crate) fn poke(&self, place: Result<usize, usize>, value: u64) {
        let Some(mem) = self.mapping.ring(0) else {
            return;
        };
        let page = mem.page;
        let positions = [
            &page.head,
            &page.oldest,
            &page.produced,
            &page.lost,
            &page.tail,
        ];
        match place {
            Ok(index) => mem.data[index % mem.data.len()].set_relaxed(value),
            Err(index) => positions[index % positions.len()].set_relaxed(value),
        }
    }
}

fn put(file: &File, at: u64, words: &[u64]) -> Result<(), pmon::Error> {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_ne_bytes()).collect();
    file.write_all_at(&bytes, at).map_err(|_| failed(Errno::IO))
}

fn failed(errno: Errno) -> pmon::Error {
    pmon::CallError::new(pmon::Call::Rings, "", errno).into()
}

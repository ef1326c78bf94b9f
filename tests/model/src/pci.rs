// SPDX-License-Identifier: GPL-2.0-only
//! PCI configuration space of the uncore's functions, by device id.

use super::access::Access;
use super::model::Model;

/// The UBox's function that tells which bus belongs to which socket.
const UBOX: u16 = 0x0e1e;
/// Offset of its node id: bits 2:0 are this socket's.
const NODE_ID: u32 = 0x40;
/// Offset of its map: three bits a socket, each the node id of that socket.
const NODE_MAP: u32 = 0x54;
/// Sockets in the map.
const MAPPED: usize = 8;

impl Model {
    /// Reads `len` bytes (1, 2 or 4) at `addr` of function `device` of `socket`.
    pub fn pci_read(&self, socket: usize, device: u16, addr: u32, len: u32) -> Access<u32> {
        let Some(register) = self.pci_register(socket, device, addr, len) else {
            return Access::NotMine;
        };
        let value = register >> (8 * (addr & 3));
        Access::Done(if len < 4 {
            value & ((1 << (8 * len)) - 1)
        } else {
            value
        })
    }

    /// Writes at `addr`. The registers that the model has here are read-only and swallow it.
    pub fn pci_write(&mut self, socket: usize, device: u16, addr: u32, len: u32) -> Access<()> {
        match self.pci_register(socket, device, addr, len) {
            Some(_) => Access::Done(()),
            None => Access::NotMine,
        }
    }

    /// The 32-bit register that holds all of the accessed bytes.
    fn pci_register(&self, socket: usize, device: u16, addr: u32, len: u32) -> Option<u32> {
        if device != UBOX || socket >= self.sockets.len() || (addr & 3) + len > 4 {
            return None;
        }
        match addr & !3 {
            // CAST: below 8.
            NODE_ID => Some((socket % MAPPED) as u32),
            NODE_MAP => Some((0..MAPPED).fold(0, |map, i| {
                // Entries of absent sockets must name no node of the machine.
                let node = if i < self.sockets.len() {
                    i
                } else {
                    MAPPED - 1
                };
                // CAST: below 8.
                map | ((node as u32) << (3 * i))
            })),
            _ => None,
        }
    }
}

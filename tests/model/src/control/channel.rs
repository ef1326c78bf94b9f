// SPDX-License-Identifier: GPL-2.0-only
//! The byte stream in which commands come and answers go.

use std::collections::VecDeque;

/// Longest command, bytes. Of a longer line the rest is dropped, which makes it an error.
const MAX_LINE: usize = 4096;

/// One end of the stream.
#[derive(Debug, Default)]
pub(crate) struct Channel {
    line: Vec<u8>,
    answer: VecDeque<u8>,
}

impl Channel {
    /// Takes one byte. Returns the command that it ends.
    pub(crate) fn write(&mut self, byte: u8) -> Option<String> {
        if byte == b'\n' {
            let line = std::mem::take(&mut self.line);
            return Some(String::from_utf8_lossy(&line).into_owned());
        }
        if self.line.len() <= MAX_LINE {
            self.line.push(byte);
        }
        None
    }

    /// Queues the answer to a command.
    pub(crate) fn answer(&mut self, answer: &str) {
        self.answer.extend(answer.bytes());
        self.answer.push_back(b'\n');
    }

    /// Next byte of the answers.
    pub(crate) fn read(&mut self) -> Option<u8> {
        self.answer.pop_front()
    }
}

// SPDX-License-Identifier: GPL-2.0-only

//! Memory of one ring, as the module would map it.

use crate::{
    atomic::Word,
    logic::ring::{Memory, RingPage},
};

const PAGE_WORDS: usize = size_of::<RingPage>() / size_of::<Word>();

/// The page and the data of a ring, all 0.
#[derive(Debug)]
pub struct RingMemory {
    page: Box<[Word]>,
    data: Box<[Word]>,
}

impl RingMemory {
    /// A ring of `words` words of data.
    pub fn new(words: usize) -> Self {
        let zeroed = |n| (0..n).map(|_| Word::default()).collect();
        Self { page: zeroed(PAGE_WORDS), data: zeroed(words) }
    }

    /// Both ends' view.
    pub fn memory(&self) -> Memory<'_> {
        let page: *const Word = self.page.as_ptr();
        // SAFETY: RingPage is nothing but words, as many as there are here, and any bits are valid.
        let page = unsafe { &*page.cast::<RingPage>() };
        Memory { page, data: &self.data }
    }

    /// Memory that is never freed, for a [`crate::logic::output::Output`] with a long life.
    pub fn leaked(words: usize) -> Memory<'static> {
        Box::leak(Box::new(Self::new(words))).memory()
    }

    /// All words of the page, in order: what a hostile program can write.
    pub fn page_words(&self) -> &[Word] {
        &self.page
    }
}

//! Texts that begin with a cache line.

use std::ops::{Deref, DerefMut};

/// Bytes of a cache line, and of the widest register: a load or a store across the border of two lines takes both.
const LINE: usize = 64;

/// Bytes that begin with a cache line, wherever the allocator puts them: a time that depends on where that is would be another
/// one in each run. Storage, network and numeric libraries align their buffers at least so.
#[derive(Default)]
pub struct Aligned {
    /// Up to LINE - 1 bytes more than there are.
    room: Vec<u8>,
    start: usize,
}

impl Aligned {
    /// So many zeros.
    #[must_use]
    pub fn zeros(bytes: usize) -> Self {
        let mut room = vec![0; bytes + LINE - 1];
        let start = room.as_ptr().align_offset(LINE).min(LINE - 1);
        room.truncate(start + bytes);
        Self { room, start }
    }
}

impl From<&[u8]> for Aligned {
    fn from(bytes: &[u8]) -> Self {
        let mut aligned = Self::zeros(bytes.len());
        aligned.copy_from_slice(bytes);
        aligned
    }
}

impl From<Vec<u8>> for Aligned {
    fn from(bytes: Vec<u8>) -> Self {
        bytes.as_slice().into()
    }
}

impl Deref for Aligned {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.room[self.start..]
    }
}

impl DerefMut for Aligned {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.room[self.start..]
    }
}

/// The copy lies elsewhere, and begins with a line as well.
impl Clone for Aligned {
    fn clone(&self) -> Self {
        (**self).into()
    }
}

impl PartialEq for Aligned {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Aligned {}

// Texts are secrets: their contents never reach a log.
impl std::fmt::Debug for Aligned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Aligned({} bytes)", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_begin_with_a_line_and_stay_as_they_are() {
        for bytes in [0, 1, 63, 64, 1000, 1 << 20] {
            let text: Vec<u8> = (0..bytes).map(|index| (index % 251) as u8).collect();
            let aligned = Aligned::from(text.clone());
            for copy in [&aligned, &aligned.clone()] {
                assert_eq!(**copy, *text);
                assert_eq!(copy.as_ptr().addr() % LINE, 0, "{bytes}");
            }
        }
        assert!(Aligned::default().is_empty());
        assert_eq!(format!("{:?}", Aligned::zeros(3)), "Aligned(3 bytes)");
    }
}

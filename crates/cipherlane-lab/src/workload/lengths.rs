//! How long the messages of one's own workload are.

use std::fmt;
use std::ops::RangeInclusive;

use cipherlane::{Algorithm, BLOCK, limits};
use cipherlane_record::units::bytes;

/// Bytes of each message: all of one length, or any length from the least to the most, each about as often as any other; of
/// fewer messages than lengths, those that lie as far apart as they can, of one message the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    least: usize,
    most: usize,
}

impl Lengths {
    /// Messages of `bytes` bytes.
    #[must_use]
    pub const fn of(bytes: usize) -> Self {
        Self { least: bytes, most: bytes }
    }

    /// Messages of `least` to `most` bytes; `None` if these are no range.
    #[must_use]
    pub const fn between(least: usize, most: usize) -> Option<Self> {
        if least <= most { Some(Self { least, most }) } else { None }
    }

    /// The one length, if it is one.
    #[must_use]
    pub const fn one(self) -> Option<usize> {
        if self.least == self.most { Some(self.most) } else { None }
    }

    /// Bytes of the shortest message.
    #[must_use]
    pub const fn least(self) -> usize {
        self.least
    }

    /// Bytes of the longest message.
    #[must_use]
    pub const fn most(self) -> usize {
        self.most
    }

    /// Bytes of a message on average, rounded up.
    #[must_use]
    pub const fn mean(self) -> usize {
        self.least + (self.most - self.least).div_ceil(2)
    }

    /// Those that `algorithm` takes, and how many bytes lie between them; `None` if it takes none of them, or not the longest.
    #[must_use]
    pub fn taken_by(self, algorithm: Algorithm) -> Option<(RangeInclusive<usize>, usize)> {
        let (_, takes) = limits::text_bytes(algorithm);
        let takes = |&bytes: &usize| takes(bytes as u64);
        // Whole blocks, or any number of bytes, of some from one block on.
        let step = if takes(&(BLOCK + 1)) { 1 } else { BLOCK };
        let least = (self.least..=self.most).take(BLOCK + 1).find(takes)?;
        let most = (self.least..=self.most).rev().take(BLOCK).find(takes)?;
        Some((least..=most, step))
    }
}

impl From<usize> for Lengths {
    fn from(bytes: usize) -> Self {
        Self::of(bytes)
    }
}

impl fmt::Display for Lengths {
    /// `16 KiB`, or `16 B to 2 KiB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.least < self.most {
            write!(f, "{} to ", bytes(self.least as u64))?;
        }
        f.write_str(&bytes(self.most as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_of_what_the_algorithm_takes() {
        let lengths = Lengths::between(10, 50).unwrap();
        let of = |name: &str| lengths.taken_by(name.parse().unwrap());
        assert_eq!(of("aes-128-cbc"), Some((16..=48, 16)));
        assert_eq!(of("aes-128-xts"), Some((16..=50, 1)));
        assert_eq!(of("sha-256"), Some((10..=50, 1)));
        let none = Lengths::between(17, 31).unwrap();
        assert_eq!(none.taken_by("sm4-ecb".parse().unwrap()), None);
        assert_eq!((lengths.mean(), lengths.most(), lengths.one()), (30, 50, None));
        assert_eq!((Lengths::of(7).mean(), Lengths::of(7).one()), (7, Some(7)));
        assert_eq!(Lengths::between(2, 1), None);
    }

    #[test]
    fn they_are_told_in_words() {
        assert_eq!(Lengths::of(16 << 10).to_string(), "16 KiB");
        assert_eq!(Lengths::between(16, 2048).unwrap().to_string(), "16 B to 2 KiB");
    }
}

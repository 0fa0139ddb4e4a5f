//! Which messages a pipeline runs.

use crate::cipher::Permutation;
use crate::lanes::Lanes;
use crate::mode::gcm::Direction;

/// Messages with a key each, in sets of as many as a register has lanes.
pub(in super::super) trait Members<T: Lanes>: Copy {
    /// The texts of a set.
    type Texts: Texts<T>;

    /// How many sets they are: two at least.
    fn sets(&self) -> usize;

    /// Passes that each message goes through the cipher in.
    fn passes(&self) -> usize;

    /// The key of a lane.
    fn key(&self, set: usize, lane: usize) -> &[u8];

    /// The nonces of 12 bytes, then zeros.
    fn nonces(&self, isa: T::Isa, set: usize) -> T;

    /// Bytes of the AAD of each.
    fn aad_bytes(&self) -> usize;

    /// Block `block` of the AAD, bytes reversed.
    fn aad(&self, isa: T::Isa, set: usize, block: usize) -> T;

    /// The texts.
    fn texts(&self, isa: T::Isa, set: usize) -> Self::Texts;

    /// Stores the tags of a set, or compares them.
    fn conclude<D: Direction>(&self, set: usize, tags: T);
}

/// Where a register of a text lies: message, pass, and register of the pass.
pub(super) type Place = (usize, usize, usize);

/// The texts of a set, as passes of some blocks.
pub(in super::super) trait Texts<T: Lanes>: Copy {
    /// Whether input and output are the same.
    fn are_in_place(&self) -> bool;

    /// The counter blocks of a pass on `nonces`, whitened. Of blocks that are not there: anything.
    fn count<P: Permutation<Isa = T::Isa>>(&self, cipher: &P, nonces: T, pass: usize, blocks: &mut [T]);

    /// What is there of a register of the input, or of the OUTPUT, the rest zero.
    ///
    /// # Safety
    /// It is readable.
    unsafe fn load<const OUTPUT: bool>(&self, isa: T::Isa, place: Place) -> T;

    /// Stores what is there of a register to the output.
    ///
    /// # Safety
    /// It is writable.
    unsafe fn store(&self, x: T, place: Place);

    /// Block `index` of the first pass, with `aad` added where it is the first of a message.
    fn with_aad(&self, block: T, index: usize, aad: T) -> T;

    /// The blocks of lengths, their bytes reversed, where AAD has `aad_bytes`.
    fn lengths(&self, isa: T::Isa, aad_bytes: usize) -> T;
}

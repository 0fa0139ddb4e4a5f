//! Registers with instructions for AES.

use cipherlane_core::BLOCK;

use super::Lanes;

/// Registers with one AES round per instruction (FIPS 197 section 5; decryption as in section 5.3.5).
pub(crate) trait AesLanes: Lanes {
    /// SubBytes, ShiftRows, MixColumns, AddRoundKey.
    fn aes_encrypt_round(self, key: Self) -> Self;
    /// SubBytes, ShiftRows, AddRoundKey.
    fn aes_encrypt_last(self, key: Self) -> Self;
    /// InvSubBytes, InvShiftRows, InvMixColumns, AddRoundKey.
    fn aes_decrypt_round(self, key: Self) -> Self;
    /// InvSubBytes, InvShiftRows, AddRoundKey.
    fn aes_decrypt_last(self, key: Self) -> Self;

    /// Whether there is [`AesLanes::aes_gcm`] for such registers.
    const WEAVES: bool = false;

    /// Encrypts and hashes `groups` with all ROUNDS + 1 of `keys`, in instructions of our own order, and returns the state
    /// of their hash.
    ///
    /// # Safety
    /// These WEAVE, and the caller keeps what [`Woven`] asks for.
    #[inline(always)]
    unsafe fn aes_gcm<const ROUNDS: usize>(_keys: *const Self, _groups: Woven<Self>) -> Self {
        unreachable!("in registers that weave alone")
    }

    /// Whether there is [`AesLanes::aes_cbc`] for such registers.
    const RUNS_ABREAST: bool = false;

    /// Encrypts `streams` in CBC mode with all ROUNDS + 1 of `keys`, in instructions of our own order, and returns the last
    /// block of each of the last set.
    ///
    /// # Safety
    /// These RUN_ABREAST, and the caller keeps what [`Abreast`] asks for.
    #[inline(always)]
    unsafe fn aes_cbc<const ROUNDS: usize>(
        _keys: *const Self,
        _streams: Abreast<'_, Self>,
    ) -> [Self; ABREAST] {
        unreachable!("in registers that run abreast alone")
    }
}

/// Registers of [`Abreast`] streams.
pub(crate) const ABREAST: usize = 8;

/// Sets of streams of CBC encryption, one set behind the other, on two stages: blocks on one are encrypted while those on the
/// other leave it for their streams, and the next ones enter, of the same set or of the next.
///
/// Stages have room for `steps` rows of ABREAST registers.
#[derive(Clone, Copy)]
pub(crate) struct Abreast<'a, V> {
    /// One at least.
    pub(crate) sets: &'a [Set],
    pub(crate) stages: [*mut V; 2],
    /// Blocks of a stream on a stage: 8 or 16.
    pub(crate) steps: usize,
}

/// Streams that run together, one in each lane of ABREAST registers: arrays of as many.
///
/// Each has `count * steps` blocks, `first * steps` behind its input and its output, which are the same or apart, and apart from
/// those of all other streams of a call, unless what is read there does not matter.
#[derive(Clone, Copy)]
pub(crate) struct Set {
    pub(crate) inputs: *const *const u8,
    pub(crate) outputs: *const *mut u8,
    /// The block before the first one of each stream that begins. Those of others are not read.
    pub(crate) chains: *const [u8; BLOCK],
    /// Which streams begin, two bits for each, as for its 64-bit words: of the first set all. The others go on where those in
    /// their lanes of the set before have ended.
    pub(crate) begin: u64,
    /// Number of the first stage.
    pub(crate) first: usize,
    /// Stages, one at least.
    pub(crate) count: usize,
}

impl Set {
    /// What has all streams begin.
    pub(crate) const ALL: u64 = u64::MAX;
}

/// Registers of a [`Woven`] group.
pub(crate) const WOVEN: usize = 8;

/// Consecutive groups of GCM: registers to encrypt or to decrypt, and as many to hash meanwhile.
///
/// Of each group, a register of `hashed` is read before that of `output` is written. `input`, `output` and `hashed` are
/// good for WOVEN registers a group; `powers` begin at H^(LANES * WOVEN), times x, as GHASH keeps them.
#[derive(Clone, Copy)]
pub(crate) struct Woven<V> {
    pub(crate) counters: Begun<V>,
    pub(crate) input: *const u8,
    pub(crate) output: *mut u8,
    /// Ciphertext.
    pub(crate) hashed: *const u8,
    /// The hash before it, in the pending form.
    pub(crate) state: V,
    /// Powers of H, falling.
    pub(crate) powers: *const u8,
    /// The sums of the halves of every LANES-th of them, WOVEN registers, each of which has one in every lane.
    pub(crate) sums: *const u8,
}

/// Counter blocks after their first round: each of `effects`, XORed with what it shares with the others up to the next
/// overflow of its last byte, which is in the last register of a group.
#[derive(Clone, Copy)]
pub(crate) struct Begun<V> {
    /// What the blocks before the first overflow share, in every lane.
    pub(crate) rest: V,
    /// That of the blocks behind the first overflow, behind the next one, and so on.
    pub(crate) rests: *const [u8; BLOCK],
    /// That of the first block, followed by those of all up to the first overflow and of its group. That of a block behind
    /// it lies [`TURN`] blocks before, and so on.
    pub(crate) effects: *const u8,
    /// Groups without an overflow before the first one with it.
    pub(crate) ahead: usize,
    /// Blocks in a group that are behind its overflow, fewer than LANES.
    pub(crate) behind: usize,
    /// Groups of them, one at least.
    pub(crate) groups: usize,
}

impl<V> Begun<V> {
    /// `groups` groups without an overflow.
    pub(crate) const fn alike(rest: V, effects: *const u8, groups: usize) -> Self {
        Self { rest, rests: std::ptr::null(), effects, ahead: groups, behind: 0, groups }
    }
}

/// Blocks from one overflow to the next.
pub(crate) const TURN: usize = 256;

//! The arguments of every entry point: the same list for all, so that a runtime has one way to launch.
//!
//! `c/abi.h` declares them in the same order.

/// Name of the `__constant__` array of CUDA modules that holds the schedule of a shared key.
pub const SCHEDULE_SYMBOL: &str = "cipherlane_schedule";

/// The pointers, in the order in which an entry point takes them; [`Params`] by value comes last.
///
/// A pointer that an algorithm has no use for may be null, or any buffer where null cannot be passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// Input texts: the byte at text offset `o` is `in[o - text_base]`.
    In,
    /// Output texts, at the same offsets. In place: the same pointer as `In`, and the flag says so.
    Out,
    /// `u64[n + 1]`: message `i` is `offsets[i]..offsets[i + 1]`. `i` counts from 0 for all per-message columns.
    Offsets,
    /// `u64[n + 1]`: tiles of all messages before message `i`. Unused if `uniform_tiles` is set or there is no tiling.
    Tiles,
    /// `u32[end_message - first_message]`: the order in which a thread per message takes them, as distances from
    /// `first_message`. Threads of a warp then meet messages of like length. Read only with [`ORDERED`].
    Order,
    /// Keys, one per `key_stride` bytes.
    Keys,
    /// Nonces: `nonce_bytes` bytes every `nonce_stride`, or ragged.
    Nonces,
    /// `u64[n + 1]` where nonces are ragged.
    NonceOffsets,
    /// AAD: `aad_bytes` bytes every `aad_stride`, or ragged.
    Aad,
    /// `u64[n + 1]` where AAD is ragged.
    AadOffsets,
    /// Tags or digests, a row every `tag_stride` bytes: written by `seal` and `hash`, read by `open`.
    Tags,
    /// `u8[n]`: bytes of each tag. Read only with [`TAGS_EACH`].
    TagLengths,
    /// `u8[n]`, written by `open`: 1 where the tag was right, else 0.
    Accepted,
    /// Workspace of [`crate::manifest::Layout::bytes`] bytes.
    Work,
    /// The schedule of a shared key, in constant memory (OpenCL); any pointer in CUDA.
    Schedule,
}

impl Argument {
    /// All of them, in order.
    pub const ALL: [Self; 15] = [
        Self::In,
        Self::Out,
        Self::Offsets,
        Self::Tiles,
        Self::Order,
        Self::Keys,
        Self::Nonces,
        Self::NonceOffsets,
        Self::Aad,
        Self::AadOffsets,
        Self::Tags,
        Self::TagLengths,
        Self::Accepted,
        Self::Work,
        Self::Schedule,
    ];
}

/// Bit of [`Params::flags`]: `out` is `in`.
pub const IN_PLACE: u32 = 1;
/// Bit of [`Params::flags`]: nonces lie at `nonce_offsets`.
pub const NONCES_RAGGED: u32 = 2;
/// Bit of [`Params::flags`]: AAD lies at `aad_offsets`.
pub const AAD_RAGGED: u32 = 4;
/// Bit of [`Params::flags`]: messages are taken in `order`.
pub const ORDERED: u32 = 8;
/// Bit of [`Params::flags`]: tag `i` has `tag_lengths[i]` bytes.
pub const TAGS_EACH: u32 = 16;

/// The sizes of a launch, passed by value as the last argument: 16 `u64`, then two `u32`, no padding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Params {
    /// First message of the launch. Rows of the workspace are counted from it.
    pub first_message: u64,
    /// One past the last message.
    pub end_message: u64,
    /// First tile of the launch, in the numbering of `tiles`: tile 0 is the first tile of message 0.
    pub first_tile: u64,
    /// One past the last tile.
    pub end_tile: u64,
    /// Tiles of each message if all have equally many, else 0.
    pub uniform_tiles: u64,
    /// The text offset whose byte is `in[0]` and `out[0]`.
    pub text_base: u64,
    /// Bytes from key to key; 0 if all messages share the first.
    pub key_stride: u64,
    /// Bytes from nonce to nonce; 0 if all messages share the first.
    pub nonce_stride: u64,
    /// Bytes of each nonce, unless ragged.
    pub nonce_bytes: u64,
    /// Bytes from AAD to AAD; 0 if all messages share the first.
    pub aad_stride: u64,
    /// Bytes of each AAD, unless ragged.
    pub aad_bytes: u64,
    /// Bytes from tag to tag.
    pub tag_stride: u64,
    /// Where in `work` the round keys are: one row per key.
    pub schedule_at: u64,
    /// Where in `work` what GHASH needs of a key is: one row per key.
    pub hash_at: u64,
    /// Where in `work` the state of messages is: one row per message.
    pub state_at: u64,
    /// Where in `work` the state of tiles is: one row per tile of the launch.
    pub chain_at: u64,
    /// Bytes of each tag or digest, unless each has its own.
    pub tag_bytes: u32,
    /// The bits above.
    pub flags: u32,
}

impl Params {
    /// Bytes of the structure in C.
    pub const BYTES: usize = 16 * 8 + 2 * 4;

    /// The structure as C lays it out, in the host's byte order.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let words = [
            self.first_message,
            self.end_message,
            self.first_tile,
            self.end_tile,
            self.uniform_tiles,
            self.text_base,
            self.key_stride,
            self.nonce_stride,
            self.nonce_bytes,
            self.aad_stride,
            self.aad_bytes,
            self.tag_stride,
            self.schedule_at,
            self.hash_at,
            self.state_at,
            self.chain_at,
        ];
        let mut bytes = [0; Self::BYTES];
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_ne_bytes());
        }
        bytes[128..132].copy_from_slice(&self.tag_bytes.to_ne_bytes());
        bytes[132..].copy_from_slice(&self.flags.to_ne_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structure_is_laid_out_as_in_c() {
        assert_eq!(size_of::<Params>(), Params::BYTES);
        let params = Params { text_base: 7, chain_at: 8, tag_bytes: 9, flags: 10, ..Params::default() };
        let bytes = params.to_bytes();
        assert_eq!((bytes[40], bytes[120], bytes[128], bytes[132]), (7, 8, 9, 10));
    }

    #[test]
    fn the_header_names_the_arguments_in_this_order() {
        let header = include_str!("../c/abi.h");
        let list = &header[header.find("#define ARGUMENTS").unwrap()..];
        let list = &list[..list.find("params_t p\n").unwrap()];
        let names: Vec<_> = list
            .split(',')
            .filter_map(|part| part.split(['*', ' ', '\n', '\\']).rfind(|word| !word.is_empty()))
            .map(|name| name.replace('_', ""))
            .collect();
        let ours: Vec<_> = Argument::ALL.iter().map(|a| format!("{a:?}").to_lowercase()).collect();
        assert_eq!(names, ours);
    }
}

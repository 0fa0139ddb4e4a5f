//! SHA-3 and SHAKE as FIPS 202 writes them down, and Keccak with the padding that it was submitted with. Section
//! numbers are that standard's.
//!
//! Every message is whole bytes, so the suffix of section 6 and the first bit of the padding are one byte, lowest bit
//! first (appendix B.2).

/// Suffix 01 and the first bit of pad10*1 (section 6.1).
pub const SHA3: u8 = 0b110;
/// Suffix 1111 and the first bit of pad10*1 (section 6.2).
pub const SHAKE: u8 = 0b1_1111;
/// No suffix, as in "The Keccak SHA-3 submission" (version 3, 2011): the first bit of pad10*1.
pub const KECCAK: u8 = 0b1;

/// KECCAK[8 * (200 - `rate`)] of `message` and the suffix: the sponge construction (section 4, algorithm 8) with the
/// permutation KECCAK-p[1600, 24] and the padding pad10*1 (section 5).
///
/// `rate` is in bytes; `suffix` holds the bits that follow the message, the first one of the padding included.
///
/// # Panics
/// If `rate` is not a multiple of 8 from 8 to 192.
pub fn sponge(rate: usize, suffix: u8, message: &[u8], digest: &mut [u8]) {
    assert!((8..200).contains(&rate) && rate.is_multiple_of(8), "the sponge has no rate of {rate} bytes");
    let mut state: State = Default::default();
    let mut padded = message.to_vec();
    padded.push(suffix);
    padded.resize(padded.len().next_multiple_of(rate), 0);
    // The last bit of pad10*1.
    if let Some(last) = padded.last_mut() {
        *last ^= 0x80;
    }
    for block in padded.chunks_exact(rate) {
        for (lane, bytes) in state.as_flattened_mut().iter_mut().zip(block.as_chunks().0) {
            *lane ^= u64::from_le_bytes(*bytes);
        }
        keccak_p(&mut state);
    }
    for (index, part) in digest.chunks_mut(rate).enumerate() {
        if index > 0 {
            keccak_p(&mut state);
        }
        let bytes = state.as_flattened().iter().flat_map(|lane| lane.to_le_bytes());
        part.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
    }
}

/// The state of section 3.1: lane (x, y) is `state[y][x]`.
type State = [[u64; 5]; 5];

/// KECCAK-p[1600, 24], algorithm 7.
fn keccak_p(state: &mut State) {
    for round_constant in ROUND_CONSTANTS {
        // Rnd (section 3.3).
        *state = chi(&pi(&rho(&theta(state))));
        // iota (section 3.2.5).
        state[0][0] ^= round_constant;
    }
}

/// Algorithm 1 (section 3.2.1).
fn theta(state: &State) -> State {
    let c: [u64; 5] = std::array::from_fn(|x| state.iter().fold(0, |sum, plane| sum ^ plane[x]));
    let d: [u64; 5] = std::array::from_fn(|x| c[(x + 4) % 5] ^ c[(x + 1) % 5].rotate_left(1));
    state.map(|plane| std::array::from_fn(|x| plane[x] ^ d[x]))
}

/// Algorithm 2 (section 3.2.2).
fn rho(state: &State) -> State {
    std::array::from_fn(|y| std::array::from_fn(|x| state[y][x].rotate_left(OFFSETS[y][x])))
}

/// Algorithm 3 (section 3.2.3).
fn pi(state: &State) -> State {
    std::array::from_fn(|y| std::array::from_fn(|x| state[x][(x + 3 * y) % 5]))
}

/// Algorithm 4 (section 3.2.4).
fn chi(state: &State) -> State {
    state.map(|plane| std::array::from_fn(|x| plane[x] ^ !plane[(x + 1) % 5] & plane[(x + 2) % 5]))
}

/// The offsets of algorithm 2 modulo 64, which table 2 prints, computed when this is compiled.
const OFFSETS: [[u32; 5]; 5] = offsets();

const fn offsets() -> [[u32; 5]; 5] {
    let mut offsets = [[0; 5]; 5];
    let (mut x, mut y, mut t) = (1, 0, 0);
    while t < 24 {
        offsets[y][x] = (t + 1) * (t + 2) / 2 % 64;
        (x, y) = (y, (2 * x + 3 * y) % 5);
        t += 1;
    }
    offsets
}

/// RC of algorithm 6 for every round, computed when this is compiled.
const ROUND_CONSTANTS: [u64; 24] = round_constants();

/// Algorithm 6 (section 3.2.5), steps 2 and 3: bit 2^j - 1 of round i is rc(j + 7i).
const fn round_constants() -> [u64; 24] {
    let mut constants = [0; 24];
    let mut register = 1;
    let mut t = 0;
    while t < 24 * 7 {
        constants[t / 7] |= (register as u64 & 1) << ((1 << (t % 7)) - 1);
        register = shifted(register);
        t += 1;
    }
    constants
}

/// One turn of algorithm 5, rc. Its register is written there with R[0] first; here R[0] is bit 0.
const fn shifted(register: u8) -> u8 {
    // R = 0 || R, then R[0], R[4], R[5] and R[6] take R[8].
    (register << 1) ^ ((register >> 7) * 0b0111_0001)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors::hex::encode;

    fn digest(rate: usize, suffix: u8, message: &[u8], bytes: usize) -> String {
        let mut digest = vec![0; bytes];
        sponge(rate, suffix, message, &mut digest);
        encode(&digest)
    }

    /// The round constants as "The Keccak reference" (version 3.0, 2011) prints them in table 1.
    #[test]
    fn round_constants_as_published() {
        let published = [0x1, 0x8082, 0x8000_0000_0000_808a, 0x8000_0000_8000_8000, 0x808b, 0x8000_0001];
        assert_eq!(ROUND_CONSTANTS[..6], published);
        assert_eq!(ROUND_CONSTANTS[23], 0x8000_0000_8000_8008);
    }

    /// NIST's examples for FIPS 202: no message, and 1600 bits of a3, which fill more than a block of every rate.
    #[test]
    fn examples_of_sha_3() {
        for (rate, bytes, empty, long) in [
            (
                144,
                28,
                "6b4e03423667dbb73b6e15454f0eb1abd4597f9a1b078e3f5b5a6bc7",
                "9376816aba503f72f96ce7eb65ac095deee3be4bf9bbc2a1cb7e11e0",
            ),
            (
                136,
                32,
                "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a",
                "79f38adec5c20307a98ef76e8324afbfd46cfd81b22e3973c65fa1bd9de31787",
            ),
            (
                104,
                48,
                "0c63a75b845e4f7d01107d852e4c2485c51a50aaaa94fc61995e71bbee983a2ac3713831264adb47fb6bd1e058d5f004",
                "1881de2ca7e41ef95dc4732b8f5f002b189cc1e42b74168ed1732649ce1dbcdd76197a31fd55ee989f2d7050dd473e8f",
            ),
            (
                72,
                64,
                "a69f73cca23a9ac5c8b567dc185a756e97c982164fe25859e0d1dcc1475c80a6\
                 15b2123af1f5f94c11e3e9402c3ac558f500199d95b6d3e301758586281dcd26",
                "e76dfad22084a8b1467fcf2ffa58361bec7628edf5f3fdc0e4805dc48caeeca8\
                 1b7c13c30adf52a3659584739a2df46be589c51ca1a4a8416df6545a1ce8ba00",
            ),
        ] {
            assert_eq!(digest(rate, SHA3, b"", bytes), empty);
            assert_eq!(digest(rate, SHA3, &[0xa3; 200], bytes), long);
        }
    }

    /// NIST's examples for the extendable-output functions, and more than a block of output.
    #[test]
    fn examples_of_shake() {
        assert_eq!(digest(168, SHAKE, b"", 16), "7f9c2ba4e88f827d616045507605853e");
        assert_eq!(digest(136, SHAKE, b"", 16), "46b9dd2b0ba88d13233b3feb743eeb24");
        let long = digest(168, SHAKE, &[0xa3; 200], 512);
        assert!(long.starts_with("131ab8d2b594946b9c81333f9bb6e0ce75c3b93104fa3469d3917457385da037"));
        assert!(long.ends_with("44c9fb359fd56ac0a9a75a743cff6862f17d7259ab075216c0699511643b6439"));
        assert!(long.starts_with(&digest(168, SHAKE, &[0xa3; 200], 400)));
    }

    /// From the known answers of the submission (KeccakKAT-3).
    #[test]
    fn examples_of_keccak() {
        assert_eq!(
            digest(136, KECCAK, b"", 32),
            "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"
        );
        assert_eq!(digest(144, KECCAK, b"", 28), "f71837502ba8e10837bdd8d365adb85591895602fc552b48b7390abd");
        assert_eq!(
            digest(136, KECCAK, &[0xcc], 32),
            "eead6dbfc7340a56caedc044696a168870549a6a7f6f56961e84a54bd9970b8a"
        );
    }
}

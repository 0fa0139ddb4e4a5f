//! GCM on GPUs: what hashing adds to a block, and what a message costs besides its blocks. Counts are those of the machine
//! code, on the paths that aligned texts of whole blocks take.

use cipherlane::{Cipher, Mode, Shape};

use super::ciphers::{Start, aes_rounds, around, is_aes, rounds};
use super::{Mix, NONE};

/// A product of GHASH (`c/primitive/ghash.h`): nine of 32 bits, of sixteen products of words each, and what masks, adds and
/// folds around them.
const PRODUCT: Mix = Mix { wide: 144.0, logic: 250.0, shifts: 13.0, permutations: 4.0, ..NONE };
/// The same by a loop, which selects what it multiplies.
const SMALL_PRODUCT: Mix = Mix { wide: 144.0, logic: 300.0 + 48.0, sums: 12.0, ..NONE };
/// A power of H squared.
const SQUARE: Mix = Mix { logic: 79.0, shifts: 20.0, products: 45.0, sums: 3.0, ..NONE };
/// A lane's part of the matrix of a power of H (`c/primitive/ghash_mma.h`): 48 words, which it keeps.
/// Counted from the text.
const MATRIX: Mix = Mix { look_ups: 48.0, shifts: 90.0, permutations: 52.0, logic: 45.0, ..NONE };
/// An expanded key of AES without tables, in a stage of its own.
const EXPANSION: Mix = Mix { logic: 889.0, shifts: 80.0, permutations: 12.0, products: 77.0, ..NONE };
/// An entry of the table of counters: the columns of a round without its counter, twelve look-ups, and 15 for the next.
const ENTRY: Mix = Mix { look_ups: 27.0, permutations: 27.0, logic: 27.0, ..NONE };
/// What a lane does for the table of a tile's counters: an entry, which it stores.
const TABLE: Mix = Mix { look_ups: 27.0 + 4.0, ..ENTRY };
/// Lanes that walk a tile.
const LANES: f64 = 32.0;

/// How a kernel goes about its messages, by its file in `c/entry`.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// `gcm_long.c`: the lanes of all blocks share a message.
    Long,
    /// `gcm_records.c`: a tile for 32 lanes, under one key.
    Records,
    /// `gcm_each.c`: the same under a key each.
    Each,
    /// `gcm_message.c`: a message for each lane.
    Message,
    /// `gcm.c`: a tile for 32 lanes, without tensor cores.
    Tiles,
}

impl Form {
    fn of(kernel: &str) -> Self {
        let forms = [
            ("-mma/", Self::Long),
            ("-mma-records/", Self::Records),
            ("-mma-each/", Self::Each),
            ("-message/", Self::Message),
        ];
        forms.into_iter().find(|(name, _)| kernel.contains(name)).map_or(Self::Tiles, |(_, form)| form)
    }
}

/// A block of a message, with its share of what the message costs; `None` where keys of other ciphers than AES are expanded
/// for each message.
pub(super) fn block(cipher: Cipher, shape: &Shape, kernel: &str) -> Option<Mix> {
    if !shape.shared_key && !is_aes(cipher) {
        return None;
    }
    let form = Form::of(kernel);
    let start = match form {
        Form::Long => Start::Split,
        Form::Records | Form::Each => Start::Shared,
        Form::Message => Start::Kept,
        Form::Tiles => Start::Whole,
    };
    let counted = rounds(cipher, start, kernel)?;
    let block = counted.with(around(Mode::Ctr, false));
    let blocks = shape.longest.div_ceil(16).max(1) as f64;
    let whole = rounds(cipher, Start::Whole, kernel)?;
    let message = message(form, counted, whole, cipher, shape.shared_key);
    Some(block.with(hash(form, cipher, shape.shared_key)).with(message.times(1.0 / blocks)))
}

/// What hashing adds to a block, and fetching its key.
fn hash(form: Form, cipher: Cipher, shared_key: bool) -> Mix {
    let key_words = 4.0 * (aes_rounds(cipher) + 1.0);
    // Three of the four products of 64 x 64 bits that a block takes, on tensor cores; of the counts the lowest bits are kept.
    let by_tensor_cores = Mix { matrix_bits: 3.0 * 64.0 * 64.0, ..NONE };
    match form {
        // Twelve words of the matrix, which eight blocks share, and two words from other lanes. Where counters are looked
        // up, it is in two tables.
        Form::Long => {
            Mix { look_ups: 12.0 + 2.0 + 4.0, logic: 17.0, sums: 8.0, products: 17.0, ..by_tensor_cores }
        }
        Form::Records => {
            Mix { look_ups: 12.0 + 2.0, logic: 17.0, sums: 8.0, products: 17.0, ..by_tensor_cores }
        }
        // 24 words, which two blocks share; and the key, which four do.
        Form::Each => Mix {
            look_ups: 24.0 + 2.0 + key_words / 4.0,
            logic: 32.0,
            sums: 6.0,
            products: 31.0,
            ..by_tensor_cores
        },
        Form::Message => PRODUCT.with(Mix { sums: 20.0, ..NONE }),
        Form::Tiles if shared_key => PRODUCT,
        Form::Tiles => PRODUCT.with(Mix { look_ups: key_words, ..NONE }),
    }
}

/// What a message costs besides its blocks, of which one is `counted` as a counter and `cipher_block` as any other.
fn message(form: Form, counted: Mix, cipher_block: Mix, cipher: Cipher, shared_key: bool) -> Mix {
    // The block that masks the tag, and the product of the lengths.
    let ends = cipher_block.with(PRODUCT);
    // The sum of a tile, which takes the power of what comes after it.
    let finish = ends.with(SMALL_PRODUCT);
    let of_lanes = |mix: Mix| finish.with(mix.times(LANES));
    let message = match form {
        Form::Message => return walk(counted, cipher_block, cipher, shared_key),
        Form::Long => NONE,
        Form::Records => of_lanes(SMALL_PRODUCT.with(TABLE)),
        // A power for the matrix, and two products of what is left at the end.
        Form::Each => of_lanes(PRODUCT.with(SMALL_PRODUCT.times(2.0)).with(MATRIX).with(TABLE)),
        Form::Tiles => of_lanes(PRODUCT),
    };
    if shared_key {
        return message;
    }
    // Powers of H to the 32nd, every other one a square, and 33 squares.
    message
        .with(cipher_block)
        .with(EXPANSION)
        .with(SMALL_PRODUCT.times(LANES / 2.0))
        .with(SQUARE.times(LANES / 2.0 + 33.0))
}

/// The same of a lane that walks a message alone: the mask, for which it counts as for a block, and the product beside
/// it; the product of the lengths; with a key of its own H as well.
fn walk(counted: Mix, cipher_block: Mix, cipher: Cipher, shared_key: bool) -> Mix {
    let entry = if is_aes(cipher) { ENTRY } else { NONE };
    let mask = counted.with(entry).with(PRODUCT);
    if shared_key {
        mask.with(PRODUCT)
    } else {
        mask.with(SMALL_PRODUCT).with(cipher_block).with(expansion_by_tables(cipher))
    }
}

/// The key of a message, expanded by the lane that walks it (FIPS 197 section 5.2): words of four look-ups, whose
/// addresses are a permutation each and whose bytes are picked by three, with a rotation before.
fn expansion_by_tables(cipher: Cipher) -> Mix {
    let words = 4.0 * (aes_rounds(cipher) + 1.0);
    let looked_up = match cipher {
        Cipher::Aes192 => 8.0,
        Cipher::Aes256 => 13.0,
        _ => 10.0,
    };
    Mix { look_ups: 4.0 * looked_up, permutations: 8.0 * looked_up, logic: words, ..NONE }
}

#[cfg(test)]
mod tests {
    use cipherlane::Operation;

    use super::*;

    fn of(kernel: &str, bytes: u64, shared_key: bool) -> Mix {
        let shape =
            Shape::uniform("aes-128-gcm".parse().unwrap(), Operation::Seal, 1 << 16, bytes, shared_key);
        Mix::of(&shape, kernel).unwrap()
    }

    /// What the machine code of a message of 128 bytes with its own key has: 200 look-ups for the key and H, 27 before its
    /// text, 9 blocks of 133, and a product of 144 for each block, the mask and the lengths.
    #[test]
    fn short_messages_pay_for_their_keys() {
        let short = of("aes-gcm/banked4-message/x1", 128, false);
        assert!((8.0 * short.look_ups - (200.0 + 27.0 + 9.0 * 133.0)).abs() < 1e-9, "{short:?}");
        assert!((8.0 * short.wide - 10.0 * 144.0).abs() < 1e-9, "{short:?}");
        let long = of("aes-gcm/banked4-message/x1", 1 << 20, false);
        assert!((long.look_ups - 133.0).abs() < 0.1, "{long:?}");
        assert!(of("aes-gcm/banked4-message/x1", 128, true).look_ups < short.look_ups);
    }

    /// What the machine code of the inner loop has for a block of a record: 133 look-ups and four words of its counters'
    /// table, 12 of the matrix and two of other lanes.
    #[test]
    fn records_look_their_counters_up() {
        let record = of("aes-gcm/banked4-mma-records/x2", 1 << 30, true);
        assert!((record.look_ups - (133.0 + 4.0 + 12.0 + 2.0)).abs() < 0.1, "{record:?}");
    }

    #[test]
    fn records_use_tensor_cores_and_short_messages_do_not() {
        for kernel in
            ["aes-gcm/banked4-mma/x2", "aes-gcm/banked4-mma-records/x2", "aes-gcm/banked4-mma-each/x4"]
        {
            assert!((of(kernel, 16_384, true).matrix_bits - 12_288.0).abs() < 1e-9, "{kernel}");
        }
        let tiles = of("aes-gcm/banked4/x1", 4096, true);
        assert!(tiles.matrix_bits < 1e-9 && tiles.wide > 144.0, "{tiles:?}");
    }

    #[test]
    fn keys_of_their_own_cost_records_powers() {
        let [one, each] = [true, false].map(|shared| of("aes-gcm/banked4-mma-each/x4", 16_384, shared));
        assert!(each.wide > one.wide && each.logic > one.logic);
    }
}

//! From a program to one text: includes resolved, defines on top.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::manifest::Program;

/// The files below `c/`, by their path there.
pub const FILES: &[(&str, &str)] = &[
    ("abi.h", include_str!("../c/abi.h")),
    ("batch.h", include_str!("../c/batch.h")),
    ("dialect.h", include_str!("../c/dialect.h")),
    ("entry/cbc_decrypt.c", include_str!("../c/entry/cbc_decrypt.c")),
    ("entry/cbc_encrypt.c", include_str!("../c/entry/cbc_encrypt.c")),
    ("entry/cbc_encrypt_quad.c", include_str!("../c/entry/cbc_encrypt_quad.c")),
    ("entry/ctr.c", include_str!("../c/entry/ctr.c")),
    ("entry/ctr_counted.c", include_str!("../c/entry/ctr_counted.c")),
    ("entry/ctr_long.c", include_str!("../c/entry/ctr_long.c")),
    ("entry/ctr_run.h", include_str!("../c/entry/ctr_run.h")),
    ("entry/ecb.c", include_str!("../c/entry/ecb.c")),
    ("entry/gcm.c", include_str!("../c/entry/gcm.c")),
    ("entry/gcm_counted.h", include_str!("../c/entry/gcm_counted.h")),
    ("entry/gcm_each.c", include_str!("../c/entry/gcm_each.c")),
    ("entry/gcm_long.c", include_str!("../c/entry/gcm_long.c")),
    ("entry/gcm_message.c", include_str!("../c/entry/gcm_message.c")),
    ("entry/gcm_message_counter.h", include_str!("../c/entry/gcm_message_counter.h")),
    ("entry/gcm_mma.h", include_str!("../c/entry/gcm_mma.h")),
    ("entry/gcm_records.c", include_str!("../c/entry/gcm_records.c")),
    ("entry/gcm_run.h", include_str!("../c/entry/gcm_run.h")),
    ("entry/gcm_stages.h", include_str!("../c/entry/gcm_stages.h")),
    ("entry/gcm_tiles.h", include_str!("../c/entry/gcm_tiles.h")),
    ("entry/hash.c", include_str!("../c/entry/hash.c")),
    ("entry/keys.h", include_str!("../c/entry/keys.h")),
    ("entry/xts.c", include_str!("../c/entry/xts.c")),
    ("primitive/aes_banked.h", include_str!("../c/primitive/aes_banked.h")),
    ("primitive/aes_bitsliced.h", include_str!("../c/primitive/aes_bitsliced.h")),
    ("primitive/aes_counted.h", include_str!("../c/primitive/aes_counted.h")),
    ("primitive/aes_counter.h", include_str!("../c/primitive/aes_counter.h")),
    ("primitive/aes_sbox.h", include_str!("../c/primitive/aes_sbox.h")),
    ("primitive/aes_schedule.h", include_str!("../c/primitive/aes_schedule.h")),
    ("primitive/aes_table.h", include_str!("../c/primitive/aes_table.h")),
    ("primitive/banked.h", include_str!("../c/primitive/banked.h")),
    ("primitive/camellia.h", include_str!("../c/primitive/camellia.h")),
    ("primitive/camellia_banked.h", include_str!("../c/primitive/camellia_banked.h")),
    ("primitive/camellia_bitsliced.h", include_str!("../c/primitive/camellia_bitsliced.h")),
    ("primitive/camellia_sbox.h", include_str!("../c/primitive/camellia_sbox.h")),
    ("primitive/camellia_table.h", include_str!("../c/primitive/camellia_table.h")),
    ("primitive/counter.h", include_str!("../c/primitive/counter.h")),
    ("primitive/digest.h", include_str!("../c/primitive/digest.h")),
    ("primitive/gcm.h", include_str!("../c/primitive/gcm.h")),
    ("primitive/ghash.h", include_str!("../c/primitive/ghash.h")),
    ("primitive/ghash_each.h", include_str!("../c/primitive/ghash_each.h")),
    ("primitive/ghash_mma.h", include_str!("../c/primitive/ghash_mma.h")),
    ("primitive/ghash_summed.h", include_str!("../c/primitive/ghash_summed.h")),
    ("primitive/keccak.h", include_str!("../c/primitive/keccak.h")),
    ("primitive/sc2000.h", include_str!("../c/primitive/sc2000.h")),
    ("primitive/sc2000_banked.h", include_str!("../c/primitive/sc2000_banked.h")),
    ("primitive/sc2000_bitsliced.h", include_str!("../c/primitive/sc2000_bitsliced.h")),
    ("primitive/sc2000_sbox.h", include_str!("../c/primitive/sc2000_sbox.h")),
    ("primitive/sc2000_table.h", include_str!("../c/primitive/sc2000_table.h")),
    ("primitive/sha2.h", include_str!("../c/primitive/sha2.h")),
    ("primitive/sha256.h", include_str!("../c/primitive/sha256.h")),
    ("primitive/sha512.h", include_str!("../c/primitive/sha512.h")),
    ("primitive/slice.h", include_str!("../c/primitive/slice.h")),
    ("primitive/sm4.h", include_str!("../c/primitive/sm4.h")),
    ("primitive/sm4_banked.h", include_str!("../c/primitive/sm4_banked.h")),
    ("primitive/sm4_bitsliced.h", include_str!("../c/primitive/sm4_bitsliced.h")),
    ("primitive/sm4_sbox.h", include_str!("../c/primitive/sm4_sbox.h")),
    ("primitive/sm4_table.h", include_str!("../c/primitive/sm4_table.h")),
    ("primitive/transpose.h", include_str!("../c/primitive/transpose.h")),
    ("primitive/tweak.h", include_str!("../c/primitive/tweak.h")),
    ("probe/chains.c", include_str!("../c/probe/chains.c")),
    ("probe/steps.h", include_str!("../c/probe/steps.h")),
];

/// The text of a file below `c/`.
#[must_use]
pub fn file(path: &str) -> Option<&'static str> {
    FILES.iter().find(|(name, _)| *name == path).map(|(_, text)| *text)
}

/// The whole text of `program`: its defines, then its source with every include in its place, each file once.
///
/// # Panics
/// If a source includes a file that is not in [`FILES`]: a fault of this crate, which its tests rule out.
#[must_use]
pub fn text(program: &Program) -> String {
    source(program.source, &program.defines)
}

/// The whole text of the file `path` below `c/` under `defines`, as [`text`] gives that of a program.
pub(crate) fn source(path: &str, defines: &[Define]) -> String {
    let mut text = String::new();
    for (name, value) in defines {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "#define {name} {value}");
    }
    let mut seen = BTreeSet::new();
    append(&mut text, path, defines, &mut seen);
    text
}

/// A name and what it stands for.
type Define = (&'static str, String);

/// An include names a file from `c/`, or a define that names one: `#include CIPHER` picks the program's cipher.
fn append(text: &mut String, path: &str, defines: &[Define], seen: &mut BTreeSet<String>) {
    if !seen.insert(path.to_owned()) {
        return;
    }
    let Some(source) = file(path) else {
        // No text can be made of it; the tests flatten every program, so no released one gets here.
        unreachable!("{path} is not a file below c/");
    };
    for line in source.lines() {
        let Some(target) = line.strip_prefix("#include ") else {
            text.push_str(line);
            text.push('\n');
            continue;
        };
        let target = target.trim();
        // Host C's own headers stay.
        if target.starts_with('<') {
            text.push_str(line);
            text.push('\n');
            continue;
        }
        let named = defines.iter().find(|(name, _)| *name == target);
        let name = named.map_or(target, |(_, value)| value.as_str()).trim_matches('"');
        append(text, name, defines, seen);
    }
}

/// A name for the text, the same for the same text: 128-bit FNV-1a in hexadecimal. It tells texts apart and is no
/// protection against a forger: a cache on disk is trusted as its folder is.
#[must_use]
pub fn key(text: impl AsRef<[u8]>) -> String {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = (1 << 88) + 0x13b;
    let hash = text.as_ref().iter().fold(OFFSET, |hash, &byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME));
    format!("{hash:032x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_fnv_1a() {
        assert_eq!(key(""), "6c62272e07bb014262b821756295c58d");
        assert_eq!(key("a"), "d228cb696f1a8caf78912b704e4a8964");
    }
}

//! The hash computation of FIPS 180-4 sections 6.2.2 and 6.4.2, over integers and registers alike.

use super::word::Word;

/// The words of a block, of SETS registers of messages: the last sixteen of the message schedule. Word t is at
/// `t % 16`.
pub(super) type Schedule<T, const SETS: usize> = [[T; 16]; SETS];

/// The working variables a to h, which a round renames instead of moving: before round t, variable i is at
/// `(i - t) % 8`.
pub(super) type Variables<T, const SETS: usize> = [[T; 8]; SETS];

/// All rounds of one block. Adding the chaining value is left to the caller.
///
/// The rounds of one set wait for each other; those of SETS sets are run alternately, and one fills the latency of
/// another.
#[inline(always)]
pub(super) fn rounds<T: Word, const SETS: usize>(
    variables: &mut Variables<T, SETS>,
    schedule: &mut Schedule<T, SETS>,
) {
    sixteen::<T, SETS, false>(variables, schedule, 0);
    let mut first = 16;
    while first < T::K.len() {
        sixteen::<T, SETS, true>(variables, schedule, first);
        first += 16;
    }
}

/// Rounds `first` to `first + 15`, written out: their positions in both arrays have to be constants, or the arrays
/// would not be in registers.
#[inline(always)]
fn sixteen<T: Word, const SETS: usize, const EXPAND: bool>(
    variables: &mut Variables<T, SETS>,
    schedule: &mut Schedule<T, SETS>,
    first: usize,
) {
    one::<T, SETS, EXPAND, 0>(variables, schedule, first);
    one::<T, SETS, EXPAND, 1>(variables, schedule, first);
    one::<T, SETS, EXPAND, 2>(variables, schedule, first);
    one::<T, SETS, EXPAND, 3>(variables, schedule, first);
    one::<T, SETS, EXPAND, 4>(variables, schedule, first);
    one::<T, SETS, EXPAND, 5>(variables, schedule, first);
    one::<T, SETS, EXPAND, 6>(variables, schedule, first);
    one::<T, SETS, EXPAND, 7>(variables, schedule, first);
    one::<T, SETS, EXPAND, 8>(variables, schedule, first);
    one::<T, SETS, EXPAND, 9>(variables, schedule, first);
    one::<T, SETS, EXPAND, 10>(variables, schedule, first);
    one::<T, SETS, EXPAND, 11>(variables, schedule, first);
    one::<T, SETS, EXPAND, 12>(variables, schedule, first);
    one::<T, SETS, EXPAND, 13>(variables, schedule, first);
    one::<T, SETS, EXPAND, 14>(variables, schedule, first);
    one::<T, SETS, EXPAND, 15>(variables, schedule, first);
}

/// Round `first + I`, after word `first + I` of the message schedule if EXPAND.
#[inline(always)]
fn one<T: Word, const SETS: usize, const EXPAND: bool, const I: usize>(
    variables: &mut Variables<T, SETS>,
    schedule: &mut Schedule<T, SETS>,
    first: usize,
) {
    let constant = T::K[first + I];
    for (v, w) in variables.iter_mut().zip(schedule) {
        if EXPAND {
            let (before_15, before_7, before_2) = (w[(I + 1) % 16], w[(I + 9) % 16], w[(I + 14) % 16]);
            w[I] = w[I].plus(before_15.sigma_0()).plus(before_7).plus(before_2.sigma_1());
        }
        round(v, I, w[I].plus_constant(constant));
    }
}

/// One round, with the sum of its word and its constant. `number` counts from any multiple of eight.
#[inline(always)]
pub(super) fn round<T: Word>(v: &mut [T; 8], number: usize, sum: T) {
    let (a, b, c, d) = (at(0, number), at(1, number), at(2, number), at(3, number));
    let (e, f, g, h) = (at(4, number), at(5, number), at(6, number), at(7, number));
    let t1 = v[h].plus(sum).plus(v[e].choose(v[f], v[g])).plus(v[e].sum_1());
    let t2 = v[a].sum_0().plus(v[a].majority(v[b], v[c]));
    v[d] = v[d].plus(t1);
    v[h] = t1.plus(t2);
}

/// Where variable `i` is in round `number`.
#[inline(always)]
const fn at(i: usize, number: usize) -> usize {
    (i + 16 - number % 8) % 8
}

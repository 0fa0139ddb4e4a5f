//! The order of two rounds, behind which each word is where it was before them: that in which a Zen 5 ran them fastest, of
//! some millions that differ by where a few instructions are, found from the compiler's on by keeping what was faster and, less
//! and less often, what was not.
//!
//! Words of the state are in registers 0 to 24, before the first round and behind the second one. What the CPU does with
//! moves between registers is rename them.

macro_rules! two_rounds {
    ($how:ident) => {
        $how! {
            [move 31 4] [sum 31 9 14] [move 30 0] [sum 30 5 10] [move 29 1] [sum 29 6 11] [move 28 3]
            [sum 28 8 13] [copy 0 0] [move 27 2] [sum 27 7 12] [sum 27 17 22] [sum 31 19 24] [rotate 25 31 1]
            [xor 25 27 25] [xor 13 13 25] [sum 30 15 20] [rotate 27 27 1] [xor 27 30 27] [xor 1 1 27]
            [rotate 13 13 25] [rotate 1 1 1] [sum 28 18 23] [copy 0 1] [rotate 30 30 1] [sum 29 16 21]
            [xor 30 28 30] [xor 19 19 30] [rotate 19 19 8] [rotate 28 28 1] [xor 3 3 25] [xor 16 16 27]
            [rotate 26 29 1] [xor 29 29 28] [xor 4 4 30] [rotate 16 16 45] [xor 31 31 26] [xor 10 10 31]
            [copy 0 2] [xor 20 20 31] [xor 7 7 29] [rotate 7 7 6] [xor 9 9 30] [xor 15 15 31] [xor 22 22 29]
            [rotate 20 20 18] [xor 6 6 27] [xor 0 0 31] [xor 8 8 25] [xor 14 14 30] [rotate 14 14 39]
            [rotate 3 3 28] [rotate 9 9 20] [copy 0 3] [rotate 10 10 3] [xor 12 12 29] [rotate 8 8 55]
            [xor 21 21 27] [rotate 22 22 61] [move 28 10] [chi 28 16 22] [xor 2 2 29] [rotate 2 2 62]
            [xor 24 24 30] [rotate 6 6 44] [rotate 21 21 2] [xor 23 23 25] [rotate 23 23 56] [copy 0 4]
            [rotate 15 15 41] [rotate 24 24 14] [move 26 13] [chi 26 19 20] [move 30 7] [chi 30 13 19]
            [xor 18 18 25] [rotate 18 18 21] [xor 17 17 29] [move 25 20] [chi 25 1 7] [chi_by_last 7 1 13]
            [rotate 4 4 27] [move 29 9] [copy 0 5] [chi 29 10 16] [rotate 12 12 43] [move 13 22] [chi 13 3 9]
            [chi 16 22 3] [chi 19 20 1] [xor 5 5 31] [move 22 21] [chi 22 2 8] [move 20 18] [chi 20 24 0]
            [xor 11 11 27] [rotate 17 17 15] [move 1 15] [copy 0 6] [chi 1 21 2] [chi 3 9 10]
            [chi_by_next 21 14 15] [move 31 6] [chi 31 12 18] [rotate 11 11 10] [rotate 5 5 36] [move 27 24]
            [chi 27 0 6] [chi_by_next 15 8 14] [move 9 5] [chi 9 11 17] [move 10 11] [chi 10 17 23] [copy 0 7]
            [chi 2 8 14] [iota 0 0 0] [chi 0 6 12] [chi 12 18 24] [chi_by_next 11 4 5] [chi_by_next 5 23 4]
            [chi 17 23 4] [move 8 27] [sum 8 13 25] [move 14 0] [sum 14 3 7] [move 6 31] [sum 6 29 30]
            [move 18 20] [copy 1 0] [sum 18 16 19] [move 24 12] [sum 24 28 26] [sum 24 10 21] [sum 8 5 22]
            [rotate 4 8 1] [xor 4 24 4] [xor 19 19 4] [sum 14 11 2] [rotate 24 24 1] [xor 24 14 24]
            [xor 31 31 24] [rotate 19 19 25] [rotate 31 31 1] [sum 18 17 1] [copy 1 1] [rotate 14 14 1]
            [sum 6 9 15] [xor 14 18 14] [xor 5 5 14] [rotate 5 5 8] [rotate 18 18 1] [xor 20 20 4] [xor 9 9 24]
            [rotate 23 6 1] [xor 6 6 18] [xor 27 27 14] [rotate 9 9 45] [xor 8 8 23] [xor 7 7 8] [copy 1 2]
            [xor 2 2 8] [xor 28 28 6] [rotate 28 28 6] [xor 13 13 14] [xor 11 11 8] [xor 21 21 6]
            [rotate 2 2 18] [xor 29 29 24] [xor 0 0 8] [xor 16 16 4] [xor 25 25 14] [rotate 25 25 39]
            [rotate 20 20 28] [rotate 13 13 20] [copy 1 3] [rotate 7 7 3] [xor 26 26 6] [rotate 16 16 55]
            [xor 15 15 24] [rotate 21 21 61] [move 18 7] [chi 18 9 21] [xor 12 12 6] [rotate 12 12 62]
            [xor 22 22 14] [rotate 29 29 44] [rotate 15 15 2] [xor 1 1 4] [rotate 1 1 56] [copy 1 4]
            [rotate 11 11 41] [rotate 22 22 14] [move 23 19] [chi 23 5 2] [move 14 28] [chi 14 19 5]
            [xor 17 17 4] [rotate 17 17 21] [xor 10 10 6] [move 4 2] [chi 4 31 28] [chi_by_last 28 31 19]
            [rotate 27 27 27] [move 6 13] [copy 1 5] [chi 6 7 9] [rotate 26 26 43] [move 19 21] [chi 19 20 13]
            [chi 9 21 20] [chi_by_next 31 5 2] [xor 8 3 8] [move 21 15] [chi 21 12 16] [move 3 17] [chi 3 22 0]
            [xor 30 30 24] [rotate 10 10 15] [move 24 11] [copy 1 6] [chi 24 15 12] [chi_by_last 13 20 7]
            [chi_by_next 15 25 11] [move 5 29] [chi 5 26 17] [rotate 30 30 10] [rotate 8 8 36] [move 7 22]
            [chi 7 0 29] [chi_by_next 11 16 25] [move 2 8] [chi 2 30 10] [move 20 30] [chi 20 10 1] [copy 1 7]
            [chi 12 16 25] [iota 25 0 1] [chi 25 29 26] [chi 26 17 22] [chi_by_next 30 27 8]
            [chi_by_next 8 1 27] [chi 10 1 27] [move 0 25] [move 1 5] [move 5 13] [move 13 31] [move 16 2]
            [move 2 26] [move 17 20] [move 20 12] [move 12 23] [move 22 15] [move 15 30] [move 23 24]
            [move 24 21] [move 21 11] [move 11 14] [move 14 4] [move 4 7] [move 7 18] [move 18 10] [move 10 28]
            [move 25 8] [move 8 9] [move 9 19] [move 19 25]
        }
    };
}

//! The order of two rounds, behind which each word is where it was before them: that in which a Zen 5 ran them fastest, of
//! some millions that differ by where a few instructions are, found from the compiler's on by keeping what was faster and, less
//! and less often, what was not.
//!
//! Words of the state are in registers 0 to 24, before the first round and behind the second one. What the CPU does with
//! moves between registers is rename them.

macro_rules! two_rounds {
    ($how:ident) => {
        $how! {
            [move 31 3] [sum 31 8 13] [move 30 1] [sum 30 6 11] [move 29 4] [sum 29 9 14] [sum 30 16 21]
            [rotate 25 30 1] [move 28 0] [copy 0 0] [sum 28 5 10] [sum 29 19 24] [xor 25 29 25] [move 27 2]
            [sum 27 7 12] [rotate 29 29 1] [sum 27 17 22] [xor 29 27 29] [rotate 27 27 1] [xor 26 20 25]
            [sum 28 15 20] [xor 27 28 27] [xor 16 16 27] [rotate 16 16 45] [copy 0 1] [xor 3 3 29]
            [sum 31 18 23] [rotate 20 31 1] [xor 30 30 20] [xor 17 17 30] [xor 22 22 30] [rotate 22 22 61]
            [xor 23 23 29] [rotate 3 3 28] [rotate 23 23 56] [rotate 28 28 1] [xor 31 31 28] [xor 9 9 31]
            [rotate 9 9 20] [xor 15 15 25] [copy 0 2] [xor 10 10 25] [rotate 26 26 18] [rotate 10 10 3]
            [xor 7 7 30] [xor 19 19 31] [xor 1 1 27] [xor 5 5 25] [xor 13 13 29] [rotate 7 7 6] [xor 14 14 31]
            [move 20 10] [chi 20 16 22] [rotate 19 19 8] [rotate 13 13 25] [copy 0 3] [xor 11 11 27]
            [rotate 1 1 1] [rotate 15 15 41] [rotate 14 14 39] [move 28 1] [chi 28 7 13] [rotate 17 17 15]
            [xor 4 4 31] [rotate 4 4 27] [rotate 11 11 10] [xor 12 12 30] [xor 0 0 25] [xor 18 18 29]
            [xor 6 6 27] [rotate 6 6 44] [copy 0 4] [xor 24 24 31] [move 25 7] [chi 25 13 19] [rotate 24 24 14]
            [rotate 18 18 21] [move 31 9] [chi 31 10 16] [rotate 5 5 36] [xor 8 8 29] [chi 13 19 26]
            [chi_by_next 10 3 9] [chi 16 22 3] [rotate 12 12 43] [rotate 8 8 55] [copy 0 5] [move 29 4]
            [chi 29 5 11] [chi 22 3 9] [chi 19 26 1] [xor 21 21 27] [xor 2 2 30] [iota 30 0 0] [rotate 2 2 62]
            [move 3 2] [chi 3 8 14] [move 9 5] [chi 9 11 17] [move 27 12] [chi 27 18 24] [chi 30 6 12]
            [copy 0 6] [chi 26 1 7] [chi_by_last 12 6 18] [chi_by_next 5 23 4] [chi 18 24 0] [rotate 21 21 2]
            [move 1 21] [chi 1 2 8] [chi 24 0 6] [chi_by_next 2 15 21] [chi_by_next 21 14 15]
            [chi_by_next 4 17 23] [chi 8 14 15] [chi 11 17 23] [move 7 18] [copy 0 7] [sum 7 16 19] [move 0 12]
            [sum 0 31 25] [move 6 24] [sum 6 22 26] [sum 0 9 8] [rotate 23 0 1] [move 14 30] [sum 14 10 28]
            [sum 6 5 1] [xor 23 6 23] [move 15 27] [sum 15 20 13] [rotate 6 6 1] [copy 1 0] [sum 15 11 21]
            [xor 6 15 6] [rotate 15 15 1] [xor 17 3 23] [sum 14 29 3] [xor 15 14 15] [xor 9 9 15]
            [rotate 9 9 45] [xor 18 18 6] [sum 7 4 2] [rotate 3 7 1] [xor 0 0 3] [xor 11 11 0] [xor 21 21 0]
            [rotate 21 21 61] [copy 1 1] [xor 2 2 6] [rotate 18 18 28] [rotate 2 2 56] [rotate 14 14 1]
            [xor 7 7 14] [xor 22 22 7] [rotate 22 22 20] [xor 29 29 23] [xor 28 28 23] [rotate 17 17 18]
            [rotate 28 28 3] [xor 20 20 0] [xor 5 5 7] [xor 12 12 15] [copy 1 2] [xor 10 10 23] [xor 19 19 6]
            [rotate 20 20 6] [xor 26 26 7] [move 3 28] [chi 3 9 21] [rotate 5 5 8] [rotate 19 19 25]
            [xor 25 25 15] [rotate 12 12 1] [rotate 29 29 41] [rotate 26 26 39] [move 14 12] [chi 14 20 19]
            [rotate 11 11 15] [copy 1 3] [xor 24 24 7] [rotate 24 24 27] [rotate 25 25 10] [xor 13 13 0]
            [xor 30 30 23] [xor 4 4 6] [xor 31 31 15] [rotate 31 31 44] [xor 7 1 7] [move 23 20] [chi 23 19 5]
            [rotate 7 7 14] [rotate 4 4 21] [move 1 22] [copy 1 4] [chi 1 28 9] [rotate 10 10 36] [xor 6 16 6]
            [chi 19 5 17] [chi_by_next 28 18 22] [chi 9 21 18] [rotate 13 13 43] [rotate 6 6 55] [move 16 24]
            [chi 16 10 25] [chi 21 18 22] [chi 5 17 12] [xor 8 8 15] [xor 27 27 0] [iota 15 30 1] [copy 1 5]
            [rotate 27 27 62] [move 18 27] [chi 18 6 26] [move 22 10] [chi 22 25 11] [move 0 13] [chi 0 4 7]
            [chi 15 31 13] [chi_by_last 12 17 20] [chi_by_last 13 31 4] [chi_by_next 10 2 24] [chi 4 7 30]
            [rotate 8 8 2] [move 20 8] [copy 1 6] [chi 20 27 6] [chi 7 30 31] [chi_by_next 27 29 8]
            [chi_by_next 8 26 29] [chi_by_next 24 11 2] [chi 6 26 29] [chi 25 11 2] [move 2 0] [move 0 15]
            [move 11 23] [move 15 16] [move 16 22] [move 17 25] [move 22 8] [move 8 9] [copy 1 7] [move 9 21]
            [move 21 6] [move 6 1] [move 1 13] [move 13 5] [move 5 28] [move 23 27] [move 25 3] [move 3 4]
            [move 4 7] [move 7 25] [move 25 10] [move 10 14] [move 14 12] [move 12 19] [move 19 25]
            [move 25 18] [move 18 24] [move 24 20] [move 20 25]
        }
    };
}

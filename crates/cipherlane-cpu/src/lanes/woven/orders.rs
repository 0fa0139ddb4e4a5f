//! The orders of a group's instructions, for each number of rounds: those in which a Zen 5 ran groups fastest, of some
//! thousands that differ by where a few instructions are. So closely packed, how well they fit its schedulers is a
//! matter of trying.
//!
//! Of ten rounds a group begins with the reduction of the one before, and takes the state that this makes up last:
//! products that do not wait for it come first. With more rounds a group ends with its own reduction: rounds fill what
//! it waits for, and messages of few groups have nothing left to do behind them.
//!
//! What is hashed is read before what may lie in its place is written: `text` of a register is ahead of its `last`.

macro_rules! order_of_10_rounds {
    () => {
        order! {
            [begin 3 31] [add 18 16 17]
            [key 2] [begin 1 31] [round 1] [begin 2 31] [text 19 1] [round 3] [round 2] [begin 6 31]
            [begin 0 31] [begin 4 31] [low 21 19 2] [fold 23 16] [round 6] [begin 5 31] [round 5] [round 4]
            [text 20 2] [low 25 20 3] [begin 7 27] [round 0] [round 7]
            [key 3] [round 3] [round 1] [high 13 20 3] [lows 14 19 20] [round 6] [round 0] [round 5]
            [swap 24 16] [highs 15 19 20] [high 26 19 2] [add 18 23 24] [set 22 22 17] [round 2] [round 4]
            [round 7]
            [key 4] [round 3] [round 0] [fold 23 18] [round 2] [set 16 21 25] [swap 24 18] [set 14 14 15]
            [middle0 19 14 2] [text 9 4] [round 4] [round 7] [set 17 26 13] [middle1 20 14 3] [round 5]
            [round 6] [round 1]
            [key 5] [round 7] [high 13 9 5] [round 2] [round 1] [add 22 23 24] [text 8 3] [lows 14 8 9]
            [round 6] [round 4] [round 3] [round 5] [high 12 8 4] [round 0]
            [key 6] [round 1] [highs 15 8 9] [round 3] [set 18 19 20] [low 10 8 4] [round 2] [set 14 14 15]
            [low 11 9 5] [add 16 10 11] [round 5] [round 0] [round 4] [round 7] [round 6] [middle1 9 14 5]
            [key 7] [round 2] [add 17 12 13] [text 19 5] [middle0 8 14 4] [add 18 8 9] [round 1] [text 9 0]
            [text 20 6] [low 21 19 6] [round 7] [round 5] [round 6] [round 4] [low 23 20 7] [round 0]
            [lows 14 19 20] [add 16 21 23] [round 3]
            [key 8] [round 6] [high 24 19 6] [round 0] [round 1] [round 2] [round 5] [high 26 20 7] [round 4]
            [highs 15 19 20] [round 7] [add 17 24 26] [set 14 14 15] [middle0 19 14 6] [middle1 20 14 7]
            [lows 14 22 9] [round 3]
            [key 9] [round 1] [round 3] [round 0] [low 10 22 0] [round 4] [round 7] [round 5] [low 11 9 1]
            [round 6] [round 2]
            [key 10] [last 0] [last 1] [highs 15 22 9] [high 12 22 0] [set 14 14 15] [text 22 7] [high 13 9 1]
            [last 2] [add 16 10 11] [middle1 9 14 1] [last 3] [middle0 10 14 0] [add 18 19 20] [add 18 10 9]
            [last 4] [last 5] [last 6] [last 7] [add 17 12 13]
        }
    };
}

macro_rules! order_of_12_rounds {
    () => {
        order! {
            [begin 7 27] [begin 5 31] [begin 1 31] [begin 0 31] [begin 4 31] [begin 3 31]
            [key 2] [round 7] [round 3] [round 4] [round 1] [begin 2 31] [round 0] [round 2] [low 10 22 0]
            [begin 6 31] [text 9 0] [round 6] [round 5] [low 11 9 1] [set 16 10 11]
            [key 3] [lows 14 22 9] [highs 15 22 9] [high 12 22 0] [text 19 1] [round 2] [round 1] [round 3]
            [high 13 9 1] [round 0] [round 6] [round 7] [round 5] [set 14 14 15] [middle0 10 14 0]
            [set 17 12 13] [round 4]
            [key 4] [round 1] [middle1 9 14 1] [set 18 10 9] [round 4] [round 6] [round 5] [round 7] [round 2]
            [round 0] [round 3]
            [key 5] [round 0] [low 21 19 2] [round 1] [text 20 2] [low 23 20 3] [lows 14 19 20] [highs 15 19 20]
            [round 4] [round 3] [round 2] [round 5] [high 24 19 2] [round 7] [round 6]
            [key 6] [round 0] [high 26 20 3] [round 2] [round 1] [set 14 14 15] [add 16 21 23] [round 3]
            [middle0 19 14 2] [round 4] [round 7] [add 17 24 26] [round 6] [round 5] [middle1 20 14 3]
            [key 7] [round 3] [round 0] [text 8 3] [round 6] [text 9 4] [round 4] [round 1] [round 2] [round 7]
            [round 5] [low 10 8 4] [lows 14 8 9] [add 18 19 20]
            [key 8] [round 4] [round 0] [round 2] [low 11 9 5] [add 16 10 11] [round 1] [highs 15 8 9] [round 3]
            [high 12 8 4] [round 7] [round 5] [round 6]
            [key 9] [round 1] [round 0] [high 13 9 5] [set 14 14 15] [round 2] [middle0 8 14 4] [round 5]
            [round 6] [round 3] [round 7] [round 4]
            [key 10] [middle1 9 14 5] [round 0] [round 1] [add 18 8 9] [text 19 5] [low 21 19 6] [text 22 7]
            [text 20 6] [lows 14 19 20] [round 2] [round 6] [round 3] [round 7] [round 4] [round 5]
            [key 11] [round 6] [round 0] [low 23 20 7] [add 17 12 13] [add 16 21 23] [highs 15 19 20] [round 4]
            [round 2] [high 24 19 6] [set 14 14 15] [round 5] [round 7] [round 1] [round 3]
            [key 12] [last 0] [last 1] [high 26 20 7] [last 2] [middle0 19 14 6] [last 3] [middle1 20 14 7]
            [last 4] [last 5] [last 6] [fold 23 16] [add 17 24 26] [swap 24 16] [add 18 19 20] [add 18 16 17]
            [add 18 23 24] [set 22 22 17] [fold 23 18] [swap 24 18] [add 22 23 24] [last 7]
        }
    };
}

macro_rules! order_of_14_rounds {
    () => {
        order! {
            [text 9 0] [highs 15 22 9]
            [key 2] [begin 0 31] [round 0] [begin 5 31] [begin 7 27] [begin 2 31] [begin 6 31] [begin 1 31]
            [round 1] [low 10 22 0] [round 7] [lows 14 22 9] [set 14 14 15] [round 5] [round 2] [begin 3 31]
            [round 3] [begin 4 31] [round 4] [round 6]
            [key 3] [round 0] [round 1] [high 12 22 0] [round 3] [round 2] [round 5] [high 13 9 1] [round 7]
            [text 19 1] [round 6] [low 11 9 1] [set 16 10 11] [middle0 10 14 0] [set 17 12 13] [round 4]
            [key 4] [round 6] [round 0] [middle1 9 14 1] [set 18 10 9] [round 2] [round 5] [round 4] [round 1]
            [text 20 2] [lows 14 19 20] [round 3] [round 7]
            [key 5] [round 0] [round 2] [low 21 19 2] [round 4] [low 23 20 3] [round 5] [highs 15 19 20]
            [set 14 14 15] [round 3] [round 6] [round 1] [high 24 19 2] [middle0 19 14 2] [round 7]
            [key 6] [round 5] [round 4] [round 0] [high 26 20 3] [round 6] [add 16 21 23] [round 2] [round 3]
            [middle1 20 14 3] [round 1] [round 7] [text 9 4]
            [key 7] [round 0] [text 8 3] [add 17 24 26] [round 1] [round 4] [add 18 19 20] [round 2]
            [lows 14 8 9] [round 5] [round 3] [round 7] [round 6]
            [key 8] [round 2] [low 10 8 4] [highs 15 8 9] [round 1] [round 0] [low 11 9 5] [set 14 14 15]
            [round 3] [high 12 8 4] [round 4] [round 6] [round 7] [round 5]
            [key 9] [round 2] [high 13 9 5] [round 6] [round 1] [round 0] [middle0 8 14 4] [round 5]
            [add 16 10 11] [round 4] [add 17 12 13] [text 19 5] [round 7] [round 3]
            [key 10] [round 1] [text 20 6] [round 5] [middle1 9 14 5] [lows 14 19 20] [add 18 8 9] [round 6]
            [round 7] [round 0] [round 3] [low 21 19 6] [round 2] [round 4]
            [key 11] [round 2] [round 0] [round 5] [low 23 20 7] [round 4] [text 22 7] [highs 15 19 20]
            [round 1] [high 24 19 6] [round 7] [round 3] [round 6]
            [key 12] [round 0] [high 26 20 7] [round 2] [round 3] [round 1] [set 14 14 15] [middle1 20 14 7]
            [add 17 24 26] [set 22 22 17] [middle0 19 14 6] [add 18 19 20] [round 7] [round 6] [round 5]
            [round 4]
            [key 13] [round 0] [round 7] [add 16 21 23] [fold 23 16] [round 2] [round 5] [swap 24 16] [round 1]
            [add 18 16 17] [round 3] [round 6] [add 18 23 24] [fold 23 18] [round 4]
            [key 14] [last 0] [last 1] [last 2] [swap 24 18] [add 22 23 24] [last 3] [last 4] [last 5] [last 6]
            [last 7]
        }
    };
}

//! Rounds, as text for the assembler.
//!
//! Registers: of two groups, 8 behind one another, half a block in 0 to 7: words `c` and `d`. The other half lies in
//! memory. In 24 the mask of the two lower bits, in 25 to 31 the matrices but for the last. The others are free between
//! functions.

/// Adds what lies at `$at` and so many halves of a lane behind it.
macro_rules! add_key {
    ($at:literal $($to:literal += $from:literal + $i:literal)*) => {
        concat!($("vpxorq zmm", $to, ", zmm", $from, ", qword ptr [{keys} + ", $at, " + 8 * ", $i, "]{{1to8}}\n",)*)
    };
}

/// Loads or stores slices of the group that lies `$group` bytes behind `here`.
macro_rules! slices {
    (of $group:literal $($register:literal = $i:literal)*) => {
        registers!(from concat!("{here} + ", $group), $($i $register)*)
    };
    (to $group:literal $($i:literal = $register:literal)*) => {
        registers!(to concat!("{here} + ", $group), $($i $register)*)
    };
}

/// The S-box of four columns, as in [`Layers::substitute`], with operands in such an order that few of them are copied.
/// The outputs are in `$b`, `$x`, `$a` and `$y`.
///
/// [`Layers::substitute`]: crate::cipher::sc2000::sliced::layers::Layers::substitute
#[rustfmt::skip] // an instruction a line
macro_rules! substitute {
    ($after:ident, $a:literal $b:literal $c:literal $d:literal by $x:literal $y:literal, $($more:tt)*) => {
        concat!(
            "vmovdqa64 zmm", $x, ", zmm", $b, "\n",
            ternary!("0x56" $x $c $d), ternary!("0xb4" $b $a $c),
            "vmovdqa64 zmm", $y, ", zmm", $x, "\n",
            ternary!("0xd8" $y $a $c),
            "vmovdqa64 zmm", $a, ", zmm", $y, "\n",
            ternary!("0xc9" $a $b $d), ternary!("0x6c" $y $b $d), ternary!("0x59" $b $a $x), ternary!("0x56" $x $y $c),
            $after!([$b $x $a $y] $a $b $($more)*),
        )
    };
}

/// Its inverse. The outputs are in `$c`, `$d`, `$x` and `$y`.
#[rustfmt::skip] // as above
macro_rules! substitute_inversely {
    ($after:ident, $a:literal $b:literal $c:literal $d:literal by $x:literal $y:literal, $($more:tt)*) => {
        concat!(
            "vmovdqa64 zmm", $x, ", zmm", $a, "\n",
            ternary!("0x9a" $x $c $d),
            "vmovdqa64 zmm", $y, ", zmm", $a, "\n",
            ternary!("0x9c" $y $b $d),
            "vmovdqa64 zmm", $d, ", zmm", $y, "\n",
            ternary!("0xe2" $d $a $c),
            "vmovdqa64 zmm", $c, ", zmm", $d, "\n",
            ternary!("0x63" $c $x $b), ternary!("0x69" $d $c $b), ternary!("0x36" $x $y $c), ternary!("0x9a" $y $d $a),
            $after!([$c $d $x $y] $a $b $($more)*),
        )
    };
}

/// Any function of three bits.
macro_rules! ternary {
    ($function:literal $to:literal $b:literal $c:literal) => {
        concat!("vpternlogq zmm", $to, ", zmm", $b, ", zmm", $c, ", ", $function, "\n")
    };
}

/// Behind B in a round: the halves change places, and one gets a key ahead of R. That of the other is added with what R
/// makes.
macro_rules! swapped {
    ([$p:literal $q:literal $r:literal $s:literal] $a:literal $b:literal $group:literal,
     $k:literal $i:literal $j:literal $l:literal) => {
        concat!(
            slices!(to $group $j = $p $l = $q),
            add_key!("128" $a += $r + $j $b += $s + $l),
            slices!(to $group $k = $a $i = $b),
        )
    };
}

/// Behind the last B: all get a key.
macro_rules! ready {
    ([$p:literal $q:literal $r:literal $s:literal] $a:literal $b:literal $group:literal,
     $k:literal $i:literal $j:literal $l:literal) => {
        concat!(
            add_key!("128" $p += $p + $k $q += $q + $i $r += $r + $j $s += $s + $l),
            slices!(to $group $k = $p $i = $q $j = $r $l = $s),
        )
    };
}

/// The B function of a group, whose first half is in registers and whose second one is in memory, with its key.
macro_rules! b_function {
    ($substitute:ident, $after:ident, $group:literal
     [$c0:literal $c1:literal $c2:literal $c3:literal] [$d0:literal $d1:literal $d2:literal $d3:literal]) => {
        concat!(
            slices!(of $group 16 = 8 17 = 12),
            $substitute!($after, $c0 $d0 16 17 by 18 19, $group, 0 4 8 12),
            slices!(of $group 20 = 9 21 = 13),
            $substitute!($after, $c1 $d1 20 21 by 22 23, $group, 1 5 9 13),
            slices!(of $group 16 = 10 17 = 14),
            $substitute!($after, $c2 $d2 16 17 by 18 19, $group, 2 6 10 14),
            slices!(of $group 20 = 11 21 = 15),
            $substitute!($after, $c3 $d3 20 21 by 22 23, $group, 3 7 11 15),
        )
    };
}

/// What table `2 * $field + $i` has at two registers of indices, by another one, which may be that of the second
/// result.
macro_rules! look_up {
    ($field:literal $i:literal by $table:literal: $to1:literal = $from1:literal $to2:literal = $from2:literal) => {
        concat!(
            "vmovdqa64 zmm",
            $table,
            ", [{constants} + {tables} + 128 * ",
            $field,
            " + 64 * ",
            $i,
            "]\n",
            "vpermb zmm",
            $to1,
            ", zmm",
            $from1,
            ", zmm",
            $table,
            "\n",
            "vpermb zmm",
            $to2,
            ", zmm",
            $from2,
            ", zmm",
            $table,
            "\n",
        )
    };
}

/// The index of a field in pieces, by another register: of a byte that has two bits of it and of one that has three.
#[rustfmt::skip] // an instruction a line
macro_rules! shift {
    ($to:literal = $two:literal by $other:literal = $three:literal) => {
        concat!(
            "vpsrlw zmm", $to, ", zmm", $two, ", 6\n",
            "vpsrlw zmm", $other, ", zmm", $three, ", 3\n",
        )
    };
}

/// The bytes that half of each of two words is looked up for: in `$f` and `$two1`, and in `$e` and `$two2`.
///
/// Field `$first` has a byte to itself but for two bits, which are of field `$second`, as three of a byte of field
/// `$third` are.
macro_rules! look_half_up {
    ($first:literal $second:literal $third:literal [$two1:literal $three1:literal] [$two2:literal $three2:literal]
     by $a:literal $b:literal $c:literal $d:literal $e:literal $f:literal $g:literal $h:literal) => {
        concat!(
            shift!($a = $two1 by $b = $three1),
            shift!($c = $two2 by $d = $three2),
            look_up!($first 0 by $e: $f = $two1 $e = $two2),
            look_up!($first 1 by $g: $two1 = $two1 $two2 = $two2),
            ternary!("0xe4" $a $b 24),
            ternary!("0xe4" $c $d 24),
            look_up!($third 0 by $b: $d = $three1 $b = $three2),
            look_up!($third 1 by $g: $three1 = $three1 $three2 = $three2),
            look_up!($second 0 by $g: $h = $a $g = $c),
            add!($f += $d + $h $e += $b + $g),
            look_up!($second 1 by $b: $a = $a $c = $c),
            add!($two1 += $three1 + $a $two2 += $three2 + $c),
        )
    };
}

/// Maps bytes by a matrix.
macro_rules! map {
    ($($to:literal = $from:literal by $matrix:literal)*) => {
        concat!($("vgf2p8affineqb zmm", $to, ", zmm", $from, ", zmm", $matrix, ", 0\n",)*)
    };
    (last $($to:literal = $from:literal)*) => {
        concat!($(
            "vgf2p8affineqb zmm", $to, ", zmm", $from, ", qword ptr [{constants} + 8 * 7]{{1to8}}, 0\n",
        )*)
    };
}

/// Adds a byte of u under the mask at `masks` to that of v, and then one of v under the complement to that of u: of v,
/// which has changed under the mask alone.
#[rustfmt::skip] // an instruction a line
macro_rules! mix {
    ($($mask:literal $i:literal: $u:literal $v:literal)*) => {
        concat!($(
            "vpbroadcastq zmm", $mask, ", [{masks} + 8 * ", $i, "]\n",
            ternary!("0x78" $v $u $mask), ternary!("0xb4" $u $v $mask),
        )*)
    };
}

/// What lies in memory, and so many halves of a lane behind `$key` the key, and what R makes.
macro_rules! add_r {
    ($group:literal $half:literal $key:literal $($to:literal $i:literal += $from:literal)*) => {
        concat!($(
            "vmovdqa64 zmm", $to, ", [{here} + ", $group, " + ", $half, " + 64 * ", $i, "]\n",
            "vpternlogq zmm", $to, ", zmm", $from,
            ", qword ptr [{keys} + ", $key, " + 8 * ", $i, "]{{1to8}}, 0x96\n",
        )*)
    };
}

/// The R function of a group, whose one half is in registers, where the other one, `$half` bytes behind the group,
/// takes its place then, with a key.
///
/// Both words go through S and M side by side, so that what is the same for both is loaded once.
macro_rules! r_function {
    ($group:literal $half:literal $key:literal
     [$c0:literal $c1:literal $c2:literal $c3:literal] [$d0:literal $d1:literal $d2:literal $d3:literal]) => {
        concat!(
            look_half_up!(0 1 2 [$c0 $c1] [$d0 $d1] by 16 17 18 19 20 21 22 23),
            look_half_up!(5 4 3 [$c3 $c2] [$d3 $d2] by 16 17 18 19 $d1 $c1 22 23),
            // The upper halves are in 21 and c0, 20 and d0, the lower ones in c1 and c3, d1 and d3.
            map!(16 = $c1 by 25 22 = $c3 by 26), add!(16 += 22 + 21),
            map!(18 = $d1 by 25 23 = $d3 by 26), add!(18 += 23 + 20),
            map!(17 = $c1 by 27 22 = $c3 by 28), add!(17 += 22 + $c0),
            map!(19 = $d1 by 27 23 = $d3 by 28), add!(19 += 23 + $d0),
            map!(22 = 21 by 29 $c2 = $c0 by 30), add!(22 += $c2 + $c1),
            map!(23 = 20 by 29 $d2 = $d0 by 30), add!(23 += $d2 + $d1),
            map!(21 = 21 by 31), map!(last $c0 = $c0), add!(21 += $c0 + $c3),
            map!(20 = 20 by 31), map!(last $d0 = $d0), add!(20 += $d0 + $d3),
            mix!($c0 0: 16 18 $c1 1: 22 23 $c2 2: 21 20 $c3 3: 17 19),
            add_r!($group $half $key $c0 0 += 18 $c1 1 += 23 $c2 2 += 20 $c3 3 += 19),
            add_r!($group $half $key $d0 4 += 16 $d1 5 += 22 $d2 6 += 21 $d3 7 += 17),
        )
    };
}

/// Puts away the second half of a group, with the key that it has ahead of B.
macro_rules! put_away {
    ($group:literal [$c0:literal $c1:literal $c2:literal $c3:literal] [$d0:literal $d1:literal $d2:literal $d3:literal]) => {
        concat!(
            add_key!("256" 16 += $c0 + 8 17 += $c1 + 9 18 += $c2 + 10 19 += $c3 + 11),
            slices!(to $group 8 = 16 9 = 17 10 = 18 11 = 19),
            add_key!("256" 20 += $d0 + 12 21 += $d1 + 13 22 += $d2 + 14 23 += $d3 + 15),
            slices!(to $group 12 = 20 13 = 21 14 = 22 15 = 23),
        )
    };
}

/// The first part of a round of both groups: B, the halves in each other's place, R.
macro_rules! b_and_r {
    ($substitute:ident) => {
        concat!(
            b_function!($substitute, swapped, 0 [0 1 2 3] [4 5 6 7]),
            b_function!($substitute, swapped, 1024 [8 9 10 11] [12 13 14 15]),
            r_function!(0 512 "128" [0 1 2 3] [4 5 6 7]),
            r_function!(1024 512 "128" [8 9 10 11] [12 13 14 15]),
        )
    };
}

/// The second part: R, from the other half.
macro_rules! r {
    () => {
        concat!(
            put_away!(0 [0 1 2 3] [4 5 6 7]),
            r_function!(0 0 "256" [0 1 2 3] [4 5 6 7]),
            put_away!(1024 [8 9 10 11] [12 13 14 15]),
            r_function!(1024 0 "256" [8 9 10 11] [12 13 14 15]),
            "add {keys}, 256\n\
             xor {masks}, 32\n",
        )
    };
}

/// The first key of a group.
macro_rules! input {
    ($group:literal [$c0:literal $c1:literal $c2:literal $c3:literal] [$d0:literal $d1:literal $d2:literal $d3:literal]) => {
        concat!(
            slices!(of $group 16 = 8 17 = 9 18 = 10 19 = 11 20 = 12 21 = 13 22 = 14 23 = 15),
            add_key!("0" 16 += 16 + 8 17 += 17 + 9 18 += 18 + 10 19 += 19 + 11),
            add_key!("0" 20 += 20 + 12 21 += 21 + 13 22 += 22 + 14 23 += 23 + 15),
            slices!(to $group 8 = 16 9 = 17 10 = 18 11 = 19 12 = 20 13 = 21 14 = 22 15 = 23),
            slices!(of $group $c0 = 0 $c1 = 1 $c2 = 2 $c3 = 3 $d0 = 4 $d1 = 5 $d2 = 6 $d3 = 7),
            add_key!("0" $c0 += $c0 + 0 $c1 += $c1 + 1 $c2 += $c2 + 2 $c3 += $c3 + 3),
            add_key!("0" $d0 += $d0 + 4 $d1 += $d1 + 5 $d2 += $d2 + 6 $d3 += $d3 + 7),
        )
    };
}

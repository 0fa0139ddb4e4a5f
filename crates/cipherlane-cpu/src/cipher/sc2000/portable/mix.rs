//! The M function after the circuits of the S-boxes.
//!
//! XORs alone, as few of them as a randomised search has found: greedy elimination of common pairs (C. Paar, 1997),
//! then sums added at random and those removed that are no longer needed.

use std::ops::BitXor;

/// The sum, for each wire x\[i\] that is set, of `super::words::MIXED[i]`: bit j in wire j.
#[rustfmt::skip] // the longest table of this cipher
#[inline(always)]
pub(super) fn mix<T: Copy + BitXor<Output = T>>(x: [T; 32]) -> [T; 32] {
    let t0 = x[27] ^ x[20]; let t1 = t0 ^ x[3]; let t2 = x[25] ^ x[13]; let t3 = t1 ^ t2;
    let t4 = t3 ^ x[19]; let t5 = x[28] ^ x[4]; let t6 = t5 ^ x[1]; let t7 = x[22] ^ x[16];
    let t8 = t7 ^ x[10]; let t9 = t6 ^ t8; let t10 = t4 ^ t9; let t11 = x[24] ^ x[18]; let t12 = t10 ^ t11;
    let t13 = x[6] ^ x[1]; let t14 = t12 ^ t13; let t15 = x[24] ^ x[11]; let t16 = t15 ^ x[31];
    let t17 = x[16] ^ x[15]; let t18 = t17 ^ x[29]; let t19 = t16 ^ t18; let t20 = t19 ^ t0;
    let t21 = x[14] ^ x[8]; let t22 = t21 ^ x[7]; let t23 = t22 ^ x[9]; let t24 = t20 ^ t23;
    let t25 = x[13] ^ x[2]; let t26 = t25 ^ x[18]; let t27 = t24 ^ t26; let t28 = x[23] ^ x[22];
    let t29 = t28 ^ x[21]; let t30 = t6 ^ t29; let t31 = t27 ^ t30; let t32 = x[17] ^ x[10];
    let t33 = t2 ^ t32; let t34 = t20 ^ t33; let t35 = x[23] ^ x[5]; let t36 = t34 ^ t35;
    let t37 = t36 ^ x[4]; let t38 = x[26] ^ x[7]; let t39 = t38 ^ x[21]; let t40 = x[25] ^ x[12];
    let t41 = t39 ^ t40; let t42 = x[3] ^ x[1]; let t43 = t41 ^ t42; let t44 = t43 ^ x[18];
    let t45 = t44 ^ t5; let t46 = t45 ^ t19; let t47 = t13 ^ x[28]; let t48 = x[30] ^ x[4];
    let t49 = t47 ^ t48; let t50 = t49 ^ t15; let t51 = t50 ^ x[29]; let t52 = t0 ^ x[5];
    let t53 = t52 ^ t38; let t54 = t25 ^ x[16]; let t55 = t54 ^ x[9]; let t56 = t53 ^ t55;
    let t57 = t51 ^ t56; let t58 = t57 ^ x[0]; let t59 = t26 ^ t40; let t60 = t59 ^ x[7];
    let t61 = t60 ^ t52; let t62 = x[29] ^ x[24]; let t63 = t62 ^ x[0]; let t64 = t63 ^ t47;
    let t65 = t61 ^ t64; let t66 = t35 ^ x[9]; let t67 = t66 ^ x[14]; let t68 = t50 ^ t67;
    let t69 = x[21] ^ x[12]; let t70 = t69 ^ x[14]; let t71 = t68 ^ t70; let t72 = t1 ^ x[2];
    let t73 = t71 ^ t72; let t74 = t32 ^ x[22]; let t75 = t74 ^ x[26]; let t76 = t75 ^ x[18];
    let t77 = t73 ^ t76; let t78 = t16 ^ t66; let t79 = t78 ^ t5; let t80 = t79 ^ t59;
    let t81 = x[29] ^ x[20]; let t82 = t80 ^ t81; let t83 = t17 ^ x[17]; let t84 = t83 ^ x[4];
    let t85 = t41 ^ t84; let t86 = t85 ^ t11; let t87 = x[8] ^ x[0]; let t88 = t87 ^ x[19];
    let t89 = t88 ^ x[14]; let t90 = t89 ^ t0; let t91 = t90 ^ x[2]; let t92 = t86 ^ t91;
    let t93 = x[27] ^ x[12]; let t94 = t90 ^ t93; let t95 = t94 ^ t26; let t96 = t32 ^ x[30];
    let t97 = t16 ^ t96; let t98 = t97 ^ x[28]; let t99 = t98 ^ t38; let t100 = t95 ^ t99;
    let t101 = t75 ^ t89; let t102 = t13 ^ x[19]; let t103 = t102 ^ x[23]; let t104 = t103 ^ x[4];
    let t105 = t101 ^ t104; let t106 = t81 ^ x[13]; let t107 = t106 ^ x[15]; let t108 = t107 ^ x[6];
    let t109 = t105 ^ t108; let t110 = t40 ^ x[11]; let t111 = t53 ^ t110; let t112 = t111 ^ t21;
    let t113 = t112 ^ x[22]; let t114 = t39 ^ x[0]; let t115 = t98 ^ t114; let t116 = t115 ^ x[2];
    let t117 = t116 ^ t87; let t118 = t101 ^ t62; let t119 = t54 ^ t42; let t120 = t118 ^ t119;
    let t121 = t71 ^ t22; let t122 = t18 ^ x[10]; let t123 = t121 ^ t122; let t124 = t66 ^ x[30];
    let t125 = t124 ^ x[22]; let t126 = t44 ^ t125; let t127 = x[10] ^ x[4]; let t128 = t88 ^ t127;
    let t129 = t126 ^ t128; let t130 = t129 ^ x[11]; let t131 = t93 ^ t87; let t132 = t131 ^ t74;
    let t133 = t132 ^ t19; let t134 = t133 ^ t55; let t135 = t134 ^ t13; let t136 = t135 ^ x[16];
    let t137 = t49 ^ x[21]; let t138 = t96 ^ t21; let t139 = t137 ^ t138; let t140 = t139 ^ t11;
    let t141 = t18 ^ x[31]; let t142 = t35 ^ x[26]; let t143 = t141 ^ t142; let t144 = t143 ^ x[3];
    let t145 = t140 ^ t144; let t146 = t114 ^ t35; let t147 = t4 ^ t146; let t148 = t49 ^ t74;
    let t149 = t147 ^ t148; let t150 = t19 ^ x[25]; let t151 = t26 ^ t47; let t152 = t151 ^ t89;
    let t153 = t150 ^ t152; let t154 = x[17] ^ x[5]; let t155 = t153 ^ t154; let t156 = t26 ^ t127;
    let t157 = t156 ^ t142; let t158 = t157 ^ t102; let t159 = t1 ^ x[15]; let t160 = t159 ^ x[11];
    let t161 = t158 ^ t160; let t162 = t72 ^ x[20]; let t163 = t162 ^ t67; let t164 = t163 ^ t83;
    let t165 = t110 ^ t102; let t166 = t164 ^ t165; let t167 = t43 ^ t7; let t168 = t167 ^ t78;
    let t169 = t59 ^ x[6]; let t170 = t169 ^ t88; let t171 = t170 ^ t51; let t172 = t171 ^ t125;
    let t173 = t172 ^ t49; let t174 = t91 ^ t148; let t175 = t174 ^ x[7]; let t176 = t175 ^ t40;
    let t177 = t176 ^ t18; let t178 = t97 ^ t55; let t179 = t178 ^ t70; let t180 = t179 ^ x[5];
    let t181 = t104 ^ t2; let t182 = t181 ^ t41; let t183 = t137 ^ t87; let t184 = t183 ^ t60;
    let t185 = t184 ^ x[15]; let t186 = t185 ^ t154; let t187 = x[24] ^ x[7]; let t188 = t107 ^ t187;
    let t189 = t188 ^ t76; let t190 = t189 ^ t124; let t191 = t160 ^ t23; let t192 = t191 ^ t169;
    let t193 = t95 ^ t75; let t194 = t193 ^ x[1]; let t195 = t141 ^ x[9]; let t196 = t194 ^ t195;
    let t197 = t41 ^ x[31]; let t198 = t197 ^ x[15]; let t199 = t128 ^ x[27]; let t200 = t198 ^ t199;
    [
        t14, t31, t37, t46, t58, t65, t77, t82, t92, t100, t109, t113, t117, t120, t123, t130, t136, t145,
        t149, t155, t161, t166, t168, t173, t177, t180, t182, t186, t190, t192, t196, t200,
    ]
}

#[cfg(test)]
mod tests {
    use super::super::words::MIXED;
    use super::*;

    #[test]
    fn xors_are_the_matrix() {
        for (i, mixed) in MIXED.into_iter().enumerate() {
            let outputs = mix(std::array::from_fn(|wire| wire == i));
            for (bit, output) in outputs.into_iter().enumerate() {
                assert_eq!(output, mixed >> bit & 1 == 1, "{i} {bit}");
            }
        }
    }
}

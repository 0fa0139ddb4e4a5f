//! The operations that are probed.

/// Two steps of a chain, as `c/probe/steps.h` writes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Steps {
    /// `a += b; b -= a`
    Add,
    /// Sums of three words.
    Add3,
    /// Sums of two words of 64 bits and one of 32.
    AddLong,
    /// Low words of products.
    Mul,
    /// Low words of products, plus a word.
    Mad,
    /// Products of 64 bits, plus 64 bits.
    Wide,
    /// Low halves of products of 64-bit words, plus a word.
    Long,
    /// `a ^= b; b ^= a`
    Xor,
    /// `a &= b; b |= a`
    AndOr,
    /// A function of three words, bit by bit.
    Lop3,
    /// To the left, to the right.
    Shift,
    /// A word out of two, shifted.
    Funnel,
    /// Four bytes out of eight.
    Prmt,
    /// Sums of 32-bit numbers with a point.
    F32Add,
    /// Their products.
    F32Mul,
    /// Their products, plus a third.
    F32Fma,
    /// The same of 32-bit numbers, reckoned in 64 bits and made 32 again.
    F32Cast,
    /// Sums of 64-bit numbers with a point.
    F64Add,
    /// Their products.
    F64Mul,
    /// Their products, plus a third.
    F64Fma,
    /// Shared memory, each lane in a bank of its own.
    LocalFree,
    /// Shared memory, all lanes in one bank.
    LocalOneBank,
    /// Constant memory, all lanes the same word.
    ConstantSame,
    /// Constant memory, a word of its own for each lane.
    ConstantApart,
    /// Products of 16 x 256 by 256 x 8 bits.
    MatrixBits,
    /// The same, and a look-up in shared memory beside each.
    MatrixBitsLocal,
    /// Products of 16 x 32 by 32 x 8 bytes.
    MatrixBytes,
    /// Product and sum, all operands in one register.
    OperandsOne,
    /// In two registers.
    OperandsTwo,
    /// In a register of its own and two that all chains share.
    OperandsShared,
    /// In three registers whose places differ by an even number.
    OperandsEven,
    /// In three registers whose places differ by an odd number.
    OperandsOdd,
}

impl Steps {
    /// Every one of them.
    pub const ALL: [Self; 32] = [
        Self::Add,
        Self::Add3,
        Self::AddLong,
        Self::Mul,
        Self::Mad,
        Self::Wide,
        Self::Long,
        Self::Xor,
        Self::AndOr,
        Self::Lop3,
        Self::Shift,
        Self::Funnel,
        Self::Prmt,
        Self::F32Add,
        Self::F32Mul,
        Self::F32Fma,
        Self::F32Cast,
        Self::F64Add,
        Self::F64Mul,
        Self::F64Fma,
        Self::LocalFree,
        Self::LocalOneBank,
        Self::ConstantSame,
        Self::ConstantApart,
        Self::MatrixBits,
        Self::MatrixBitsLocal,
        Self::MatrixBytes,
        Self::OperandsOne,
        Self::OperandsTwo,
        Self::OperandsShared,
        Self::OperandsEven,
        Self::OperandsOdd,
    ];

    /// Their name in tables and records, what a step becomes on an NVIDIA GPU (the beginnings of its instructions'
    /// names, of which it is one), and their name in C.
    const fn words(self) -> (&'static str, &'static [&'static str], &'static str) {
        match self {
            Self::Add => ("add, subtract", &["IADD", "IMAD.IADD", "VIADD"], "add"),
            Self::Add3 => ("add three", &["IADD3"], "add3"),
            Self::AddLong => ("add three, 64 bits", &["IADD3"], "add_long"),
            Self::Mul => ("multiply", &["IMAD"], "mul"),
            Self::Mad => ("multiply, add", &["IMAD"], "multiply_add"),
            Self::Wide => ("multiply, add, 64 bits", &["IMAD.WIDE"], "wide"),
            Self::Long => ("multiply, add, all of 64 bits", &["IMAD"], "long"),
            Self::Xor => ("xor", &["LOP3"], "xor"),
            Self::AndOr => ("and, or", &["LOP3"], "and_or"),
            Self::Lop3 => ("function of three words", &["LOP3"], "lop3"),
            Self::Shift => ("shift left, right", &["SHF"], "shift"),
            Self::Funnel => ("shift two words", &["SHF"], "funnel"),
            Self::Prmt => ("permute bytes of two", &["PRMT"], "prmt"),
            Self::F32Add => ("float add", &["FADD"], "f32_add"),
            Self::F32Mul => ("float multiply", &["FMUL"], "f32_mul"),
            Self::F32Fma => ("float multiply, add", &["FFMA"], "f32_fma"),
            Self::F32Cast => ("float multiply, add, as double", &["DFMA"], "f32_cast"),
            Self::F64Add => ("double add", &["DADD"], "f64_add"),
            Self::F64Mul => ("double multiply", &["DMUL"], "f64_mul"),
            Self::F64Fma => ("double multiply, add", &["DFMA"], "f64_fma"),
            Self::LocalFree => ("local memory, no conflict", &["LDS"], "local"),
            Self::LocalOneBank => ("local memory, one bank", &["LDS"], "local"),
            Self::ConstantSame => ("constant memory, one word", &["LDC"], "constant"),
            Self::ConstantApart => ("constant memory, a word a lane", &["LDC"], "constant"),
            Self::MatrixBits => ("matrices of bits", &["BMMA"], "mma_b1"),
            Self::MatrixBitsLocal => ("matrices of bits, local memory", &["BMMA"], "mma_b1_local"),
            Self::MatrixBytes => ("matrices of bytes", &["IMMA"], "mma_u8"),
            Self::OperandsOne => ("one register", &["FFMA"], "operands_one"),
            Self::OperandsTwo => ("two registers", &["FFMA"], "operands_two"),
            Self::OperandsShared => ("three, two of them shared", &["FFMA"], "operands_shared"),
            Self::OperandsEven => ("three, an even way apart", &["FFMA"], "operands_even"),
            Self::OperandsOdd => ("three, an odd way apart", &["FFMA"], "operands_odd"),
        }
    }

    /// Their name in tables and records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.words().0
    }

    /// The beginnings of the names of the NVIDIA instructions of which a step becomes one.
    #[must_use]
    pub const fn instructions(self) -> &'static [&'static str] {
        self.words().1
    }

    pub(super) const fn in_c(self) -> &'static str {
        self.words().2
    }

    /// The steps of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|steps| steps.name() == name)
    }

    /// Operations of a lane in a step: products of matrices are spread over the lanes.
    #[must_use]
    pub const fn operations(self) -> u64 {
        match self {
            Self::MatrixBits | Self::MatrixBitsLocal => 16 * 8 * 256 / super::LANES as u64,
            Self::MatrixBytes => 16 * 8 * 32 / super::LANES as u64,
            _ => 1,
        }
    }

    /// Whether they look words up in shared memory.
    #[must_use]
    pub const fn is_local(self) -> bool {
        matches!(self, Self::LocalFree | Self::LocalOneBank | Self::MatrixBitsLocal)
    }

    pub(super) const fn is_constant(self) -> bool {
        matches!(self, Self::ConstantSame | Self::ConstantApart)
    }

    /// Whether they multiply matrices.
    #[must_use]
    pub const fn is_of_matrices(self) -> bool {
        matches!(self, Self::MatrixBits | Self::MatrixBitsLocal | Self::MatrixBytes)
    }

    /// Whether they are of 64-bit numbers with a point, which a device may lack.
    #[must_use]
    pub const fn is_of_doubles(self) -> bool {
        matches!(self, Self::F32Cast | Self::F64Add | Self::F64Mul | Self::F64Fma)
    }

    /// Whether a step is several instructions on GPUs: what a type costs, and not what an instruction does.
    #[must_use]
    pub const fn is_of_types(self) -> bool {
        matches!(self, Self::AddLong | Self::Long | Self::F32Cast)
    }

    /// Whether they tell where operands lie and not what is done with them.
    #[must_use]
    pub const fn is_of_operands(self) -> bool {
        matches!(
            self,
            Self::OperandsOne
                | Self::OperandsTwo
                | Self::OperandsShared
                | Self::OperandsEven
                | Self::OperandsOdd
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_different() {
        for steps in Steps::ALL {
            assert_eq!(Steps::named(steps.name()), Some(steps));
        }
        assert_eq!(Steps::named("multiplication"), None);
    }
}

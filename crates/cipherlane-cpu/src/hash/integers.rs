//! Integer instructions for hash functions of one message.

use crate::lanes::Work;

/// Integer instructions that code is compiled for.
pub(crate) trait Integers: Copy + Send + Sync + 'static {
    /// Runs `work` compiled for them.
    fn compiled<W: Work>(self, work: W) -> W::Output;
}

/// Those that every CPU of the target has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Baseline;

impl Integers for Baseline {
    #[inline(always)]
    fn compiled<W: Work>(self, work: W) -> W::Output {
        work.run()
    }
}

/// Proof of BMI1, which has `andn`, and of BMI2, which rotates into another register.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bmi(());

#[cfg(target_arch = "x86_64")]
impl Bmi {
    /// The proof, where this CPU has the instructions.
    pub(crate) fn detect() -> Option<Self> {
        (is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2")).then_some(Self(()))
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2")]
fn with_bmi<W: Work>(work: W) -> W::Output {
    work.run()
}

#[cfg(target_arch = "x86_64")]
impl Integers for Bmi {
    #[inline(always)]
    fn compiled<W: Work>(self, work: W) -> W::Output {
        // SAFETY: `self` proves the features.
        unsafe { with_bmi(work) }
    }
}

/// Proof of BMI1, BMI2 and AVX2.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct BmiAvx2(());

#[cfg(target_arch = "x86_64")]
impl BmiAvx2 {
    /// The proof, where this CPU has the instructions.
    pub(crate) fn detect() -> Option<Self> {
        (Bmi::detect().is_some() && is_x86_feature_detected!("avx2")).then_some(Self(()))
    }
}

/// Proof of those of [`BmiAvx2`] and of AVX-512 in short registers, which rotate and add three at a time.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct BmiAvx512(());

#[cfg(target_arch = "x86_64")]
impl BmiAvx512 {
    /// The proof, where this CPU has the instructions.
    pub(crate) fn detect() -> Option<Self> {
        let here = BmiAvx2::detect().is_some()
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512vl");
        here.then_some(Self(()))
    }
}

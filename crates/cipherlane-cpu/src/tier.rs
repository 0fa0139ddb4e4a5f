//! Tiers: the instruction sets that a kernel is compiled for, and whether this process may use them.

use std::ffi::OsStr;
use std::fmt;
use std::str::FromStr;

use cipherlane_core::UnknownName;

/// A set of instructions that kernels are compiled for. A later one is wider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tier {
    /// No instruction beyond the target's baseline, and constant time without AES instructions: AES is bitsliced, in
    /// SSE2 registers on x86-64, which every such CPU has, and in 64-bit integers elsewhere.
    Portable,
    /// 128-bit registers: AES-NI and PCLMULQDQ.
    Sse,
    /// 256-bit registers: VAES and VPCLMULQDQ where the CPU has them, else AES-NI on their halves.
    Avx2,
    /// 512-bit registers: VAES, VPCLMULQDQ and GFNI.
    Avx512,
}

/// An instruction set by the name that processor manuals give it, and whether this CPU has it.
type Feature = (&'static str, bool);

/// Makes the tier `avx2` run on AES-NI, as it does on CPUs from before VAES. No tier is lost by it.
const NO_VAES: &str = "CIPHERLANE_NO_VAES";

impl Tier {
    /// Every tier, narrowest first.
    pub const ALL: [Self; 4] = [Self::Portable, Self::Sse, Self::Avx2, Self::Avx512];

    /// The name, as plans and records spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Sse => "sse",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    /// The tiers that this process may use, best first.
    ///
    /// Reads the environment each time: see [`Tier::switch`].
    #[must_use]
    pub fn available() -> Vec<Self> {
        Self::ALL.into_iter().rev().filter(|tier| tier.is_available()).collect()
    }

    /// Whether this CPU has the tier, and it is not switched off.
    #[must_use]
    pub fn is_available(self) -> bool {
        self.missing().is_empty() && !self.is_switched_off()
    }

    /// The instruction sets of the tier that this CPU (or its operating system) lacks.
    #[must_use]
    pub fn missing(self) -> Vec<&'static str> {
        self.needs().into_iter().filter(|(_, here)| !here).map(|(name, _)| name).collect()
    }

    /// The environment variable that switches the tier off, and no other tier: any value but `0` or nothing does.
    /// The portable tier is always there.
    #[must_use]
    pub const fn switch(self) -> Option<&'static str> {
        match self {
            Self::Portable => None,
            Self::Sse => Some("CIPHERLANE_NO_SSE"),
            Self::Avx2 => Some("CIPHERLANE_NO_AVX2"),
            Self::Avx512 => Some("CIPHERLANE_NO_AVX512"),
        }
    }

    /// Whether the environment switches the tier off.
    #[must_use]
    pub fn is_switched_off(self) -> bool {
        self.switch().is_some_and(is_set)
    }

    /// The instructions that carry the tier on this CPU, for people to read.
    #[must_use]
    pub fn instructions(self) -> &'static str {
        match self {
            Self::Portable if cfg!(all(target_arch = "x86_64", target_feature = "sse2")) => "bitsliced, SSE2",
            Self::Portable => "bitsliced, 64-bit integers",
            Self::Sse => "AES-NI 128",
            Self::Avx2 if has_vaes256() => "VAES 256",
            Self::Avx2 => "AES-NI 128 in pairs",
            Self::Avx512 => "VAES 512",
        }
    }

    /// What the tier is made of.
    #[cfg(target_arch = "x86_64")]
    fn needs(self) -> Vec<Feature> {
        let aes = [
            ("AES-NI", is_x86_feature_detected!("aes")),
            ("PCLMULQDQ", is_x86_feature_detected!("pclmulqdq")),
        ];
        let sse =
            [("SSSE3", is_x86_feature_detected!("ssse3")), ("SSE4.1", is_x86_feature_detected!("sse4.1"))];
        let avx2 = [("AVX2", is_x86_feature_detected!("avx2"))];
        let avx512 = [
            ("AVX512F", is_x86_feature_detected!("avx512f")),
            ("AVX512BW", is_x86_feature_detected!("avx512bw")),
            ("AVX512VL", is_x86_feature_detected!("avx512vl")),
            ("AVX512_VBMI", is_x86_feature_detected!("avx512vbmi")),
            ("GFNI", is_x86_feature_detected!("gfni")),
            ("BMI2", is_x86_feature_detected!("bmi2")),
        ];
        match self {
            Self::Portable => Vec::new(),
            Self::Sse => [sse.as_slice(), &aes].concat(),
            Self::Avx2 => [avx2.as_slice(), &aes].concat(),
            Self::Avx512 => [avx512.as_slice(), &avx2, &vaes(), &aes].concat(),
        }
    }

    /// What the tier is made of.
    #[cfg(not(target_arch = "x86_64"))]
    fn needs(self) -> Vec<Feature> {
        match self {
            Self::Portable => Vec::new(),
            Self::Sse | Self::Avx2 | Self::Avx512 => vec![("an x86-64 CPU", false)],
        }
    }
}

/// The AES and carry-less multiply instructions on registers wider than 128 bits.
#[cfg(target_arch = "x86_64")]
fn vaes() -> [Feature; 2] {
    [("VAES", is_x86_feature_detected!("vaes")), ("VPCLMULQDQ", is_x86_feature_detected!("vpclmulqdq"))]
}

/// Whether the tier [`Tier::Avx2`] runs on VAES: the CPU has it, and `CIPHERLANE_NO_VAES` is not set.
#[cfg(target_arch = "x86_64")]
pub(crate) fn has_vaes256() -> bool {
    vaes().iter().all(|(_, here)| *here) && !is_set(NO_VAES)
}

/// Whether the tier [`Tier::Avx2`] runs on VAES.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn has_vaes256() -> bool {
    false
}

/// Every instruction set that kernels make use of and this CPU has.
pub(crate) fn features() -> Vec<&'static str> {
    let mut features: Vec<&str> = Vec::new();
    for (name, here) in Tier::ALL.into_iter().flat_map(Tier::needs) {
        if here && !features.contains(&name) {
            features.push(name);
        }
    }
    features
}

fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| switches_off(&value))
}

fn switches_off(value: &OsStr) -> bool {
    !value.is_empty() && value != "0"
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Tier {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        Self::ALL
            .into_iter()
            .find(|tier| tier.name() == name.to_ascii_lowercase())
            .ok_or_else(|| UnknownName::new("tier", name, Self::ALL.map(|tier| tier.name().to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back() {
        for tier in Tier::ALL {
            assert_eq!(tier.name().parse::<Tier>().unwrap(), tier);
        }
        let error = "neon".parse::<Tier>().unwrap_err().to_string();
        assert_eq!(error, "unknown tier `neon`; known: portable, sse, avx2, avx512");
    }

    #[test]
    fn the_portable_tier_is_always_there() {
        assert!(Tier::Portable.is_available());
        assert_eq!(Tier::available().last(), Some(&Tier::Portable));
        assert_eq!(Tier::Portable.switch(), None);
    }

    #[test]
    fn zero_and_nothing_leave_a_tier_on() {
        assert!(!switches_off(OsStr::new("")) && !switches_off(OsStr::new("0")));
        assert!(switches_off(OsStr::new("1")) && switches_off(OsStr::new("yes")));
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_tier_is_missing_what_the_processor_lacks() {
        use crate::lanes::{sse::Sse, vaes512::Vaes512};
        assert_eq!(Tier::Sse.missing().is_empty(), Sse::detect().is_some());
        assert_eq!(Tier::Avx512.missing().is_empty(), Vaes512::detect().is_some());
    }
}

//! Which design a CPU is of, where the instructions that it has do not tell how fast they are.

use std::sync::LazyLock;

use cipherlane_core::{Algorithm, Cipher, Mode};

/// Designs that kernels are chosen by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Microarchitecture {
    /// Intel's, measured on Emerald Rapids: two vector instructions of 512 bits a clock, one of them a rotation.
    Intel,
    /// AMD's before Zen 5, measured on Zen 4: an instruction of 512 bits is two of 256.
    UpToZen4,
    /// AMD's from Zen 5 on: four vector instructions of 512 bits a clock, two of them rotations.
    FromZen5,
    /// One that nobody measured.
    Other,
}

impl Microarchitecture {
    /// AMD's family of Zen 5, as CPUID counts.
    const ZEN_5: u8 = 0x1a;

    /// That of this CPU.
    pub(crate) fn of_this_cpu() -> Self {
        // Asked once: within a virtual machine each CPUID takes a microsecond or more, as the host answers it.
        static THIS: LazyLock<Microarchitecture> = LazyLock::new(|| {
            let cpuid = raw_cpuid::CpuId::new();
            let vendor = cpuid.get_vendor_info();
            let family = cpuid.get_feature_info().map_or(0, |info| info.family_id());
            Microarchitecture::of(vendor.as_ref().map_or("", raw_cpuid::VendorInfo::as_str), family)
        });
        *THIS
    }

    fn of(vendor: &str, family: u8) -> Self {
        match vendor {
            "GenuineIntel" => Self::Intel,
            "AuthenticAMD" if family >= Self::ZEN_5 => Self::FromZen5,
            "AuthenticAMD" => Self::UpToZen4,
            _ => Self::Other,
        }
    }

    /// Whether texts of `algorithm` from behind the second cache gain by prefetches: on Intel's all do. On Zen 5 those of GCM,
    /// and of other modes by ciphers that run in groups, whose texts are asked for when a group's work is done; AES in these
    /// loses.
    pub(crate) fn gains_by_prefetches(self, algorithm: Algorithm) -> bool {
        match (self, algorithm) {
            (Self::Intel, _) | (Self::FromZen5, Algorithm::Cipher(_, Mode::Gcm)) => true,
            (Self::FromZen5, Algorithm::Cipher(cipher, _)) => !Cipher::AES.contains(&cipher),
            _ => false,
        }
    }

    /// Whether a carry-less multiplication of 512 bits starts only every other clock: on AMD's, against every clock on
    /// Intel's.
    pub(crate) fn multiplies_slowly(self) -> bool {
        matches!(self, Self::UpToZen4 | Self::FromZen5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn designs_are_told_by_maker_and_family() {
        assert_eq!(Microarchitecture::of("GenuineIntel", 6), Microarchitecture::Intel);
        assert_eq!(Microarchitecture::of("AuthenticAMD", 0x19), Microarchitecture::UpToZen4);
        assert_eq!(Microarchitecture::of("AuthenticAMD", 0x1a), Microarchitecture::FromZen5);
        assert_eq!(Microarchitecture::of("HygonGenuine", 0x18), Microarchitecture::Other);
    }

    #[test]
    fn some_gain_by_prefetches() {
        let gains = |design: Microarchitecture, name: &str| design.gains_by_prefetches(name.parse().unwrap());
        let (some, others) = (
            ["aes-256-gcm", "camellia-128-gcm", "sc2000-192-ctr", "sm4-ecb", "sm4-xts", "camellia-256-cbc"],
            ["aes-128-ctr", "aes-256-xts", "aes-128-cbc", "sha-256"],
        );
        for name in some {
            assert!(gains(Microarchitecture::FromZen5, name), "{name}");
        }
        for name in others {
            assert!(!gains(Microarchitecture::FromZen5, name), "{name}");
        }
        for name in some.into_iter().chain(others) {
            assert!(gains(Microarchitecture::Intel, name), "{name}");
            assert!(
                !gains(Microarchitecture::UpToZen4, name) && !gains(Microarchitecture::Other, name),
                "{name}"
            );
        }
    }
}

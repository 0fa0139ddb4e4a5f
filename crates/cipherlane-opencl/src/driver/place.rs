//! Where a device sits on the PCI bus, which only extensions tell, each in its own way.

use cl3::types::cl_device_info;

/// `cl_khr_pci_bus_info`: domain, bus, device, function.
const KHRONOS: cl_device_info = 0x410F;
/// `cl_nv_device_attribute_query`: the bus.
const NVIDIA_BUS: cl_device_info = 0x4008;
/// The device, and in the last three bits the function.
const NVIDIA_SLOT: cl_device_info = 0x4009;
/// The domain, which older drivers do not tell.
const NVIDIA_DOMAIN: cl_device_info = 0x400A;
/// `cl_amd_device_attribute_query`: 24 bytes, of which the first four say that it is a PCI Express card, and the last three
/// are bus, device and function.
const AMD_TOPOLOGY: cl_device_info = 0x4037;
const AMD_PCIE: u32 = 1;

/// The place by the first of `extensions` that tells it, where `get` returns what the device answers.
pub(super) fn bus(extensions: &str, get: impl Fn(cl_device_info) -> Option<Vec<u8>>) -> Option<String> {
    let has = |name| extensions.split(' ').any(|extension| extension == name);
    let told = |what| get(what).map_or_else(Vec::new, |bytes| words(&bytes));
    if has("cl_khr_pci_bus_info")
        && let [domain, bus, device, function] = told(KHRONOS)[..]
    {
        return Some(spell(domain, bus, device, function));
    }
    if has("cl_nv_device_attribute_query") {
        let number = |what| told(what).first().copied();
        let (bus, slot) = (number(NVIDIA_BUS)?, number(NVIDIA_SLOT)?);
        return Some(spell(number(NVIDIA_DOMAIN).unwrap_or(0), bus, slot >> 3, slot & 7));
    }
    if has("cl_amd_device_attribute_query") {
        let topology: [u8; 24] = get(AMD_TOPOLOGY)?.try_into().ok()?;
        let [.., bus, device, function] = topology.map(u32::from);
        return (words(&topology)[0] == AMD_PCIE).then(|| spell(0, bus, device, function));
    }
    None
}

/// As Linux names its folder.
fn spell(domain: u32, bus: u32, device: u32, function: u32) -> String {
    format!("{domain:04x}:{bus:02x}:{device:02x}.{function:x}")
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|&word| u32::from_ne_bytes(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    #[test]
    fn each_extension_tells_the_place() {
        let khronos = |what| (what == KHRONOS).then(|| bytes(&[1, 0xC1, 2, 3]));
        assert_eq!(bus("cl_khr_fp64 cl_khr_pci_bus_info", khronos).unwrap(), "0001:c1:02.3");
        let nvidia = |what| match what {
            NVIDIA_BUS => Some(bytes(&[0x41])),
            NVIDIA_SLOT => Some(bytes(&[0x1F << 3 | 1])),
            _ => None,
        };
        assert_eq!(bus("cl_nv_device_attribute_query", nvidia).unwrap(), "0000:41:1f.1");
        let amd =
            |kind: u32| move |_| Some([kind.to_ne_bytes().to_vec(), vec![0; 17], vec![3, 0, 1]].concat());
        assert_eq!(bus("cl_amd_device_attribute_query", amd(AMD_PCIE)).unwrap(), "0000:03:00.1");
        assert_eq!(bus("cl_amd_device_attribute_query", amd(0)), None);
    }

    #[test]
    fn answers_of_another_length_or_none_tell_nothing() {
        let all = "cl_khr_pci_bus_info cl_nv_device_attribute_query cl_amd_device_attribute_query";
        for answer in [None, Some(vec![]), Some(vec![1; 3])] {
            for name in all.split(' ') {
                assert_eq!(bus(name, |_| answer.clone()), None, "{name}: {answer:?}");
            }
        }
        // A driver that has not the extension is not asked.
        assert_eq!(bus("cl_khr_fp64", |_| panic!("asked")), None);
    }
}

//! Which hosts are one machine.

#![allow(clippy::unwrap_used)] // in helpers as well: what cannot be set up has failed

mod support;

use cipherlane_record::Host;
use support::host;

#[test]
fn cpus_of_one_name_are_told_apart_by_their_signatures() {
    let signed = |model: u8| Host { cpu_signature: Some(format!("family 25 model {model}")), ..host() };
    assert!(signed(1).is_machine_of(&signed(1)));
    assert!(!signed(1).is_machine_of(&signed(17)));
    // Records of before there were signatures are those of the machine of that name, and read back.
    let mut old = serde_json::to_value(host()).unwrap();
    old.as_object_mut().unwrap().remove("cpu_signature");
    let old: Host = serde_json::from_value(old).unwrap();
    assert!(old.is_machine_of(&signed(1)) && signed(17).is_machine_of(&old));
}

#[test]
fn cpus_of_one_name_are_told_apart_by_their_instruction_sets() {
    let with = |features: &[&str]| Host {
        cpu_signature: None,
        features: features.iter().map(|&name| name.to_owned()).collect(),
        ..host()
    };
    assert!(with(&["aes", "vaes"]).is_machine_of(&with(&["aes", "vaes"])));
    assert!(!with(&["aes", "vaes"]).is_machine_of(&with(&["aes", "vaes", "avx512f"])));
    // Some systems list none.
    assert!(with(&["aes"]).is_machine_of(&with(&[])) && with(&[]).is_machine_of(&with(&["aes"])));
}

#[test]
fn what_could_not_be_read_this_time_makes_no_other_machine() {
    let whole = Host { gpus: Some(vec!["A GPU".to_owned()]), ..host() };
    let hide: [fn(&mut Host); 8] = [
        |host| host.physical_cores = None,
        |host| host.online_cpus = None,
        |host| host.l2_bytes = None,
        |host| host.last_level_cache_bytes = None,
        |host| host.cpu_model = None,
        |host| host.cpu_signature = None,
        |host| host.gpus = None,
        |host| host.hypervisor = None,
    ];
    for (place, hide) in hide.into_iter().enumerate() {
        let mut hidden = whole.clone();
        hide(&mut hidden);
        assert!(hidden != whole && hidden.is_machine_of(&whole) && whole.is_machine_of(&hidden), "{place}");
    }
}

#[test]
fn what_was_read_and_differs_makes_another_machine() {
    let whole = Host { gpus: Some(vec!["A GPU".to_owned()]), ..host() };
    let change: [fn(&mut Host); 6] = [
        |host| host.online_cpus = Some(1),
        |host| host.l2_bytes = Some(1),
        |host| host.last_level_cache_bytes = Some(1),
        |host| host.cpu_model = Some("Another CPU".to_owned()),
        |host| host.gpus = Some(Vec::new()),
        |host| host.hypervisor = Some("none".to_owned()),
    ];
    for (place, change) in change.into_iter().enumerate() {
        let mut other = whole.clone();
        change(&mut other);
        assert!(!other.is_machine_of(&whole) && !whole.is_machine_of(&other), "{place}");
    }
}

/// As those in `records/` with and without a GPU: their CPUs and caches are told to be the same.
#[test]
fn virtual_machines_of_several_sizes_are_several() {
    let large = Host { logical_cores: 16, online_cpus: Some(16), physical_cores: None, ..host() };
    assert!(!large.is_machine_of(&host()));
}

#[test]
fn a_run_that_is_pinned_is_of_the_same_machine_in_another_setting() {
    let pinned = Host { logical_cores: 1, physical_cores: Some(1), ..host() };
    assert!(pinned.is_machine_of(&host()) && host().is_machine_of(&pinned));
    assert!(!pinned.is_setting_of(&host()) && !host().is_setting_of(&pinned));
    assert!(pinned.is_setting_of(&pinned.clone()));
}

/// They tell the CPUs that could be used alone, which stand for all of them as ever.
#[test]
fn records_of_before_online_cpus_were_told_are_compared_by_those_that_could_be_used() {
    let old = |host: Host| -> Host {
        let mut value = serde_json::to_value(host).unwrap();
        value.as_object_mut().unwrap().remove("online_cpus");
        serde_json::from_value(value).unwrap()
    };
    let pinned = || Host { logical_cores: 1, physical_cores: Some(1), ..host() };
    assert!(old(host()).is_machine_of(&host()) && host().is_machine_of(&old(host())));
    assert!(!old(pinned()).is_machine_of(&host()) && !host().is_machine_of(&old(pinned())));
    assert!(old(pinned()).is_machine_of(&pinned()) && !old(pinned()).is_machine_of(&old(host())));
}

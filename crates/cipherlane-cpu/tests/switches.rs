//! Tiers are switched off one by one, each in a process of its own.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests fail as tests do

use std::process::Command;

use cipherlane_core::{Algorithm, Device, Operation, Shape, Wish};
use cipherlane_cpu::{Cpu, Tier};

/// How a line begins that names a kernel.
const KERNEL: &str = "kernel of ";

fn shape() -> Shape {
    Shape::uniform("aes-128-gcm".parse().unwrap(), Operation::Seal, 1, 16, true)
}

/// A test by itself, and what the others run in a process with other variables.
#[test]
fn the_default_kernel_is_of_a_tier_that_is_on() {
    let cpu = Cpu::new();
    let plan = cpu.plan(&shape(), &Wish::default()).unwrap();
    assert!(plan.tier.parse::<Tier>().unwrap().is_available());
    println!("default kernel: {}", plan.kernel);
    for tier in Tier::ALL {
        let details = &cpu.info().details;
        let state = details.iter().find(|(name, _)| name == tier.name()).map(|(_, state)| state.as_str());
        assert_eq!(
            state.unwrap().contains("switched off by"),
            tier.missing().is_empty() && tier.is_switched_off()
        );
        let wish = Wish { tier: Some(tier.name().to_owned()), ..Wish::default() };
        if let Err(error) = cpu.plan(&shape(), &wish) {
            println!("{error}");
        }
    }
}

/// A test by itself, and what another one runs in processes with other variables.
#[test]
fn tiers_that_are_on_name_their_kernels() {
    let cpu = Cpu::new();
    for tier in Tier::available() {
        let wish = Wish { tier: Some(tier.name().to_owned()), ..Wish::default() };
        for algorithm in Algorithm::all() {
            for &operation in algorithm.operations() {
                let shape = Shape::uniform(algorithm, operation, 1, 16, true);
                let kernel = cpu.plan(&shape, &wish).unwrap().kernel;
                println!("{KERNEL}{tier}, {algorithm}, {operation}: {kernel} by {}", tier.instructions());
            }
        }
    }
}

/// The default kernel and what else is printed where `variables` have the value `value`.
fn with_variables(variables: &[&str], value: &str) -> String {
    printed_by("the_default_kernel_is_of_a_tier_that_is_on", variables, value)
}

/// What `test` prints where `variables` have the value `value`.
fn printed_by(test: &str, variables: &[&str], value: &str) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]);
    for tier in Tier::ALL {
        if let Some(switch) = tier.switch() {
            command.env_remove(switch);
        }
    }
    for variable in variables {
        command.env(variable, value);
    }
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    text
}

/// The tiers that this CPU has, best first, whatever the environment of this test says.
fn tiers() -> Vec<Tier> {
    Tier::ALL.into_iter().rev().filter(|tier| tier.missing().is_empty()).collect()
}

#[test]
fn the_next_tier_takes_over() {
    let mut off = Vec::new();
    for tier in tiers() {
        let text = with_variables(&off, "1");
        assert!(text.contains(&format!("default kernel: aes-gcm/{tier}/")), "without {off:?}: {text}");
        for variable in &off {
            assert!(text.contains(&format!("is switched off by {variable}; unset it")), "{text}");
        }
        off.extend(tier.switch());
    }
}

#[test]
fn one_switch_leaves_other_tiers_on() {
    let (best, rest) = (tiers()[0], &tiers()[1..]);
    for switch in rest.iter().filter_map(|tier| tier.switch()) {
        assert!(with_variables(&[switch], "1").contains(&format!("default kernel: aes-gcm/{best}/")));
    }
}

/// The tests of kernels rely on it: they are not run again for each switch of a tier.
#[test]
fn a_switch_leaves_the_kernels_of_other_tiers_as_they_are() {
    let kernels = |off: &[&str]| -> Vec<String> {
        let text = printed_by("tiers_that_are_on_name_their_kernels", off, "1");
        text.lines().filter_map(|line| line.split_once(KERNEL)).map(|(_, line)| line.to_owned()).collect()
    };
    let all = kernels(&[]);
    let (mut off, mut others) = (Vec::new(), all.clone());
    for tier in tiers() {
        assert!(!others.is_empty(), "without {off:?}");
        off.extend(tier.switch());
        if tier.switch().is_some() {
            others.retain(|line| !line.starts_with(&format!("{tier}, ")));
            assert_eq!(kernels(&off), others, "without {off:?}");
        }
    }
    // It is the one switch that changes what a tier is made of.
    let has_vaes = Tier::Avx2.missing().is_empty() && Tier::Avx2.instructions().starts_with("VAES");
    assert_eq!(kernels(&["CIPHERLANE_NO_VAES"]) == all, !has_vaes);
}

#[test]
fn zero_and_nothing_switch_nothing_off() {
    let switches: Vec<&str> = Tier::ALL.into_iter().filter_map(Tier::switch).collect();
    for value in ["", "0"] {
        let text = with_variables(&switches, value);
        assert!(text.contains(&format!("default kernel: aes-gcm/{}/", tiers()[0])), "{text}");
    }
}

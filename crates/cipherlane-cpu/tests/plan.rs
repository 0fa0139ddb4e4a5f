//! What the CPU plans, and which plans it refuses.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests fail as tests do

use cipherlane_core::{Algorithm, Device, Operation, Plan, Shape, Unsupported, Wish};
use cipherlane_cpu::{Cpu, Tier};

fn shape(messages: usize, bytes: u64) -> Shape {
    Shape::uniform("aes-128-gcm".parse().unwrap(), Operation::Seal, messages, bytes, true)
}

fn refusal(wish: &Wish) -> String {
    Cpu::new().plan(&shape(1, 100), wish).unwrap_err().to_string()
}

#[test]
fn kernels_say_family_mode_tier_and_lanes() {
    let cpu = Cpu::new();
    for algorithm in Algorithm::all() {
        for &operation in algorithm.operations() {
            let kernels = cpu.kernels(&Shape::uniform(algorithm, operation, 1, 16, true));
            let (safe, vartime): (Vec<_>, Vec<_>) =
                kernels.into_iter().partition(|kernel| kernel.constant_time);
            let tiers: Vec<&str> = safe.iter().map(|kernel| kernel.tier.as_str()).collect();
            assert_eq!(tiers, cpu.info().tiers, "{algorithm} {operation}: a tier without a kernel");
            for kernel in safe {
                let name = format!("{}/{}/x{}", algorithm.family(), kernel.tier, kernel.lanes);
                assert_eq!(kernel.name, name);
            }
            for kernel in vartime {
                assert!(kernel.name.contains("_vartime/x"), "{}", kernel.name);
            }
        }
    }
}

#[test]
fn what_is_not_constant_time_has_to_be_named() {
    let cpu = Cpu::new();
    let shape = Shape::uniform("sc2000-128-ecb".parse().unwrap(), Operation::Encrypt, 100, 1600, true);
    let kernel = cpu.kernels(&shape).pop().unwrap();
    assert!(!kernel.constant_time);
    let portable = Wish { tier: Some("portable".to_owned()), ..Wish::default() };
    assert!(cpu.plan(&shape, &portable).unwrap().constant_time);
    let named = Wish { kernel: Some(kernel.name.clone()), ..Wish::default() };
    let plan = cpu.plan(&shape, &named).unwrap();
    assert_eq!((plan.kernel.as_str(), plan.constant_time), (kernel.name.as_str(), false));
    cpu.open(&plan).unwrap();
}

#[test]
fn tables_are_offered_by_layout() {
    for (algorithm, expected) in [
        ("aes-256-gcm", vec!["aes-gcm/portable-table_vartime/x16"]),
        (
            "camellia-128-ctr",
            vec!["camellia-ctr/portable-table-32_vartime/x16", "camellia-ctr/portable-table-64_vartime/x16"],
        ),
        ("sm4-xts", vec!["sm4-xts/portable-table_vartime/x16"]),
    ] {
        let algorithm: Algorithm = algorithm.parse().unwrap();
        let shape = Shape::uniform(algorithm, algorithm.operations()[0], 1, 16, true);
        let kernels = Cpu::new().kernels(&shape);
        let vartime = kernels.iter().filter(|kernel| !kernel.constant_time);
        let names: Vec<&str> = vartime.map(|kernel| kernel.name.as_str()).collect();
        assert_eq!(names, expected);
    }
}

#[test]
fn the_default_is_the_best_tier_and_small_batches_stay_on_one_thread() {
    let cpu = Cpu::new();
    let small = cpu.plan(&shape(15, 16), &Wish::default()).unwrap();
    assert_eq!((small.tier.as_str(), small.threads), (Tier::available()[0].name(), 1));
    let large = cpu.plan(&shape(1, 1 << 30), &Wish::default()).unwrap();
    assert_eq!(large.threads, cpu.info().threads);
    let many = cpu.plan(&shape(1_000_000, 1), &Wish::default()).unwrap();
    assert_eq!(many.threads, cpu.info().threads);
}

#[test]
fn a_plan_serves_what_would_be_planned_so() {
    let cpu = Cpu::new();
    let sizes = [0, 1, 64, 4096, 64 << 10, 256 << 10, 1 << 30];
    let shapes: Vec<Shape> =
        [1, 2, 17, 1000].into_iter().flat_map(|messages| sizes.map(|bytes| shape(messages, bytes))).collect();
    for threads in [None, Some(1), Some(2)] {
        for chunk in [None, Some(64 << 10)] {
            let wish = Wish { threads, chunk, ..Wish::default() };
            let plans: Vec<Plan> = shapes.iter().map(|shape| cpu.plan(shape, &wish).unwrap()).collect();
            for (shape, wanted) in shapes.iter().zip(&plans) {
                let mut serving = plans.iter().filter(|plan| cpu.serves(plan, shape, &wish));
                assert!(serving.all(|plan| plan == wanted), "{shape:?}, {wish:?}");
            }
            let (first, last) = (&plans[0], &plans[plans.len() - 1]);
            assert!(
                cpu.serves(first, &shapes[1], &wish) || threads == Some(2),
                "a small one is told at once"
            );
            assert_eq!(cpu.serves(last, &shapes[1], &wish), threads == Some(1), "{wish:?}");
        }
    }
}

#[test]
fn aad_and_long_digests_are_worth_threads() {
    let cpu = Cpu::new();
    let threads = |shape: &Shape, threads: Option<usize>| {
        cpu.plan(shape, &Wish { threads, ..Wish::default() }).unwrap().threads
    };
    let short = Shape::uniform("shake128".parse().unwrap(), Operation::Hash, 64, 32, true);
    for short in [shape(64, 0), short] {
        assert_eq!(threads(&short, None), 1, "{short:?}");
        let long = Shape { beside: 64 << 20, ..short };
        assert_eq!((threads(&long, None), threads(&long, Some(8))), (cpu.info().threads, 8), "{long:?}");
        // Those of one message are not shared out.
        let one = Shape { messages: 1, ..long };
        assert_eq!(threads(&one, None), 1, "{one:?}");
    }
}

#[test]
fn a_chain_that_cannot_be_cut_gets_one_thread() {
    let cbc = |operation| Shape::uniform("aes-128-cbc".parse().unwrap(), operation, 1, 1 << 30, true);
    let threads = |operation| Cpu::new().plan(&cbc(operation), &Wish::default()).unwrap().threads;
    assert_eq!(threads(Operation::Encrypt), 1);
    assert_eq!(threads(Operation::Decrypt), Cpu::new().info().threads);
}

#[test]
fn no_thread_is_planned_that_finds_no_work() {
    let cpu = Cpu::new();
    let plan_of = |bytes, algorithm: &str, messages, shared, chunk| {
        let algorithm: Algorithm = algorithm.parse().unwrap();
        let shape = Shape::uniform(algorithm, algorithm.forward(), messages, bytes, shared);
        cpu.plan(&shape, &Wish { threads: Some(3), chunk, ..Wish::default() }).unwrap()
    };
    let plan = |algorithm, messages, shared, chunk| plan_of(1 << 10, algorithm, messages, shared, chunk);
    // One thread runs as many chains side by side as there are lanes.
    for (algorithm, shared) in [("sha-256", true), ("aes-128-cbc", true), ("aes-128-cbc", false)] {
        let lanes = plan(algorithm, 1, shared, None).lanes;
        let found =
            [1, lanes, lanes + 1, 3 * lanes].map(|messages| plan(algorithm, messages, shared, None).threads);
        assert_eq!(found, [1, 1, 2, 3], "{algorithm}, {lanes} lanes");
        assert_eq!(plan(algorithm, 1, shared, Some(8192)).threads, 3, "{algorithm}, divided by hand");
        // Idle lanes are better than an idle thread, where that is worth one.
        let long = [1, 2, 3, 4].map(|messages| plan_of(1 << 20, algorithm, messages, shared, None).threads);
        assert_eq!(long, [1, 2, 3, 3], "{algorithm}, long messages");
    }
    // A message of its own is cut, whosever the key is.
    for shared in [true, false] {
        assert_eq!(plan("aes-128-gcm", 1, shared, None).threads, 3, "shared key: {shared}");
    }
    let chain = Shape::uniform("sha-256".parse().unwrap(), Operation::Hash, 1, 1 << 20, true);
    for threads in [0, 1 << 20] {
        let wish = Wish { threads: Some(threads), ..Wish::default() };
        let error = cpu.plan(&chain, &wish).unwrap_err().to_string();
        assert!(error.contains("threads must be 1 to"), "{error}");
    }
}

#[test]
fn a_long_message_with_a_key_of_its_own_gets_all_threads() {
    let cpu = Cpu::new();
    let shape = Shape::uniform("aes-128-gcm".parse().unwrap(), Operation::Seal, 1, 1 << 30, false);
    assert_eq!(cpu.plan(&shape, &Wish::default()).unwrap().threads, cpu.info().threads);
}

#[test]
fn wishes_are_kept() {
    let cpu = Cpu::new();
    let wish =
        Wish { tier: Some("portable".to_owned()), threads: Some(3), chunk: Some(8192), ..Wish::default() };
    let plan = cpu.plan(&shape(1, 100), &wish).unwrap();
    assert_eq!((plan.tier.as_str(), plan.threads, plan.chunk), ("portable", 3, 8192));
    let wish = Wish { kernel: Some(plan.kernel.clone()), ..Wish::default() };
    assert_eq!(cpu.plan(&shape(1, 100), &wish).unwrap().kernel, plan.kernel);
}

#[test]
fn what_cannot_be_is_refused_with_the_remedy() {
    let error = refusal(&Wish { tier: Some("neon".to_owned()), ..Wish::default() });
    assert!(error.contains("tier neon") && error.contains("portable"), "{error}");
    let error = refusal(&Wish { kernel: Some("aes-gcm/portable/x77".to_owned()), ..Wish::default() });
    assert!(error.contains("x77") && error.contains("aes-gcm/portable/x"), "{error}");
    let error = refusal(&Wish { threads: Some(0), ..Wish::default() });
    assert!(error.contains("threads must be 1 to"), "{error}");
    let error = refusal(&Wish { chunk: Some(100), ..Wish::default() });
    assert!(error.contains("chunk must be 4096 bytes or more"), "{error}");
    let encrypt = Shape { operation: Operation::Encrypt, ..shape(1, 100) };
    let error = Cpu::new().plan(&encrypt, &Wish::default()).unwrap_err().to_string();
    assert!(error.contains("does not offer aes-128-gcm encrypt"), "{error}");
}

#[test]
fn a_tier_that_the_processor_lacks_names_the_instructions() {
    for tier in Tier::ALL {
        let wish = Wish { tier: Some(tier.name().to_owned()), ..Wish::default() };
        let missing = tier.missing();
        match Cpu::new().plan(&shape(1, 100), &wish) {
            Err(Unsupported::Missing { missing: named, .. }) => assert_eq!(named, missing.join(", ")),
            Err(Unsupported::SwitchedOff { variable, .. }) => assert_eq!(Some(&*variable), tier.switch()),
            other => assert!(missing.is_empty() && other.is_ok(), "{other:?}"),
        }
    }
}

#[test]
fn a_plan_edited_by_hand_is_checked() {
    let cpu = Cpu::new();
    let plan = cpu.plan(&shape(1, 100), &Wish::default()).unwrap();
    assert!(cpu.open(&plan).is_ok());
    let edits: [fn(&mut Plan); 8] = [
        |plan| plan.device = "cuda:0".to_owned(),
        |plan| plan.operation = Operation::Encrypt,
        |plan| plan.kernel = "aes-gcm".to_owned(),
        |plan| plan.tier = "neon".to_owned(),
        |plan| plan.lanes += 1,
        |plan| plan.threads = 0,
        |plan| plan.chunk = 0,
        |plan| plan.constant_time = false,
    ];
    for (index, edit) in edits.into_iter().enumerate() {
        let mut edited = plan.clone();
        edit(&mut edited);
        assert!(cpu.open(&edited).is_err(), "edit {index} was not noticed: {edited:?}");
    }
}

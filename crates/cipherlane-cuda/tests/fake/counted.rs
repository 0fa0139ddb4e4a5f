//! How often the driver is called for what is not of the work itself.

use crate::bound::lend;
use crate::captured::{ask, driver, encrypt, open};
use crate::{is_role, run};

/// Not a test of its own.
#[test]
fn count_calls() {
    if !is_role("counted::count_calls") {
        return;
    }
    let device = &cipherlane_cuda::devices().unwrap()[0];
    let (mut session, driver) = (open(device), driver());
    encrypt(&mut *session).unwrap();
    let count = |name: &str, work: &mut dyn FnMut()| {
        let before = ask(&driver, name);
        work();
        ask(&driver, name) - before
    };
    let of_run = count("fake_pushed", &mut || drop(encrypt(&mut *session).unwrap()));
    assert_eq!(of_run, 1, "calls of one run that enter the context");
    let memory = lend(device, &[5; 100]);
    let mut copies = || memory.write(3, &[6; 10]).and_then(|()| memory.read(0, &mut [0; 50])).unwrap();
    assert_eq!(count("fake_pushed", &mut copies), 2, "calls of two copies that enter the context");
    assert_eq!(count("fake_streams", &mut copies), 0, "streams that are made for copies");
}

#[test]
fn calls_beside_the_work_are_few() {
    if let Some((said, passed)) = run("counted::count_calls", &[]) {
        assert!(passed, "{said}");
    }
}

//! Every rival of this build against published answers, its own other ways, and the refusals that it documents.

use cipherlane_core::{
    Algorithm, Batch, Cipher, Column, Device, DeviceError, Messages, Mode, Operation, Output, Shape, Source,
    TagLengths, Unsupported, Wish,
};

const GCM: Algorithm = Algorithm::new(Cipher::Aes128, Mode::Gcm);

fn hex(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("hex digits"))
        .collect()
}

/// Test case 4 of the GCM submission (McGrew and Viega, appendix B): 60 bytes of text, 20 of AAD.
struct Case4 {
    key: Vec<u8>,
    nonce: Vec<u8>,
    aad: Vec<u8>,
    plain: Vec<u8>,
    coded: Vec<u8>,
    tag: Vec<u8>,
}

fn case4() -> Case4 {
    Case4 {
        key: hex("feffe9928665731c6d6a8f9467308308"),
        nonce: hex("cafebabefacedbaddecaf888"),
        aad: hex("feedfacedeadbeeffeedfacedeadbeefabaddad2"),
        plain: hex(concat!(
            "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72",
            "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
        )),
        coded: hex(concat!(
            "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e",
            "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091"
        )),
        tag: hex("5bc94fbc3221a5db94fae95ae7121a47"),
    }
}

/// Every kernel of every rival for the shape.
fn kernels(shape: &Shape) -> Vec<(Box<dyn Device>, String)> {
    let mut all = Vec::new();
    for (position, device) in cipherlane_rivals::available().iter().enumerate() {
        for kernel in device.kernels(shape) {
            all.push((cipherlane_rivals::available().swap_remove(position), kernel.name));
        }
    }
    all
}

fn named(kernel: &str) -> Wish {
    Wish { kernel: Some(kernel.to_owned()), ..Wish::default() }
}

#[test]
fn every_way_seals_and_opens_the_published_case() {
    let case = case4();
    let shape = Shape::uniform(GCM, Operation::Seal, 1, 60, true);
    let all = kernels(&shape);
    assert!(!all.is_empty(), "this build has no rival at all: {:?}", cipherlane_rivals::absent());
    for (device, kernel) in all {
        let id = &device.info().id;
        let offsets = [0, 60];
        let (key, nonce, aad) =
            (Column::Shared(&case.key), Column::Shared(&case.nonce), Column::Shared(&case.aad));
        let (mut text, mut tag) = (vec![0; 60], vec![0; 16]);
        let messages = Messages { source: Source::Apart(&case.plain), offsets: &offsets };
        let plan = device.plan(&shape, &named(&kernel)).unwrap();
        let mut session = device.open(&plan).unwrap();
        let batch = Batch::seal(GCM, key, nonce, aad, messages);
        session.run(&batch, &mut Output::sealed(&mut text, &mut tag)).unwrap();
        assert_eq!((&text, &tag), (&case.coded, &case.tag), "{kernel} of {id}");

        let shape = Shape::uniform(GCM, Operation::Open, 1, 60, true);
        let mut session = device.open(&device.plan(&shape, &named(&kernel)).unwrap()).unwrap();
        for (last, right) in [(case.tag[15], true), (case.tag[15] ^ 0x80, false)] {
            let (mut text, mut accepted) = (case.coded.clone(), [!right]);
            tag[15] = last;
            let messages = Messages { source: Source::InPlace, offsets: &offsets };
            let batch = Batch::open(GCM, key, nonce, aad, messages, &tag);
            session.run(&batch, &mut Output::opened(&mut text, &mut accepted)).unwrap();
            let expected = if right { case.plain.clone() } else { vec![0; 60] };
            assert_eq!((text, accepted[0]), (expected, right), "{kernel} of {id}");
        }
    }
}

#[test]
fn what_a_way_does_not_take_is_refused_before_anything_is_written() {
    let case = case4();
    let offsets = [0, 60];
    for (device, kernel) in kernels(&Shape::uniform(GCM, Operation::Seal, 1, 60, true)) {
        let shape = Shape::uniform(GCM, Operation::Seal, 1, 60, true);
        let mut session = device.open(&device.plan(&shape, &named(&kernel)).unwrap()).unwrap();
        let nonce = vec![7; 129];
        let (mut text, mut tag) = (vec![0xaa; 60], vec![0xaa; 4]);
        let messages = Messages { source: Source::Apart(&case.plain), offsets: &offsets };
        let (key, nonce) = (Column::Shared(&case.key), Column::Shared(&nonce));
        let mut batch = Batch::seal(GCM, key, nonce, Column::EMPTY, messages);
        batch.tag_lengths = TagLengths::Same(4);
        match session.run(&batch, &mut Output::sealed(&mut text, &mut tag)) {
            Ok(_) => assert_ne!(text, [0xaa; 60], "{kernel} of {}", device.info().id),
            Err(DeviceError::Unsupported(Unsupported::Range { .. })) => {
                assert_eq!((text, tag), (vec![0xaa; 60], vec![0xaa; 4]), "{kernel} of {}", device.info().id);
            }
            Err(other) => panic!("{kernel} of {}: {other}", device.info().id),
        }
    }
}

#[test]
fn one_message_stays_on_one_thread() {
    for device in cipherlane_rivals::available() {
        let wish = Wish { threads: Some(4), ..Wish::default() };
        let plan = |messages| {
            let shape = Shape::uniform(GCM, Operation::Seal, messages, 1 << 20, true);
            device.plan(&shape, &wish).unwrap().threads
        };
        assert_eq!((plan(1), plan(2), plan(100)), (1, 2, 4), "{}", device.info().id);
    }
}

#[test]
fn unknown_wishes_name_what_there_is() {
    for device in cipherlane_rivals::available() {
        let shape = Shape::uniform(GCM, Operation::Seal, 1, 64, true);
        let tier = Wish { tier: Some("avx512".to_owned()), ..Wish::default() };
        assert!(device.plan(&shape, &tier).unwrap_err().to_string().contains("library"));
        let error = device.plan(&shape, &named("aes-gcm/none")).unwrap_err().to_string();
        assert!(error.contains("aes-gcm/library/"), "{error}");
        let error = device.plan(&shape, &Wish { threads: Some(0), ..Wish::default() }).unwrap_err();
        assert!(matches!(error, Unsupported::Range { found: 0, .. }), "{error}");
    }
}

#[test]
fn absent_rivals_come_with_a_remedy() {
    let ids: Vec<_> = cipherlane_rivals::available().iter().map(|device| device.info().id.clone()).collect();
    for absent in cipherlane_rivals::absent() {
        assert!(!ids.contains(&absent.id), "{} is there and is not", absent.id);
        assert!(!absent.reason.is_empty() && !absent.remedy.is_empty());
    }
}

/// What its build leaves out is nothing that is compared.
#[cfg(feature = "openssl")]
#[test]
fn openssl_is_built_with_all_that_it_has() {
    use cipherlane_core::Hash;

    let devices = cipherlane_rivals::available();
    let openssl = devices.iter().find(|device| device.info().id == "rival:openssl").unwrap();
    let has = |algorithm, operation| {
        let shape = Shape::uniform(algorithm, operation, 1, 64, true);
        assert!(!openssl.kernels(&shape).is_empty(), "{algorithm}");
    };
    for cipher in Cipher::ALL.into_iter().filter(|cipher| cipher.family() != "sc2000") {
        for mode in [Mode::Ecb, Mode::Cbc, Mode::Ctr] {
            has(Algorithm::new(cipher, mode), Operation::Encrypt);
        }
    }
    for cipher in [Cipher::Aes128, Cipher::Aes192, Cipher::Aes256, Cipher::Sm4] {
        has(Algorithm::new(cipher, Mode::Gcm), Operation::Seal);
    }
    for cipher in [Cipher::Aes128, Cipher::Aes256] {
        has(Algorithm::new(cipher, Mode::Xts), Operation::Encrypt);
    }
    for hash in Hash::ALL {
        has(Algorithm::Hash(hash), Operation::Hash);
    }
}

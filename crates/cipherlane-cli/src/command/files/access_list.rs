//! Access lists of files, as Linux keeps them beside the mode (acl(5)): what named users and groups may. With such a list, the
//! group's bits of a mode say what all of these may at most, and not what the group may.

use std::fs::File;
use std::io;
use std::path::Path;

/// The list of the file at `path`: none where it has none, or the file system knows of none.
#[cfg(target_os = "linux")]
pub(super) fn of(path: &Path) -> io::Result<Option<Vec<u8>>> {
    // As long as a value may be (xattr(7)).
    let mut list = vec![0; 64 << 10];
    match rustix::fs::getxattr(path, LIST, &mut list) {
        Ok(bytes) => {
            list.truncate(bytes);
            Ok(Some(list))
        }
        Err(error) if knows_none(error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Gives `file` this list, in the place of one that it may have by its folder's default.
#[cfg(target_os = "linux")]
pub(super) fn give(file: &File, list: Option<&[u8]>) -> io::Result<()> {
    let Some(list) = list else {
        return match rustix::fs::fremovexattr(file, LIST) {
            Err(error) if !knows_none(error) => Err(error.into()),
            _ => Ok(()),
        };
    };
    Ok(rustix::fs::fsetxattr(file, LIST, list, rustix::fs::XattrFlags::empty())?)
}

#[cfg(target_os = "linux")]
const LIST: &str = "system.posix_acl_access";

#[cfg(target_os = "linux")]
fn knows_none(error: rustix::io::Errno) -> bool {
    matches!(error, rustix::io::Errno::NODATA | rustix::io::Errno::OPNOTSUPP)
}

/// None: other systems have lists of other kinds, which files do not hand on.
#[cfg(not(target_os = "linux"))]
#[allow(clippy::unnecessary_wraps)] // as on Linux
pub(super) fn of(_: &Path) -> io::Result<Option<Vec<u8>>> {
    Ok(None)
}

/// Nothing: `list` is none there.
#[cfg(not(target_os = "linux"))]
#[allow(clippy::unnecessary_wraps)] // as on Linux
pub(super) fn give(_: &File, _list: Option<&[u8]>) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use rustix::fs::{XattrFlags, setxattr};

    use super::*;
    use crate::command::files::target::{IfTaken, Target};
    use crate::render::sink::Sink;

    /// What one user may beside the owner, who reads and writes; the group nothing, as others. Version 2, then a kind, what
    /// it may and, of the one who is named, a number.
    fn list() -> Vec<u8> {
        const NOBODY: u32 = u32::MAX;
        let of = |kind: u16, may: u16, who: u32| {
            [&kind.to_le_bytes()[..], &may.to_le_bytes(), &who.to_le_bytes()].concat()
        };
        let entries =
            [of(1, 6, NOBODY), of(2, 4, 12345), of(4, 0, NOBODY), of(16, 4, NOBODY), of(32, 0, NOBODY)];
        [2_u32.to_le_bytes().to_vec(), entries.concat()].concat()
    }

    #[test]
    fn a_replaced_file_hands_on_its_list_and_takes_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let (with, without) = (folder.path().join("with"), folder.path().join("without"));
        for path in [&with, &without] {
            std::fs::write(path, "old").unwrap();
            std::fs::set_permissions(path, Permissions::from_mode(0o640)).unwrap();
        }
        match setxattr(&with, LIST, &list(), XattrFlags::empty()) {
            Err(rustix::io::Errno::OPNOTSUPP) => {
                eprintln!("NOT TESTED: {} has no access lists", folder.path().display());
                return;
            }
            is_set => is_set.unwrap(),
        }
        // New files in this folder get one of their own.
        setxattr(folder.path(), "system.posix_acl_default", &list(), XattrFlags::empty()).unwrap();
        for (path, expected) in [(with, Some(list())), (without, None)] {
            Target::create(&Sink::File(path.clone()), true).unwrap().keep(IfTaken::Remove).unwrap();
            assert_eq!(of(&path).unwrap(), expected, "{}", path.display());
            assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o640);
            assert_eq!(std::fs::read(&path).unwrap(), b"");
        }
    }
}

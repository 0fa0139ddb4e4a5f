//! What a misspelt name may mean.

use cipherlane::devices::NoDevice;
use cipherlane::{Algorithm, UnknownName};

/// Of `known`, the name that `name` is within a slip of: a letter too many, too few, another, or two in the wrong order; or
/// else the only one that begins so. Hyphens and the like do not count.
fn near(name: &str, known: impl IntoIterator<Item = String>) -> Option<String> {
    let letters = |name: &str| {
        name.chars().filter(|letter| letter.is_alphanumeric()).collect::<String>().to_ascii_lowercase()
    };
    let name = letters(name);
    let known: Vec<String> = known.into_iter().collect();
    let distance = |known: &String| strsim::osa_distance(&name, &letters(known));
    let nearest = known.iter().min_by_key(|known| distance(known))?;
    if distance(nearest) <= 1 {
        return Some(nearest.clone());
    }
    let mut longer =
        known.into_iter().filter(|known| name.len() >= SHORTEST && letters(known).starts_with(&name));
    let only = longer.next()?;
    longer.next().is_none().then_some(only)
}

/// Letters from which on a name that is cut short tells what is meant.
const SHORTEST: usize = 3;

/// What to say of `name` behind an error that none of `known` is called so: nothing where none is near.
pub(crate) fn behind(name: &str, known: impl IntoIterator<Item = String>) -> String {
    near(name, known).map_or_else(String::new, |near| format!("; did you mean {near}?"))
}

/// What to say behind `error`, where it is about a name that nothing has.
pub(crate) fn of(error: &anyhow::Error) -> String {
    let unknown = |cause: &(dyn std::error::Error + 'static)| match cause.downcast_ref::<NoDevice>() {
        Some(NoDevice::Unknown(unknown)) => Some(unknown.clone()),
        _ => cause.downcast_ref::<UnknownName>().cloned(),
    };
    let unknown = error.chain().find_map(unknown);
    let Some(UnknownName { kind, name, known }) = unknown else { return String::new() };
    let is_of_own = kind == "workload" && name.parse::<Algorithm>().is_ok();
    if is_of_own { format!("; did you mean --algorithm {name}?") } else { behind(&name, known) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_near_is_suggested_and_what_is_not_is_not() {
        let all = || Algorithm::all().map(|algorithm| algorithm.to_string());
        for (name, meant) in [
            ("aes-128-gmc", "aes-128-gcm"),
            ("AES128GCM", "aes-128-gcm"),
            ("sha_256", "sha-256"),
            ("camelia-256-ctr", "camellia-256-ctr"),
            ("sm4-x", "sm4-xts"),
        ] {
            assert_eq!(near(name, all()).as_deref(), Some(meant), "{name}");
        }
        for name in ["aes-512-gcm", "des", "sm4", "sh", ""] {
            assert_eq!(near(name, all()), None, "{name}");
        }
    }

    #[test]
    fn errors_about_names_say_it_whatever_is_around_them() {
        let unknown = || UnknownName::new("workload", "tls-16", ["bulk".to_owned(), "tls-16k".to_owned()]);
        let hash = UnknownName::new("workload", "sha3-256", ["bulk".to_owned()]);
        assert_eq!(of(&hash.into()), "; did you mean --algorithm sha3-256?");
        assert_eq!(of(&anyhow::Error::from(unknown()).context("bench")), "; did you mean tls-16k?");
        assert_eq!(of(&NoDevice::Unknown(unknown()).into()), "; did you mean tls-16k?");
        assert_eq!(of(&anyhow::anyhow!("disk full")), "");
    }
}

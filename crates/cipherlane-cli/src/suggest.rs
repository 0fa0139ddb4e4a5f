//! What a misspelt name may mean.

use cipherlane::UnknownName;
use cipherlane::devices::NoDevice;

/// Of `known`, the name that `name` is within a slip of: a letter too many, too few, another, or two in the wrong order.
/// Hyphens and the like do not count.
fn near(name: &str, known: impl IntoIterator<Item = String>) -> Option<String> {
    let letters = |name: &str| {
        name.chars().filter(|letter| letter.is_alphanumeric()).collect::<String>().to_ascii_lowercase()
    };
    let name = letters(name);
    let distance = |known: &String| strsim::osa_distance(&name, &letters(known));
    let (distance, nearest) =
        known.into_iter().map(|known| (distance(&known), known)).min_by_key(|near| near.0)?;
    (distance <= 1).then_some(nearest)
}

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
    unknown.map_or_else(String::new, |UnknownName { name, known, .. }| behind(&name, known))
}

#[cfg(test)]
mod tests {
    use cipherlane::Algorithm;

    use super::*;

    #[test]
    fn what_is_near_is_suggested_and_what_is_not_is_not() {
        let all = || Algorithm::all().map(|algorithm| algorithm.to_string());
        for (name, meant) in [
            ("aes-128-gmc", "aes-128-gcm"),
            ("AES128GCM", "aes-128-gcm"),
            ("sha_256", "sha-256"),
            ("camelia-256-ctr", "camellia-256-ctr"),
        ] {
            assert_eq!(near(name, all()).as_deref(), Some(meant), "{name}");
        }
        for name in ["aes-512-gcm", "des", ""] {
            assert_eq!(near(name, all()), None, "{name}");
        }
    }

    #[test]
    fn errors_about_names_say_it_whatever_is_around_them() {
        let unknown = || UnknownName::new("workload", "tls-16", ["bulk".to_owned(), "tls-16k".to_owned()]);
        assert_eq!(of(&anyhow::Error::from(unknown()).context("bench")), "; did you mean tls-16k?");
        assert_eq!(of(&NoDevice::Unknown(unknown()).into()), "; did you mean tls-16k?");
        assert_eq!(of(&anyhow::anyhow!("disk full")), "");
    }
}

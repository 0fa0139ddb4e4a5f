//! Which devices make a fleet: shares are equal, so that the slowest of unlike ones would keep all waiting.

/// The places of the most devices of one of `kinds`; where two kinds have as many, of the one that comes first. Devices
/// without a kind stay outside.
#[must_use]
pub fn most_alike<K: PartialEq>(kinds: &[Option<K>]) -> Vec<usize> {
    let like = |kind: &Option<K>| (0..kinds.len()).filter(|&place| kinds[place] == *kind).collect::<Vec<_>>();
    // Of as many ones, `max_by_key` has the last.
    kinds.iter().rev().filter(|kind| kind.is_some()).map(like).max_by_key(Vec::len).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_are_taken_and_of_as_many_the_first() {
        let places = |kinds: &[&'static str]| {
            most_alike(
                &kinds.iter().map(|kind| Some(*kind).filter(|kind| *kind != "none")).collect::<Vec<_>>(),
            )
        };
        assert_eq!(places(&["a", "b", "b", "a"]), [0, 3]);
        assert_eq!(places(&["a", "b", "b"]), [1, 2]);
        assert_eq!(places(&["none", "none", "a"]), [2]);
        assert!(places(&["none", "none"]).is_empty() && places(&[]).is_empty());
    }
}

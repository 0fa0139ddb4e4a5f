//! Which of the devices that a driver lists can be used.

/// The devices of `listed`, each of them by its identifier, that can be used. One that cannot, or does not say what it is, as
/// after it has fallen off its bus, is left out with a warning.
///
/// # Errors
/// Where there is none: why not, one by one, or `none` if nothing is listed.
pub fn usable<T>(
    listed: impl IntoIterator<Item = (String, Result<T, String>)>,
    none: &str,
) -> Result<Vec<T>, String> {
    let (mut found, mut reasons) = (Vec::new(), Vec::new());
    for (id, device) in listed {
        match device {
            Ok(device) => found.push(device),
            Err(reason) => reasons.push(format!("{id}: {reason}")),
        }
    }
    if found.is_empty() {
        return Err(if reasons.is_empty() { none.to_owned() } else { reasons.join("; ") });
    }
    for reason in reasons {
        log::warn!("left out: {reason}");
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_used_hides_nothing_else() {
        let listed = |devices: &[Result<u8, &str>]| {
            let device = |(index, device): (usize, &Result<u8, &str>)| {
                (format!("mill:{index}"), device.map_err(str::to_owned))
            };
            usable(devices.iter().enumerate().map(device), "no mill: build one")
        };
        assert_eq!(listed(&[Err("no water"), Ok(7), Ok(8)]), Ok(vec![7, 8]));
        let reasons = "mill:0: no water; mill:1: no wind";
        assert_eq!(listed(&[Err("no water"), Err("no wind")]), Err(reasons.to_owned()));
        assert_eq!(listed(&[]), Err("no mill: build one".to_owned()));
    }
}

//! Moments in UTC, as people write them.

const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The day: `2026-01-31`.
#[must_use]
pub fn day(unix_seconds: u64) -> String {
    let (year, month, day) = civil(unix_seconds / 86_400);
    format!("{year:04}-{month:02}-{day:02}")
}

/// The second, fit for the name of a file: `2026-01-31T23-59-59Z`.
#[must_use]
pub fn timestamp(unix_seconds: u64) -> String {
    let (hour, minute, second) = clock(unix_seconds);
    format!("{}T{hour:02}-{minute:02}-{second:02}Z", day(unix_seconds))
}

/// As C's `ctime` prints it, without its newline: `Sat Jan 31 23:59:59 2026`.
#[must_use]
pub fn ctime(unix_seconds: u64) -> String {
    let days = unix_seconds / 86_400;
    let (year, month, day) = civil(days);
    let (hour, minute, second) = clock(unix_seconds);
    let weekday = WEEKDAYS[(days % 7) as usize];
    let month = MONTHS[month as usize - 1];
    format!("{weekday} {month} {day:2} {hour:02}:{minute:02}:{second:02} {year}")
}

const fn clock(unix_seconds: u64) -> (u64, u64, u64) {
    let second = unix_seconds % 86_400;
    (second / 3600, second / 60 % 60, second % 60)
}

/// The Gregorian year, month and day, counted in days from 1970-01-01.
///
/// Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`.
const fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + (month <= 2) as u64, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        assert_eq!(day(0), "1970-01-01");
        assert_eq!(day(951_782_400), "2000-02-29");
        assert_eq!(day(1_767_225_599), "2025-12-31");
    }

    #[test]
    fn moments_are_those_of_the_clock() {
        assert_eq!(timestamp(1_769_903_999), "2026-01-31T23-59-59Z");
        assert_eq!(timestamp(1_709_209_384), "2024-02-29T12-23-04Z");
        // `date -u -d @1769903999`, and a day of one digit, which C pads with a space.
        assert_eq!(ctime(1_769_903_999), "Sat Jan 31 23:59:59 2026");
        assert_eq!(ctime(0), "Thu Jan  1 00:00:00 1970");
    }
}

//! Times stream by stream: of all sessions of a pass, and in the middle of many passes.

use std::time::Duration;

use cipherlane::StreamSpans;
use cipherlane_record::{StreamTimes, Times};

use crate::statistics;

/// The streams of sessions that take turns. Those of the same device and number count as one.
pub(crate) fn together(sessions: impl IntoIterator<Item = Vec<StreamSpans>>) -> Vec<StreamSpans> {
    let mut all: Vec<StreamSpans> = Vec::new();
    for one in sessions.into_iter().flatten() {
        match all.iter_mut().find(|known| (&known.device, known.stream) == (&one.device, one.stream)) {
            Some(known) => known.add(&one),
            None => all.push(one),
        }
    }
    all
}

/// How many streams each device had, of those that had most in the last of `passes`; one where there is nothing to tell.
pub(crate) fn count(passes: &[Vec<StreamSpans>]) -> u64 {
    let numbers = passes.last().into_iter().flatten().map(|one| one.stream as u64 + 1);
    numbers.max().unwrap_or(1)
}

/// The median of each time over `passes`, all of the same sessions. Chunks are those of the last.
pub(crate) fn medians(passes: &[Vec<StreamSpans>]) -> Vec<StreamTimes> {
    let of = |(index, last): (usize, &StreamSpans)| {
        let median = |time: fn(&StreamSpans) -> Duration| {
            let streams = passes.iter().filter_map(|pass| pass.get(index));
            statistics::median(&streams.map(|one| time(one).as_secs_f64()).collect::<Vec<_>>())
        };
        StreamTimes {
            device: last.device.clone(),
            stream: last.stream as u64,
            chunks: last.chunks as u64,
            times: Times {
                to_device_seconds: median(|one| one.load),
                kernel_seconds: median(|one| one.execute),
                to_host_seconds: median(|one| one.store),
            },
        }
    };
    passes.last().map(|last| last.iter().enumerate().map(of).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(device: &str, stream: usize, milliseconds: [u64; 3]) -> StreamSpans {
        let [load, execute, store] = milliseconds.map(Duration::from_millis);
        StreamSpans { chunks: 2, load, execute, store, ..StreamSpans::idle(device, stream) }
    }

    #[test]
    fn streams_are_counted_device_by_device() {
        let pass =
            vec![stream("cuda:0", 0, [1; 3]), stream("cuda:0", 1, [1; 3]), stream("cuda:1", 0, [1; 3])];
        assert_eq!((count(&[Vec::new(), pass]), count(&[])), (2, 1));
    }

    #[test]
    fn streams_of_sessions_count_as_one_by_device_and_number() {
        let one = vec![stream("cuda:0", 0, [1, 2, 3]), stream("cuda:1", 0, [4, 5, 6])];
        let other = vec![stream("cuda:1", 0, [10, 20, 30]), stream("cuda:1", 1, [7, 8, 9])];
        let all = together([one, other]);
        let found: Vec<_> =
            all.iter().map(|one| (one.device.as_str(), one.stream, one.chunks, one.busy())).collect();
        let time = Duration::from_millis;
        assert_eq!(
            found,
            [("cuda:0", 0, 2, time(6)), ("cuda:1", 0, 4, time(75)), ("cuda:1", 1, 2, time(24))]
        );
    }

    #[test]
    fn medians_are_of_each_time() {
        let passes = [[1, 8, 3], [5, 2, 30], [3, 4, 300]].map(|times| {
            vec![stream("cuda:0", 0, times), StreamSpans { chunks: 0, ..stream("cuda:0", 1, [0; 3]) }]
        });
        let found = medians(&passes);
        let times = Times { to_device_seconds: 0.003, kernel_seconds: 0.004, to_host_seconds: 0.03 };
        assert_eq!(found[0], StreamTimes { device: "cuda:0".to_owned(), stream: 0, chunks: 2, times });
        assert_eq!((found[1].chunks, found[1].times.kernel_seconds), (0, 0.0));
        assert!(medians(&[]).is_empty());
    }
}

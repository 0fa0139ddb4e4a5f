//! Linear interpolation in a table of 1024 knots at uneven places. Prints a checksum and seconds.
//! Every quotient is by a power of two, so all results are exact, whatever the compiler does.

const KNOTS: usize = 1024;

fn next(state: u32) -> u32 {
    state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223)
}

fn interpolate(queries: u32) -> u32 {
    let mut state = 1;
    let mut places = vec![0_i32; KNOTS];
    let mut heights = vec![0.0_f64; KNOTS];
    let mut place = 0;
    for knot in 0..KNOTS {
        state = next(state);
        places[knot] = place;
        heights[knot] = f64::from(state >> 16);
        place += 1 << (state >> 13 & 7);
    }
    let span = places[KNOTS - 1];
    let mut checksum = 0_u32;
    for _ in 0..queries {
        state = next(state);
        let x = (state >> 8) as i32 % span;
        let (mut low, mut high) = (0, KNOTS - 1);
        while high - low > 1 {
            let middle = (low + high) >> 1;
            if places[middle] <= x {
                low = middle;
            } else {
                high = middle;
            }
        }
        let part = f64::from(x - places[low]) / f64::from(places[high] - places[low]);
        let y = heights[low] + (heights[high] - heights[low]) * part;
        checksum = checksum.wrapping_mul(31).wrapping_add((y * 128.0) as u32);
    }
    checksum
}

fn main() {
    let queries = std::env::args().nth(1).and_then(|text| text.parse().ok()).expect("queries");
    let start = std::time::Instant::now();
    let result = interpolate(queries);
    println!("{result} {:.9}", start.elapsed().as_secs_f64());
}

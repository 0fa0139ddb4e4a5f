//! Product of two square matrices, its rows spread over threads. Prints a checksum and seconds.
//! All entries are small integers, so all sums are exact in any order.

use std::time::Instant;

fn rows(left: &[f64], right: &[f64], size: usize, product: &mut [f64]) {
    for (row, out) in product.chunks_exact_mut(size).enumerate() {
        for inner in 0..size {
            let factor = left[row * size + inner];
            let start = inner * size;
            for (out, entry) in out.iter_mut().zip(&right[start..start + size]) {
                *out += factor * entry;
            }
        }
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter_map(|text| text.parse::<usize>().ok());
    let size = arguments.next().expect("size");
    let threads = arguments.next().expect("threads");
    let entries = size * size;
    let left: Vec<f64> = (0..entries).map(|entry| (entry * 7 % 11) as f64).collect();
    let right: Vec<f64> = (0..entries).map(|entry| (entry * 5 % 13) as f64).collect();
    let mut product = vec![0.0; entries];
    let start = Instant::now();
    std::thread::scope(|scope| {
        let mut rest = product.as_mut_slice();
        for thread in 0..threads {
            let (first, end) = (size * thread / threads, size * (thread + 1) / threads);
            let (own, after) = rest.split_at_mut((end - first) * size);
            rest = after;
            let (left, right) = (&left[first * size..], &right);
            scope.spawn(move || rows(left, right, size, own));
        }
    });
    let time = start.elapsed();
    let checksum = product.iter().fold(0_u32, |sum, &entry| sum.wrapping_mul(31).wrapping_add(entry as u32));
    println!("{checksum} {:.9}", time.as_secs_f64());
}

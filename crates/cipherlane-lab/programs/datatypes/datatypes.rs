//! x = x * a + b over an array that fits the first-level cache, in each type. Prints a checksum and seconds.
//! a is -1, so every value returns after two rounds and all types have the same, exact, results.

use std::ffi::{c_int, c_long, c_longlong};
use std::time::Instant;

const LENGTH: usize = 1024;

/// The type of the array and that of a and b; where they differ, every value is converted there and back.
macro_rules! job {
    ($name:ident, $type:ty, $factor:ty) => {
        fn $name(rounds: u32, factor: i32) -> u32 {
            let mut values = [0 as $type; LENGTH];
            let mut addends = [0 as $factor; LENGTH];
            let a = factor as $factor;
            for i in 0..LENGTH {
                values[i] = (i % 89) as $type;
                addends[i] = (i % 97) as $factor;
            }
            for _ in 0..rounds {
                for i in 0..LENGTH {
                    values[i] = (values[i] as $factor * a + addends[i]) as $type;
                }
            }
            let mut checksum = 0_u32;
            for i in 0..LENGTH {
                checksum = checksum.wrapping_mul(31).wrapping_add(values[i] as i32 as u32);
            }
            checksum
        }
    };
}

job!(int, c_int, c_int);
job!(long, c_long, c_long);
job!(long_long, c_longlong, c_longlong);
job!(float, f32, f32);
job!(double, f64, f64);
job!(float_cast, f32, f64);

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let job = match arguments[1].as_str() {
        "int" => int,
        "long" => long,
        "long-long" => long_long,
        "float" => float,
        "double" => double,
        "float-cast" => float_cast,
        other => panic!("no type is called {other}"),
    };
    let rounds = arguments[2].parse().expect("rounds");
    let factor = arguments[3].parse().expect("factor");
    let start = Instant::now();
    let checksum = job(rounds, factor);
    println!("{checksum} {:.9}", start.elapsed().as_secs_f64());
}

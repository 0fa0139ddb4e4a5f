//! Colours of series, as people see them who lack one kind of cone cell.

#![allow(clippy::unwrap_used)] // in helpers as well: what cannot be read has failed

use cipherlane_report::STYLE;

type Vector = [f64; 3];
type Matrix = [Vector; 3];

/// Linear RGB as seen with all cones, without those for long, middle and short waves (G. M. Machado, M. M. Oliveira,
/// L. A. F. Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency", IEEE TVCG 15 (6),
/// 2009: severity 1).
const SEEN: [(&str, Matrix); 4] = [
    ("all cones", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    (
        "protanopia",
        [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
    ),
    (
        "deuteranopia",
        [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ],
    ),
    (
        "tritanopia",
        [
            [1.255_528, -0.076_749, -0.178_779],
            [-0.078_411, 0.930_809, 0.147_602],
            [0.004_733, 0.691_367, 0.303_900],
        ],
    ),
];
/// From linear sRGB to XYZ, by the white of D65 (IEC 61966-2-1).
const XYZ: Matrix = [
    [0.4124 / 0.9505, 0.3576 / 0.9505, 0.1805 / 0.9505],
    [0.2126, 0.7152, 0.0722],
    [0.0193 / 1.089, 0.1192 / 1.089, 0.9505 / 1.089],
];
/// Three differences in CIELAB that are just noticed, each 2.3.
const APART: f64 = 7.0;

fn times(matrix: &Matrix, vector: Vector) -> Vector {
    matrix.map(|row| row.iter().zip(vector).map(|(one, other)| one * other).sum())
}

/// The colours of series in the order of the style sheet, in linear RGB: eight for light, eight for dark.
fn series() -> Vec<Vector> {
    let linear = |hex: &str| {
        let value = f64::from(u8::from_str_radix(hex, 16).unwrap()) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    let colours = STYLE.split("--s").skip(1).filter_map(|rest| rest.split_once(": #"));
    let colours = colours.filter(|(name, _)| name.parse::<u8>().is_ok());
    colours.map(|(_, hex)| [linear(&hex[..2]), linear(&hex[2..4]), linear(&hex[4..6])]).collect()
}

/// Lightness, and how red and how yellow it is (CIE 15).
fn lab(rgb: Vector) -> Vector {
    let root = |value: f64| if value > 0.008_856 { value.cbrt() } else { 7.787 * value + 16.0 / 116.0 };
    let [x, y, z] = times(&XYZ, rgb).map(root);
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

#[test]
fn series_are_told_apart_without_one_kind_of_cone() {
    let colours = series();
    assert_eq!(colours.len(), 16, "light and dark");
    for (eyes, seen) in SEEN {
        for palette in colours.chunks(8) {
            let labs: Vec<Vector> = palette
                .iter()
                .map(|colour| lab(times(&seen, *colour).map(|part| part.clamp(0.0, 1.0))))
                .collect();
            for (place, one) in labs.iter().enumerate() {
                for (other_place, other) in labs.iter().enumerate().skip(place + 1) {
                    let squares = one.iter().zip(other).map(|(a, b)| (a - b) * (a - b));
                    let difference = squares.sum::<f64>().sqrt();
                    assert!(difference >= APART, "{eyes}: {place} and {other_place} by {difference:.1}");
                }
            }
        }
    }
}

// Linear interpolation in a table of 1024 knots at uneven places. Prints a checksum and seconds.
// Every quotient is by a power of two, so all results are exact, whatever the compiler does.
"use strict";

const KNOTS = 1024;

function interpolate(queries) {
  let state = 1;
  const places = new Int32Array(KNOTS);
  const heights = new Float64Array(KNOTS);
  let place = 0;
  for (let knot = 0; knot < KNOTS; knot++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    places[knot] = place;
    heights[knot] = state >>> 16;
    place += 1 << ((state >>> 13) & 7);
  }
  const span = places[KNOTS - 1];
  let checksum = 0;
  for (let query = 0; query < queries; query++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const x = (state >>> 8) % span;
    let low = 0;
    let high = KNOTS - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (places[middle] <= x) {
        low = middle;
      } else {
        high = middle;
      }
    }
    const part = (x - places[low]) / (places[high] - places[low]);
    const y = heights[low] + (heights[high] - heights[low]) * part;
    checksum = (Math.imul(checksum, 31) + Math.trunc(y * 128.0)) >>> 0;
  }
  return checksum;
}

const start = process.hrtime.bigint();
const result = interpolate(Number(process.argv[2]));
console.log(result, Number(process.hrtime.bigint() - start) / 1e9);

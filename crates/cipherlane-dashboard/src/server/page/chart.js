// Numbers and pictures of the dashboard's page: what `page.js` shows things with.
'use strict';

const byId = id => document.getElementById(id);

// Text that stays is left alone: it can be selected, and costs the browser nothing.
function put(id, text) {
  const place = byId(id);
  if (place.textContent !== text) place.textContent = text;
}

// ---- numbers for people, as in the report

// Three significant digits; more where the whole part has more.
function significant(value) {
  const size = Math.abs(value);
  if (size === 0 || !Number.isFinite(value)) return String(value);
  if (size >= 1e6 || size < 0.0009995) return value.toExponential(2).replace('e+', 'e');
  if (size >= 99.95) return value.toFixed(0);
  if (size >= 9.995) return value.toFixed(1);
  // As many places as leave three digits after the zeros.
  return value.toFixed([2, 3, 4, 5].find(places => size * 10 ** places >= 99.95) ?? 6);
}

const PREFIXES = [[1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']];

// [number, unit with its prefix]
function prefixed(value, unit) {
  const [factor, prefix] = PREFIXES.find(([factor]) => value >= 0.9995 * factor) ?? [1, ''];
  const digits = factor === 1 && Number.isInteger(value) ? String(value) : significant(value / factor);
  return [digits, `${prefix}${unit}`];
}

const inWords = (value, unit) => prefixed(value, unit).join(' ').trim();
const gigabytes = rate => significant(rate / 1e9);

const UNITS = {
  '': 1, b: 1, k: 2 ** 10, kib: 2 ** 10, m: 2 ** 20, mib: 2 ** 20, g: 2 ** 30, gib: 2 ** 30, t: 2 ** 40, tib: 2 ** 40,
  kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12,
};

// The bytes of a size as the command line takes it: 16, 16k, 1MiB, 4kB, in any case. An error, in its words, of anything
// else.
function size(text) {
  const [, digits, unit] = /^\s*(\d+)\s*([a-z]*)\s*$/i.exec(text) ?? [];
  const bytes = Number(digits) * UNITS[unit?.toLowerCase()];
  if (Number.isNaN(bytes)) {
    throw new Error(`\`${text}\` is no size; write 16, 16k or 1MiB, which count in 1024, or 4kB, in 1000`);
  }
  if (!Number.isSafeInteger(bytes)) throw new Error(`\`${text}\` is more than a machine can address`);
  return bytes;
}

// ---- elements

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function drawn(name, attributes, text = '') {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

// A little above `most`, so that four steps are round numbers.
function roundUp(most) {
  const power = 10 ** Math.floor(Math.log10(most || 1));
  return [1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10, 12].map(step => step * power).find(top => top >= most * 1.001);
}

// The means of `step` neighbours each. Gaps stay, and nothing is joined over them.
function thinned(points, step) {
  const thin = [];
  let some = [];
  const flush = () => {
    if (some.length > 0) thin.push([0, 1].map(place => some.reduce((sum, point) => sum + point[place], 0) / some.length));
    some = [];
  };
  for (const point of points) {
    if (point[1] === null) { flush(); thin.push(point); } else if (some.push(point) === step) flush();
  }
  flush();
  return thin;
}

// Moments up to `end` at round distances, six at most.
function moments(end) {
  const steps = [0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900];
  const step = steps.find(step => end / step <= 6) ?? 3600;
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, place) => place * step);
}

// ---- the chart of throughput

// Which run is shown and how many of its points, and the points of each: seconds and bytes a second, `null` where a pause
// begins.
const chart = { run: 0, shown: 0, of: new Map() };
const FRAME = { left: 52, top: 12, bottom: 226, height: 252 };

function drawChart(all) {
  // Drawn in the pixels that there are, so that letters keep their size on a phone.
  const { left, top, bottom, height } = FRAME, width = byId('chart').clientWidth || 760, right = width - 16;
  byId('chart').setAttribute('viewBox', `0 0 ${width} ${height}`);
  const step = Math.ceil(all.length / 700), points = thinned(all, step);
  const rates = all.map(([, rate]) => rate).filter(rate => rate !== null);
  const parts = [drawn('title', { id: 'chart-name' }, 'Throughput while it runs')];
  if (rates.length === 0) {
    byId('chart').replaceChildren(...parts);
    byId('chart-words').textContent = 'Throughput appears here.';
    return;
  }
  const [, unit] = prefixed(Math.max(...rates), 'B/s');
  const factor = PREFIXES.find(([, prefix]) => `${prefix}B/s` === unit)?.[0] ?? 1;
  const most = roundUp(Math.max(...rates) / factor), end = Math.max(points.at(-1)[0], 1);
  const x = seconds => left + (right - left) * seconds / end;
  const y = rate => bottom - (bottom - top) * rate / factor / most;
  for (let step = 0; step <= 4; step++) {
    const value = most * step / 4, level = y(value * factor);
    parts.push(drawn('line', { class: 'grid', x1: left, x2: right, y1: level, y2: level }));
    parts.push(drawn('text', { x: left - 8, y: level + 4, 'text-anchor': 'end' }, String(Number(value.toPrecision(3)))));
  }
  const marks = moments(end);
  for (const seconds of marks) {
    const text = seconds === marks.at(-1) ? `${seconds} s` : String(seconds);
    parts.push(drawn('text', { x: x(seconds), y: bottom + 20, 'text-anchor': 'middle' }, text));
  }
  parts.push(drawn('text', { x: left + 6, y: top + 12 }, unit));
  let run = [];
  const flush = () => {
    if (run.length > 1) parts.push(drawn('polyline', { class: 'line', points: run.join(' ') }));
    run = [];
  };
  for (const [seconds, rate] of points) {
    if (rate === null) flush(); else run.push(`${x(seconds).toFixed(1)},${y(rate).toFixed(1)}`);
  }
  const [last] = run.slice(-1);
  flush();
  if (last) parts.push(drawn('circle', { class: 'end', r: 4, cx: last.split(',')[0], cy: last.split(',')[1] }));
  byId('chart').replaceChildren(...parts);
  const mean = rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
  byId('chart-words').textContent = `From ${inWords(Math.min(...rates), 'B/s')} to ${inWords(Math.max(...rates), 'B/s')}, `
    + `on average ${inWords(mean, 'B/s')}, each over a quarter of a second; `
    + `${step > 1 ? `a point is the mean of ${step / 4} s` : 'a point each quarter of a second'}, gaps are pauses.`;
}

// Adds what the table lacks; it is not looked for where nobody sees it.
function drawTable() {
  const rows = byId('chart-rows');
  if (!rows.closest('details').open) return;
  const row = ([seconds, rate]) => {
    const made = document.createElement('tr');
    made.append(element('td', seconds.toFixed(2)), element('td', rate === null ? 'paused' : gigabytes(rate)));
    return made;
  };
  rows.append(...(chart.of.get(chart.run) ?? []).slice(rows.childElementCount).map(row));
}

// Puts points that are new after those of the run that are there.
function addPoints({ run, first, points }) {
  if (first === 0) chart.of.set(run, []);
  chart.of.get(run)?.push(...points);
}

// Shows the points of a run, or that it has none yet.
function showChart(run) {
  const points = chart.of.get(run) ?? [];
  if (run === chart.run && points.length === chart.shown) return;
  if (run !== chart.run) byId('chart-rows').replaceChildren();
  chart.run = run;
  chart.shown = points.length;
  drawChart(points);
  drawTable();
}

// ---- sensors

const HISTORY = 240;

// The last readings of a sensor, from its lowest to its highest.
function sparkline(values) {
  const known = values.filter(value => value !== null), low = Math.min(...known), high = Math.max(...known);
  const y = value => high > low ? 19 - 18 * (value - low) / (high - low) : 10;
  const points = values.map((value, place) => value === null ? '' : `${place * 100 / (HISTORY - 1)},${y(value)}`);
  const svg = drawn('svg', { viewBox: '0 0 100 20', preserveAspectRatio: 'none', 'aria-hidden': 'true' });
  svg.append(drawn('polyline', { points: points.filter(Boolean).join(' ') }));
  return svg;
}

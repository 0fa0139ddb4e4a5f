// The dashboard's page: fills the form from the catalog, sends requests, and shows what the stream of events tells.
// All text goes into the page as text, never as markup. Numbers and pictures are made in `chart.js`.
'use strict';

const token = new URLSearchParams(location.search).get('token') ?? '';
const at = path => `${path}?token=${encodeURIComponent(token)}`;
const form = byId('form');
const field = name => form.elements[name];

// ---- talking to the server

// The answer of the server; an error is thrown in its own words.
async function ask(path, body, more = {}) {
  const post = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const response = await fetch(at(path), { ...post, headers: { 'content-type': 'application/json' }, ...more });
  const text = await response.text();
  const answer = response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text;
  if (!response.ok) throw new Error(answer.error ?? answer);
  return answer;
}

// ---- the form

let catalog;
const chosen = {
  workload: () => catalog.workloads.find(one => one.name === field('workload').value),
  device: () => catalog.devices.find(one => one.id === field('device').value),
  algorithm: () => catalog.algorithms.find(one => one.name === field('algorithm').value),
};

// Puts [value, text] pairs into a list of choices; keeps the choice where it is still there.
function offer(select, pairs) {
  const before = select.value;
  select.replaceChildren(...pairs.map(([value, text]) => new Option(text, value)));
  if (pairs.some(([value]) => value === before)) select.value = before;
}

function show(name, visible) {
  for (const part of form.querySelectorAll(`[data-for="${name}"]`)) part.hidden = !visible;
}

const jobText = job => job.algorithm === null ? 'all of it, mixed' : `${job.algorithm} ${job.operation}`;

// Makes the choices fit each other, then asks how the run would go.
function fit() {
  const workload = chosen.workload(), device = chosen.device(), custom = workload.name === 'custom';
  byId('question').textContent = workload.question;
  show('custom', custom);
  show('jobs', workload.jobs.length > 1);
  show('launches', device.launches);
  show('threads', !device.launches);
  offer(field('job'), workload.jobs.map((job, place) => [String(place), jobText(job)]));
  offer(field('operation'), chosen.algorithm().operations.map(name => [name, name]));
  foresee();
}

function request() {
  const workload = chosen.workload(), device = chosen.device(), custom = workload.name === 'custom';
  const job = custom ? { algorithm: field('algorithm').value, operation: field('operation').value }
    : workload.jobs[Number(field('job').value) || 0];
  const number = name => field(name).value === '' ? null : Number(field(name).value);
  const share = name => Number(field(name).value) / 100;
  const [kind, way] = field('way').value.split(/:(.*)/s);
  const launch = device.launches ? {
    blocks: number('blocks'), threads_per_block: number('threads_per_block'), streams: number('streams'),
    resident: field('resident').value === 'yes', device_load: share('device_load'),
  } : { threads: number('threads') };
  const own = custom ? {
    message_bytes: size(field('message_bytes').value), messages: number('messages'), keys: field('keys').value,
  } : {};
  return {
    workload: workload.name, algorithm: job.algorithm, operation: job.operation, device: device.id,
    [kind || 'tier']: way || null, cpu_load: share('cpu_load'), seconds: number('seconds'), ...launch, ...own,
  };
}

// Says how the run would go, and offers the kernels that could be asked for. Answers that come late are dropped.
let asked = 0;
async function foresee() {
  const mine = ++asked, plan = byId('plan');
  byId('refusal').textContent = '';
  try {
    const { kernels, would } = await ask('api/plan', request());
    if (mine !== asked) return;
    const tiers = chosen.device().tiers.map(tier => [`tier:${tier}`, `tier ${tier}`]);
    const names = kernels.map(one => [`kernel:${one.name}`,
      one.name + (one.constant_time ? '' : ' (time depends on keys and data)')]);
    const before = field('way').value;
    offer(field('way'), [['', 'best for this machine'], ...tiers, ...names]);
    // The answer was about a choice that is gone.
    if (field('way').value !== before) { foresee(); return; }
    plan.textContent = would.error ?? `Would run ${would.plan}.`;
    plan.classList.toggle('bad', would.error !== undefined);
  } catch (problem) {
    if (mine !== asked) return;
    plan.textContent = problem.message;
    plan.classList.add('bad');
  }
}

async function start(event) {
  event.preventDefault();
  try {
    await ask('api/runs', request());
    byId('refusal').textContent = '';
  } catch (problem) {
    byId('refusal').textContent = problem.message;
  }
}

async function fill() {
  catalog = await ask('api/catalog');
  offer(field('workload'), catalog.workloads.map(one => [one.name, one.name]));
  offer(field('algorithm'), catalog.algorithms.map(one => [one.name, one.name]));
  field('algorithm').value = 'aes-128-gcm';
  offer(field('device'), catalog.devices.map(one => [one.id, `${one.id}: ${one.name}`]));
  field('threads').placeholder = `${catalog.physical_cores ?? catalog.logical_cores}, as many as cores`;
  byId('absences').hidden = catalog.absent.length === 0;
  byId('absent').replaceChildren(...catalog.absent.flatMap(({ kind, reason }) =>
    [element('dt', kind), element('dd', reason)]));
  fit();
}

// ---- what is shown

const over = run => ['finished', 'cancelled', 'failed'].includes(run.state);
// Messages without bytes have a rate of messages alone.
const isEmpty = run => run.request.message_bytes === 0;
let current;

// The rate in the middle of the page, and what stands beside it. Outputs that are wrong have none.
function showRate(run) {
  const { figures, result, fault } = run, which = result ?? figures, preparing = run.state === 'preparing';
  const [rate, unit] = isEmpty(run) ? prefixed(which.messages_per_second, '') : prefixed(which.bytes_per_second, 'B/s');
  put('rate', fault ?? (preparing ? '–' : rate));
  put('rate-unit', fault || preparing ? '' : isEmpty(run) ? `${unit} messages/s`.trim() : unit);
  byId('rate').parentElement.classList.toggle('bad', fault !== null);
  const mean = isEmpty(run) ? [] : [`mean ${inWords(figures.mean_bytes_per_second, 'B/s')}`];
  const loads = [['CPU', figures.cpu_load], ['device', figures.device_load]].filter(([, load]) => load !== null)
    .map(([name, load]) => `${name} load reached ${(100 * load).toFixed(0)} %`);
  put('rate-beside', [...(fault ? [] : [result ? 'median of the run' : 'now', ...mean]), ...loads].join(' · '));
}

// The run in the middle of the page: the one that measures or is being prepared, else the last that measured.
function showNow(runs) {
  const run = runs.find(run => !over(run) && run.state !== 'queued') ?? runs.findLast(run => run.figures.seconds > 0);
  current = run && !over(run) ? run : undefined;
  const measures = current !== undefined && ['running', 'paused'].includes(run.state);
  byId('pause').disabled = !measures;
  byId('pause').textContent = run?.state === 'paused' ? 'Resume' : 'Pause';
  byId('stop').disabled = current === undefined;
  form.querySelector('[type=submit]').textContent = current ? 'Add to the queue' : 'Start';
  if (!run) return;
  const { figures, result, fault } = run, { totals, checks } = figures;
  // Its points are rates of bytes.
  byId('chart').parentElement.hidden = fault !== null || isEmpty(run);
  showChart(run.id);
  put('now-title', `${run.id}. ${run.title}`);
  put('now-state', [run.state, run.words, `${figures.seconds.toFixed(1)} s`
    + (run.limit ? ` of ${run.limit} s` : ''), `${figures.samples} samples`].filter(Boolean).join(' · '));
  showRate(run);
  byId('progress').value = run.limit ? Math.min(figures.seconds / run.limit, 1) : 0;
  byId('progress').hidden = !run.limit;
  const counters = {
    sealed: inWords(totals.sealed, ''), opened: inWords(totals.opened, ''), rejects: inWords(totals.planned_rejects, ''),
    unexpected: inWords(checks.unexpected, ''), compared: inWords(checks.messages, ''),
    volume: inWords(totals.bytes, 'B'),
    messages: fault ? '–' : inWords((result ?? figures).messages_per_second, ''),
    clock: figures.core_clock_hertz ? inWords(figures.core_clock_hertz, 'Hz') : '–',
  };
  for (const [id, text] of Object.entries(counters)) put(id, text);
  for (const id of ['sealed', 'opened', 'rejects', 'unexpected', 'compared']) {
    const exact = { rejects: totals.planned_rejects, unexpected: checks.unexpected, compared: checks.messages };
    byId(id).title = String(exact[id] ?? totals[id]);
  }
  byId('unexpected').parentElement.classList.toggle('wrong', checks.unexpected > 0);
  if (Array.from(byId('plans').children, item => item.textContent).join() !== run.plans.join()) {
    byId('plans').replaceChildren(...run.plans.map(plan => element('li', plan)));
  }
}

function link(text, path) {
  return element('a', text, { href: at(path), target: '_blank', rel: 'noopener' });
}

function button(text, act) {
  const made = element('button', text, { type: 'button' });
  made.addEventListener('click', act);
  return made;
}

// What the table says of a run's rate: its interval as well, where there are samples enough for one.
function rateOf({ result, fault, ...run }) {
  if (fault) return element('b', fault, { class: 'bad' });
  if (isEmpty(run)) return `${inWords(result.messages_per_second, '')} messages/s`;
  const { bytes_per_second: rate, interval } = result;
  return gigabytes(rate) + (interval ? ` (${gigabytes(interval.low)}–${gigabytes(interval.high)})` : '');
}

function rowOf(run) {
  const { result, fault } = run, cells = [[String(run.id)], [run.title], [run.state], [''], [''], ['']];
  const note = [run.words, ...(result?.warnings ?? [])].filter(Boolean).join('; ');
  if (note) cells[1].push(element('small', note));
  const left = element('div', '', { class: 'left' });
  cells[1].push(left);
  if (result) {
    cells[3] = [rateOf(run)];
    if (result.ceiling && !fault && !isEmpty(run)) cells[4] = [`${(100 * result.ceiling[0]).toFixed(0)} %`];
    cells[5] = [element('b', result.verified ? 'yes' : 'NO', { class: result.verified ? 'good' : 'bad' })];
    left.append(link('report', `runs/${run.id}/report`), link('record', `runs/${run.id}/records`));
    if (run.log) left.append(link('log', `runs/${run.id}/log`));
  }
  left.append(run.state === 'queued' ? button('Take out', () => command(run, 'stop'))
    : button('Again', () => act('api/runs', run.request)));
  const row = document.createElement('tr');
  for (const cell of cells) {
    const made = document.createElement('td');
    made.append(...cell);
    row.append(made);
  }
  return row;
}

// The rows that are shown, by their runs. One is made anew only when something in it changed: a link that has the focus
// keeps it.
const rows = new Map();
function showRuns(runs) {
  byId('no-runs').hidden = runs.length > 0;
  byId('run-table').hidden = runs.length === 0;
  for (const run of runs) {
    const { id, state, words, fault, result, log } = run, before = rows.get(id);
    const now = JSON.stringify([state, words, result && fault, result, log]);
    if (now === before?.now) continue;
    const row = rowOf(run), hasFocus = before?.row.contains(document.activeElement);
    rows.set(id, { now, row });
    if (before) before.row.replaceWith(row); else byId('run-rows').prepend(row);
    if (hasFocus) row.querySelector('button').focus();
  }
  byId('report-of-all').hidden = runs.filter(run => run.result).length < 2;
}

const histories = new Map();

function reading({ name, unit, value, held_back: heldBack }) {
  if (heldBack) return heldBack.length ? `held back: ${heldBack.join(', ')}` : 'not held back';
  if (value === null) return 'no reading';
  if (unit === '1') return `${(100 * value).toFixed(0)} %`;
  return ['Hz', 'W', 'J', 'V'].includes(unit) ? inWords(value, unit) : `${significant(value)} ${unit}`;
}

function keepReadings(sensors) {
  for (const { name, value } of sensors) {
    const values = histories.get(name) ?? [];
    values.push(value);
    if (values.length > HISTORY) values.shift();
    histories.set(name, values);
  }
}

let reasonsShown = '';
function showSensors(sensors, missing) {
  byId('readings').replaceChildren(...sensors.map(sensor => {
    const item = document.createElement('li');
    const [device, quantity] = sensor.name.split(/\.(.*)/s);
    item.append(element('span', `${device} ${quantity?.replaceAll('_', ' ') ?? ''}`, { class: 'name' }),
      element('span', reading(sensor), { class: 'value' }));
    if (!sensor.held_back) item.append(sparkline(histories.get(sensor.name)));
    return item;
  }));
  const reasons = Object.entries(missing);
  byId('not-read').hidden = reasons.length === 0;
  const now = JSON.stringify(reasons);
  if (now === reasonsShown) return;
  reasonsShown = now;
  byId('missing').replaceChildren(...reasons.flatMap(([reason, names]) =>
    [element('dt', names.join(', ')), element('dd', reason)]));
}

// ---- commands and events

const complain = problem => put('status', problem.message);
// What was refused before is forgotten when something is done.
const act = (path, body, more) => ask(path, body, more).then(() => put('status', ''), complain);
const command = (run, what) => act(`api/runs/${run.id}/${what}`, {});

// What becomes of the runs when the last page is closed is one choice for all pages. While it is on its way, the server
// tells the one before.
let telling = 0;
async function tellStopOnClose({ target }) {
  telling++;
  await act('api/stop-on-close', { stop: target.checked }, { keepalive: true });
  telling--;
}

// The last event, and all runs by their numbers: an event tells of those that changed. A page that nobody sees keeps what
// it is told and draws nothing: its browser's time would be taken from what is measured.
let news;
const told = new Map();
function showNews() {
  if (document.hidden || news === undefined) return;
  const runs = [...told.values()];
  showNow(runs);
  showRuns(runs);
  showSensors(news.sensors, news.missing);
  if (telling === 0) byId('stop-on-close').checked = news.stop_on_close;
}

// The server sees by the stream whether the page is open: one that closes need not say so.
function listen() {
  const events = new EventSource(at('api/events'));
  events.onopen = () => put('status', '');
  events.onerror = () =>
    put('status', 'The dashboard does not answer: it has ended, or is out of reach. Its records are kept.');
  events.onmessage = ({ data }) => {
    news = JSON.parse(data);
    for (const run of news.runs) told.set(run.id, run);
    if (news.chart) addPoints(news.chart);
    keepReadings(news.sensors);
    showNews();
  };
}

form.addEventListener('submit', start);
form.addEventListener('change', fit);
form.addEventListener('input', ({ target }) => {
  if (target.type === 'range') target.parentElement.querySelector('.amount').textContent = `${target.value} %`;
});
byId('pause').addEventListener('click', () => current && command(current, current.state === 'paused' ? 'resume' : 'pause'));
byId('stop').addEventListener('click', () => current && command(current, 'stop'));
byId('quit').addEventListener('click', () => act('api/quit', {}));
byId('report-of-all').href = at('report');
byId('chart-rows').closest('details').addEventListener('toggle', drawTable);
byId('stop-on-close').addEventListener('change', tellStopOnClose);
document.addEventListener('visibilitychange', showNews);

fill().catch(complain);
listen();

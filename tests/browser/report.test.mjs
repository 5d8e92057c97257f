// report.html in a real browser: every chart is drawn, nothing complains, nothing is fetched, on a desktop, on a phone and in
// the dark. Needs chromium and node, no package of npm:
//   node --test tests/browser/
// TURNSTILE_HARNESS names the harness (default build/turnstile-harness), TURNSTILE_REPORT_DIR a directory whose JSON files
// are drawn instead of the samples, TURNSTILE_SCREENSHOTS a directory to keep the pictures in.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const root = process.env.TURNSTILE_ROOT || dirname(dirname(here));
const harness = process.env.TURNSTILE_HARNESS || join(root, 'build', 'turnstile-harness');
const work = mkdtempSync(join(tmpdir(), 'turnstile-report-'));
const screenshots = process.env.TURNSTILE_SCREENSHOTS || join(work, 'screenshots');

const views = {
  desktop: { size: '1200,2400', flags: [] },
  phone: { size: '420,2400', flags: [] },
  dark: { size: '1200,2400', flags: ['--blink-settings=preferredColorScheme=0'] },
};

// Runs inside the page after it has drawn itself, and leaves what it saw in the document for --dump-dom.
const probe = `<script>
addEventListener('load', () => {
  const painted = canvas => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const colours = new Set();
    let count = 0;
    for (let i = 0; i < data.length; i += 4) {
      if (data[i + 3] === 0) continue;
      count++;
      if (data[i + 3] === 255) colours.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    }
    return { share: count / (data.length / 4), colours: colours.size };
  };
  const count = selector => document.querySelectorAll(selector).length;
  const seen = {
    canvases: [...document.querySelectorAll('canvas')].map(c => ({ section: c.closest('section').id, label: c.getAttribute('aria-label'), ...painted(c) })),
    sections: [...document.querySelectorAll('section')].map(s => s.id),
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    background: getComputedStyle(document.body).backgroundColor,
    resources: performance.getEntriesByType('resource').map(r => r.name),
    matrix: { cells: count('table.matrix td[title]'), broken: count('table.matrix td.broken'), unknown: count('table.matrix td .unknown') },
    text: document.getElementById('report').innerText,
  };
  const out = document.createElement('script');
  out.type = 'application/json';
  out.id = 'seen';
  out.textContent = JSON.stringify(seen).replace(/</g, '\\\\u003c');
  document.body.append(out);
});
</script>`;

function chromium(page, { size, flags }, action) {
  const profile = mkdtempSync(join(work, 'profile-'));
  const run = spawnSync('chromium', ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync', '--hide-scrollbars', '--enable-logging=stderr',
    `--user-data-dir=${profile}`, `--window-size=${size}`, '--virtual-time-budget=10000', ...flags, ...action, `file://${page}`],
  { encoding: 'utf8', timeout: 120_000, killSignal: 'SIGKILL', maxBuffer: 64 << 20 });
  assert.equal(run.error, undefined, `chromium (Debian package chromium) must run: ${run.error}`);
  rmSync(profile, { recursive: true, force: true });
  return { dom: run.stdout, complaints: run.stderr.split('\n').filter(line => line.includes(':CONSOLE')) };
}

function look(page, view) {
  const probed = join(work, 'probed.html');
  writeFileSync(probed, readFileSync(page, 'utf8').replace('</body>', () => `${probe}</body>`));
  const { dom, complaints } = chromium(probed, view, ['--dump-dom']);
  const found = dom.match(/<script type="application\/json" id="seen">(.*?)<\/script>/s);
  assert.ok(found, `the page did not finish drawing; the console said: ${complaints.join('\n')}`);
  return { ...JSON.parse(found[1]), complaints };
}

let page, results;
before(() => {
  const source = process.env.TURNSTILE_REPORT_DIR || join(here, 'sample');
  for (const name of ['results.json', 'matrix.json']) {
    if (existsSync(join(source, name))) cpSync(join(source, name), join(work, name));
  }
  mkdirSync(screenshots, { recursive: true });
  const drawn = spawnSync(harness, ['report', work], { encoding: 'utf8', env: { ...process.env, TURNSTILE_ROOT: root }, timeout: 60_000 });
  assert.equal(drawn.status, 0, `${harness} report failed: ${drawn.error || drawn.stderr}`);
  page = join(work, 'report.html');
  results = JSON.parse(readFileSync(join(work, 'results.json'), 'utf8'));
});
after(() => rmSync(work, { recursive: true, force: true }));

for (const [name, view] of Object.entries(views)) {
  test(`on ${name} every chart is drawn and nothing complains`, () => {
    const seen = look(page, view);
    assert.deepEqual(seen.complaints, []);
    assert.deepEqual(seen.resources, [], 'the report must not fetch anything');
    assert.ok(seen.overflow <= 0, `the page is ${seen.overflow} px wider than the screen`);

    const expected = ['throughput', 'latency', 'figures', 'environment'];
    if (results.options.scan) expected.push('scan');
    if (results.runs.some(run => run.audit && run.audit.double_seats.length)) expected.push('seats');
    for (const id of expected) assert.ok(seen.sections.includes(id), `section ${id} is missing`);
    for (const id of expected.filter(one => !['figures', 'environment'].includes(one))) {
      assert.ok(seen.canvases.some(canvas => canvas.section === id), `section ${id} has no chart`);
    }
    for (const canvas of seen.canvases) {
      assert.ok(canvas.share > 0.01 && canvas.colours >= 1, `blank: ${canvas.section}, ${canvas.label}: ${JSON.stringify(canvas)}`);
    }
    for (const row of results.summary.rows) assert.ok(seen.text.includes(row.strategy), `${row.strategy} is not on the page`);
    const bright = seen.background.match(/\d+/g).slice(0, 3).every(channel => +channel > 128);
    assert.equal(bright, name !== 'dark', `background ${seen.background}`);
  });

  test(`on ${name} it can be looked at`, () => {
    const picture = join(screenshots, `report-${name}.png`);
    chromium(page, view, [`--screenshot=${picture}`]);
    assert.ok(statSync(picture).size > 20_000, 'the screenshot is (nearly) empty');
  });
}

test('the fault matrix shows what was seen, what was not promised and what was not played', { skip: !!process.env.TURNSTILE_REPORT_DIR }, () => {
  const seen = look(page, views.desktop);
  assert.ok(seen.sections.includes('matrix'));
  for (const text of ['What breaks it', 'redis-watchdog, overrun: oversold, promised safe', 'redis-setnx, crash: stuck']) {
    assert.ok(seen.text.includes(text), `"${text}" is not on the page`);
  }
  const { cells } = JSON.parse(readFileSync(join(work, 'matrix.json'), 'utf8'));
  assert.deepEqual(seen.matrix, { cells: cells.length, broken: 1, unknown: 1 });
});

test('this test would notice a chart that is not drawn and an error in a script', () => {
  const broken = join(work, 'broken.html');
  writeFileSync(broken, readFileSync(page, 'utf8').replace('Report.start();',
    () => 'Report.start(); document.querySelectorAll("canvas").forEach(c => { c.width = c.width; }); undefinedFunction();'));
  const seen = look(broken, views.desktop);
  assert.ok(seen.complaints.length > 0);
  assert.ok(seen.canvases.some(canvas => canvas.share <= 0.01));
});

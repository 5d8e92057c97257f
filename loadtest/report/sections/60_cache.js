// The hot key: what one expiry costs the database, and what its readers, by policy. And stale reads, when they were counted.
{
  const median = values => { const s = [...values].sort((a, b) => a - b), m = s.length >> 1; return s.length % 2 ? s[m] : (s[m - 1] + s[m]) / 2; };
  const colour = verdict => Report.css({ kept: 'safe', broken: 'oversold' }[verdict] || 'unknown');
  const logarithmic = title => ({
    type: 'logarithmic', min: 0.1, grid: { color: Report.css('grid') }, title: { display: true, text: title },
    ticks: { maxRotation: 0, callback: v => Report.logTick(v) },
  });
  const reads = policies => ({
    type: 'bar',
    data: {
      labels: policies.map(p => p.name),
      datasets: [{ data: policies.map(p => Math.max(median(p.db_reads), 0.1)), backgroundColor: policies.map(p => colour(p.verdict)), barThickness: 16, borderRadius: 2 }],
    },
    options: {
      indexAxis: 'y',
      scales: { x: logarithmic('database reads for one expiry, median, logarithmic'), y: { grid: { display: false }, ticks: { autoSkip: false, color: Report.css('ink') } } },
      plugins: { legend: { display: false }, tooltip: { callbacks: { label: item => {
        const p = policies[item.dataIndex];
        return [`each expiry: ${p.db_reads.join(', ')}`, `promised ${p.promised}: ${p.verdict}${p.reason ? ', ' + p.reason : ''}`];
      } } } },
    },
  });
  const latency = policies => ({
    type: 'bar',
    data: {
      labels: policies.map(p => p.name),
      datasets: ['p50_ms', 'p99_ms', 'max_ms'].map((mark, i) => ({
        label: mark.replace('_ms', ''), data: policies.map(p => Math.max(p.window[mark], 0.1)), backgroundColor: Report.css('soft') + ['', 'aa', '55'][i], barThickness: 7,
      })),
    },
    options: {
      indexAxis: 'y',
      scales: { x: logarithmic('ms a request took that began during a rebuild, logarithmic'), y: { grid: { display: false }, ticks: { autoSkip: false, color: Report.css('ink') } } },
    },
  });
  const range = values => Math.min(...values) === Math.max(...values) ? values[0] : `${Math.min(...values)} to ${Math.max(...values)}`;
  const words = ['promised', 'verdict'];  // columns of text, not of figures
  const cell = (head, text, first) => first ? Report.element('td', {}, Report.element('b', {}, text))
    : Report.element('td', { 'data-label': head, class: words.includes(head) ? 'text' : '' }, String(text));
  const table = (heads, rows) => Report.element('div', { class: 'scroll' }, Report.element('table', { class: 'cards' },
    Report.element('thead', {}, Report.element('tr', {}, ...heads.map(h => Report.element('th', { class: words.includes(h) ? 'text' : '' }, h)))),
    Report.element('tbody', {}, ...rows.map(row => Report.element('tr', {}, ...row.map((text, i) => cell(heads[i], text, i === 0)))))));

  Report.section({
    id: 'cache',
    title: 'A hot key expires',
    lead: 'The same key expires again and again under load. How many of its readers reach the database, how long those wait that come during ' +
      'the rebuild, and what they are told meanwhile, is what the policies differ in.',
    when: data => data.cache && (data.cache.policies || []).length > 0,
    draw(root, { cache }) {
      const { policies } = cache, height = policies.length * 34 + 70;
      root.append(Report.element('p', { class: 'soft' }, `${cache.options.connections} connections, ${cache.options.instances} instances, ${cache.options.expiries} expiries a policy`));
      Report.chart(Report.canvasIn(root, height, 'Database reads for one expiry, by policy; the table below has the figures'), () => reads(policies));
      Report.chart(Report.canvasIn(root, height + 30, 'Latency during a rebuild, by policy; the table below has the figures'), () => latency(policies));
      root.append(table(['policy', 'db reads/expiry', 'p50 ms', 'p99 ms', 'max ms', 'answers', 'waited', 'stale', 'errors', 'promised', 'verdict'],
        policies.map(({ name, db_reads: r, window: w, promised, verdict }) => [name, range(r), Report.millis(w.p50_ms), Report.millis(w.p99_ms),
          Report.millis(w.max_ms), Report.thousands(w.answers), Report.thousands(w.waited), Report.thousands(w.stale), w.errors, promised, verdict])));
    },
  });
  Report.section({
    id: 'consistency',
    title: 'Stale reads',
    lead: 'A read is stale when it began after a write was acknowledged and returned an older version. The race between a reader and a writer is ' +
      'widened on purpose; never-deletes is broken on purpose and proves that the checker can find something.',
    when: data => data.cache && (data.cache.consistency || []).length > 0,
    draw(root, { cache }) {
      root.append(table(['policy', 'reads', 'writes', 'stale reads', 'versions behind', 'busy', 'errors'],
        cache.consistency.map(c => [c.policy, Report.thousands(c.reads), Report.thousands(c.writes), Report.thousands(c.stale_reads), c.most_versions_behind, c.busy, c.errors])));
    },
  });
}

// Title, conclusion, and the four figures one looks for first.
Report.section({
  id: 'head',
  when: data => data.results,
  draw(root, { results }) {
    const { element, thousands, ratio } = Report, { summary } = results;
    const rows = summary.rows, point = Report.usualPoint(results);
    const safe = point ? Report.rowsAt(results, point).filter(row => row.verdict === 'safe') : [];
    const best = safe.reduce((a, b) => (a && a.of_ceiling.median >= b.of_ceiling.median ? a : b), null);
    const ceiling = summary.ceilings.find(c => Report.samePoint(c.point, point));
    const where = summary.ceilings.length > 1 ? ` (${Report.pointName(point)})` : '';
    const kept = rows.filter(row => row.promise === 'kept').length;
    const said = !results.complete
      ? `Incomplete: ${results.runs.length} of ${results.planned_runs} runs so far.`
      : ['Every verdict is the promised one.', 'A promise was broken.', 'Not every verdict could be told.'][summary.exit_code];
    const state = summary.exit_code === 1 ? 'broken' : summary.exit_code === 0 ? 'kept' : 'open';

    root.append(
      element('h1', {}, results.options.mode === 'sell-out' ? 'Sold to the last seat' : 'Which lock, how fast, and does it hold?'),
      element('div', { class: 'soft' }, `${results.started_at.replace('T', ' ').replace('Z', ' UTC')} · commit ${results.environment.commit} · ` +
        `${results.environment.cpu}, ${results.environment.cores} cores`),
      element('code', { class: 'command' }, results.command.join(' ')),
      element('div', { class: `conclusion ${state}` }, element('div', {}, said,
        summary.findings.length ? element('ul', {}, ...summary.findings.map(f => element('li', {}, f))) : null)));
    const tile = (value, label) => element('div', { class: 'tile' }, element('b', {}, value), element('span', {}, label));
    root.append(element('div', { class: 'tiles' },
      ceiling ? tile(thousands(ceiling.answers_per_second.median), `answers/s of /ping: the ceiling${where}`) : null,
      best ? tile(best.strategy, `fastest that is safe: ${thousands(best.sales_per_second.median)} sales/s, ${ratio(best.of_ceiling.median)} of the ceiling`) : null,
      tile(`${kept} of ${rows.length}`, 'verdicts as promised'),
      tile(thousands(rows.reduce((sum, row) => sum + row.sold, 0)), 'sales audited, seat by seat')));
  },
});

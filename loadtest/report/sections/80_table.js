// Everything in figures, with what each strategy is and why its verdict was to be expected; then the locks' own figures.
{
  const { element, thousands, ratio, millis, percent, spread } = Report;
  const sentence = text => text[0].toUpperCase() + text.slice(1).replace(/\.?$/, '.');
  const cell = (label, text, cls = '') => element('td', { 'data-label': label, class: cls }, text);

  const figuresRow = (results, sellOut) => row => {
    const measured = row.sales_per_second.rounds > 0, dash = text => measured ? text : '–';
    const figures = element('tr', { class: 'figures' },
      element('td', {}, element('b', {}, row.strategy), row.tied_with_above ? element('small', { title: 'within the noise of the row above' }, ' ≈') : null),
      cell('sales/s', dash(thousands(row.sales_per_second.median))),
      cell(sellOut ? 'to empty' : '±', dash(sellOut ? row.seconds_to_empty.toFixed(2) + ' s' : spread(row.sales_per_second))),
      cell('of ceiling', dash(ratio(row.of_ceiling.median))),
      cell('of best', dash(row.of_fastest > 0 ? ratio(row.of_fastest) : '–')),
      cell('p50 ms', dash(millis(row.p50_ms.median))),
      cell('p99 ms', dash(millis(row.p99_ms.median))),
      cell('busy', dash(percent(row.busy_share))),
      cell('sold', thousands(row.sold)),
      cell('double', thousands(row.double_sold)),
      cell('lost', thousands(row.lost)),
      element('td', { class: 'text', 'data-label': 'verdict' }, element('span', { class: `verdict ${row.verdict}` }, row.verdict)),
      element('td', { class: 'text', 'data-label': 'promised' }, row.promised || '–', row.promise === 'broken' ? element('b', { class: 'verdict oversold' }, ' broken') : null));
    const sentences = [Report.described(results, row.strategy).summary, row.reason, row.promised_reason && `${row.promised} is promised: ${row.promised_reason}`, ...row.warnings];
    const about = element('tr', { class: 'note' }, element('td', { class: 'about', colspan: 13 }, sentences.filter(Boolean).map(sentence).join(' ')));
    return [figures, about];
  };

  const table = (heads, rows) => element('div', { class: 'scroll' }, element('table', { class: 'cards' },
    element('thead', {}, element('tr', {}, ...heads.map(h => element('th', { class: ['verdict', 'promised', 'share per instance'].includes(h) ? 'text' : '' }, h)))),
    element('tbody', {}, ...rows)));

  Report.section({
    id: 'figures',
    title: 'In figures',
    lead: 'Medians over the rounds; ± is the range. “≈”: within the noise of the row above. busy is a share of all answers. Requests that were in flight when the load stopped are allowed for when buyers and ledger are held against each other.',
    when: data => data.results && data.results.summary.rows.length > 0,
    draw(root, { results }) {
      const sellOut = results.options.mode === 'sell-out';
      Report.perPoint(root, results, (body, point) => body.append(table(
        ['strategy', 'sales/s', sellOut ? 'to empty' : '±', 'of ceiling', 'of best', 'p50 ms', 'p99 ms', 'busy', 'sold', 'double', 'lost', 'verdict', 'promised'],
        Report.rowsAt(results, point).flatMap(figuresRow(results, sellOut)))));
    },
  });

  const shareBar = sold => {
    const sum = sold.reduce((a, b) => a + b, 0);
    const parts = sold.map(s => Math.round(100 * s / (sum || 1)));
    return element('td', { class: 'wide text', 'data-label': 'share per instance' }, element('small', {}, parts.join(' / ') + ' %'),
      element('div', { class: 'share', title: parts.join(' / ') + ' %' }, ...parts.map(p => element('i', { style: `flex:${p}` }))));
  };

  Report.section({
    id: 'locks',
    title: 'Inside the locks',
    lead: 'How long a buyer queued for the lock itself, how many attempts a sale took, and how evenly the instances were served.',
    when: data => data.results && data.results.summary.rows.some(row => row.lock.locks),
    draw(root, { results }) {
      Report.perPoint(root, results, (body, point) => body.append(table(
        ['strategy', 'wait p50 ms', 'wait p99 ms', 'attempts/sale', 'granted', 'refused', 'lost', 'share per instance'],
        Report.rowsAt(results, point).filter(row => row.lock.locks).map(({ strategy, lock, sold }) => element('tr', {},
          element('td', {}, element('b', {}, strategy)), cell('wait p50 ms', millis(lock.wait_p50_ms)), cell('wait p99 ms', millis(lock.wait_p99_ms)),
          cell('attempts/sale', sold ? (lock.attempts / sold).toFixed(2) : '–'), cell('granted', thousands(lock.granted)),
          cell('refused', thousands(lock.refused)), cell('lost', thousands(lock.lost)), shareBar(lock.sold_per_instance))))));
    },
  });
}

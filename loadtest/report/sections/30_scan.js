// Throughput against what the scan varied: the fastest few in one chart, then every strategy in a small one of its own.
{
  const palette = ['#4583d6', '#d0851f', '#249a90', '#9270cc', '#d95f56', '#77a238', '#2a9fca', '#b9714a'];  // readable on light and dark

  const curves = results => {
    const key = results.options.scan.key, values = results.options.scan.values;
    const names = [...new Set(results.summary.rows.map(row => row.strategy))];
    const rank = { safe: 0, unknown: 1, stuck: 2, lost: 3, oversold: 4, disagree: 5 };
    return names.map(name => {
      const rows = values.map(v => results.summary.rows.find(row => row.strategy === name && row.point[key] === v && row.sales_per_second.rounds > 0));
      const present = rows.filter(Boolean);
      return {
        name, rows, best: Math.max(0, ...present.map(row => row.sales_per_second.median)),
        verdict: present.reduce((worst, row) => rank[row.verdict] > rank[worst] ? row.verdict : worst, 'safe'),
      };
    }).filter(c => c.rows.some(Boolean)).sort((a, b) => b.best - a.best);
  };
  const medians = curve => curve.rows.map(row => row ? row.sales_per_second.median : null);

  const overview = (results, all, shown) => ({
    type: 'line',
    data: {
      labels: results.options.scan.values,
      datasets: [
        { label: '/ping ceiling', data: results.options.scan.values.map(v => {
          const c = results.summary.ceilings.find(one => one.point[results.options.scan.key] === v);
          return c ? c.answers_per_second.median : null;
        }), borderColor: Report.css('ceiling'), backgroundColor: Report.css('ceiling'), borderDash: [6, 5], pointRadius: 2, borderWidth: 2 },
        ...all.map((curve, i) => ({
          label: `${Report.mark[curve.verdict]} ${curve.name}`, data: medians(curve), hidden: !shown.has(curve.name),
          borderColor: palette[i % palette.length], backgroundColor: palette[i % palette.length], borderWidth: 2, tension: 0.15,
          pointStyle: curve.rows.map(row => row && row.verdict !== 'safe' ? 'crossRot' : 'circle'),
          pointRadius: curve.rows.map(row => row && row.verdict !== 'safe' ? 6 : 3), borderDash: curve.verdict === 'safe' ? [] : [2, 3],
        })),
      ],
    },
    options: {
      interaction: { mode: 'index', intersect: false },
      scales: {
        x: { title: { display: true, text: results.options.scan.key }, grid: { display: false } },
        y: { type: 'logarithmic', title: { display: !Report.narrow(), text: 'sales/s, logarithmic' },
          ticks: { callback: v => Report.logTick(v) } },
      },
      plugins: {
        legend: { position: 'bottom', labels: { usePointStyle: false, boxWidth: 14, boxHeight: 3, font: { size: 11 }, padding: 9 } },
        tooltip: { callbacks: { label: item => `${item.dataset.label}: ${Report.thousands(item.parsed.y)}/s` } },
      },
    },
  });

  const small = (results, curve) => () => ({
    type: 'line',
    data: {
      labels: results.options.scan.values,
      datasets: [
        { data: curve.rows.map(row => row ? row.sales_per_second.max : null), borderWidth: 0, pointRadius: 0, fill: '+1', backgroundColor: Report.css(curve.verdict) + '33', tension: 0.15 },
        { data: curve.rows.map(row => row ? row.sales_per_second.min : null), borderWidth: 0, pointRadius: 0, fill: false, tension: 0.15 },
        { data: medians(curve), borderColor: Report.css(curve.verdict), backgroundColor: Report.css(curve.verdict), borderWidth: 2, pointRadius: 2.5, tension: 0.15 },
      ],
    },
    options: {
      events: ['mousemove', 'mouseout'],
      interaction: { mode: 'index', intersect: false },
      scales: { x: { grid: { display: false }, ticks: { font: { size: 10 } } }, y: { beginAtZero: true, ticks: { maxTicksLimit: 3, font: { size: 10 }, callback: v => v >= 1000 ? v / 1000 + 'k' : v } } },
      plugins: { legend: { display: false }, tooltip: { filter: item => item.datasetIndex === 2, callbacks: { label: item => `${Report.thousands(item.parsed.y)} sales/s` } } },
    },
  });

  Report.section({
    id: 'scan',
    title: 'How it scales',
    lead: 'Sales/s at every scanned value. Names in the legend switch a curve on and off; a crossed point is one that was not safe. Below, each strategy on a scale of its own, the band spanning its rounds.',
    when: data => data.results && data.results.options.scan && data.results.summary.ceilings.length > 1,
    draw(root, { results }) {
      const all = curves(results);
      const shown = new Set(all.filter(c => c.verdict === 'safe').slice(0, 6).map(c => c.name));
      const lines = Math.ceil(all.length / (Report.narrow() ? 2 : 6));
      Report.chart(Report.canvasIn(root, 340 + 22 * lines, `Sales per second against ${results.options.scan.key}`), () => overview(results, all, shown));
      const grid = Report.element('div', { class: 'multiples' });
      root.append(grid);
      for (const curve of all) {
        const box = Report.element('div', {}, Report.element('h3', {}, curve.name, Report.element('span', { class: `verdict ${curve.verdict}` }, '')));
        grid.append(box);
        Report.chart(Report.canvasIn(box, 96, `${curve.name}: sales per second against ${results.options.scan.key}`), small(results, curve));
      }
    },
  });
}

// Sales/s relative to the ceiling: one bar a strategy, whiskers from the slowest to the fastest round, colour by verdict.
{
  const whiskers = rows => ({
    id: 'whiskers',
    afterDatasetsDraw(chart) {
      const { ctx, scales: { x } } = chart;
      chart.getDatasetMeta(0).data.forEach((bar, i) => {
        const { min, max, rounds } = rows[i].of_ceiling, left = Math.max(x.getPixelForValue(Math.max(min, x.min)), x.left), right = x.getPixelForValue(max);
        ctx.save();
        ctx.strokeStyle = Report.css('ink'); ctx.globalAlpha = 0.75; ctx.lineWidth = 1.25;
        if (rounds > 1) {
          ctx.beginPath();
          ctx.moveTo(left, bar.y); ctx.lineTo(right, bar.y);
          for (const at of [left, right]) { ctx.moveTo(at, bar.y - 4); ctx.lineTo(at, bar.y + 4); }
          ctx.stroke();
        }
        ctx.globalAlpha = 1; ctx.fillStyle = Report.css('soft'); ctx.textBaseline = 'middle';
        ctx.font = `12px ${Chart.defaults.font.family}`;
        ctx.fillText(`${Report.thousands(rows[i].sales_per_second.median)}/s`, Math.max(right, bar.x) + 8, bar.y);
        ctx.restore();
      });
    },
  });

  const configure = (rows, log) => {
    const narrow = Report.narrow();
    const floor = log ? Report.nice(Math.min(...rows.map(r => r.of_ceiling.min).filter(v => v > 0), 1) / 1.5) : 0;
    return {
      type: 'bar',
      data: {
        labels: rows.map(row => `${Report.mark[row.verdict]} ${row.strategy}`),
        datasets: [{
          data: rows.map(row => row.of_ceiling.median),
          backgroundColor: rows.map(row => Report.css(row.verdict)),
          barThickness: narrow ? 12 : 16, borderRadius: 2, minBarLength: 2,
        }],
      },
      options: {
        indexAxis: 'y',
        layout: { padding: { right: 72 } },
        scales: {
          x: {
            type: log ? 'logarithmic' : 'linear', min: floor, max: Math.max(1, ...rows.map(r => r.of_ceiling.max * 1.02)), grid: { color: Report.css('grid') },
            title: { display: true, text: 'share of the /ping ceiling' + (log ? ', logarithmic' : '') },
            ticks: { maxRotation: 0, callback: v => log ? Report.logTick(v) : +(+v).toPrecision(2) },
          },
          y: {
            grid: { display: false },
            // on a phone the name stands above its bar, inside the plot
            ticks: { autoSkip: false, color: Report.css('ink'), mirror: narrow, labelOffset: narrow ? -15 : 0, z: 1, padding: narrow ? 0 : 6 },
          },
        },
        plugins: {
          legend: { display: false },
          tooltip: { callbacks: {
            label: item => {
              const row = rows[item.dataIndex], { median, min, max } = row.of_ceiling;
              return [`${Report.ratio(median)} of the ceiling (${Report.ratio(min)} to ${Report.ratio(max)})`,
                `${Report.thousands(row.sales_per_second.median)} sales/s, ${Report.ratio(row.of_fastest)} of the fastest safe one`,
                `${row.verdict}${row.reason ? ': ' + row.reason : ''}`];
            },
          } },
        },
      },
      plugins: [whiskers(rows)],
    };
  };

  Report.section({
    id: 'throughput',
    title: 'Throughput, with its verdict',
    lead: 'Each bar is the median over the rounds as a share of what /ping reaches on the same path in the same round; the whisker spans the ' +
      'slowest and the fastest round. Bars no further apart than their two whiskers are long are not different. A fast bar that is not ✓ sold what it did not have.',
    when: data => data.results && data.results.summary.rows.length > 0,
    draw(root, { results }) {
      Report.perPoint(root, results, (body, point) => {
        const rows = Report.rowsAt(results, point).filter(row => row.sales_per_second.rounds > 0);
        const medians = rows.map(row => row.of_ceiling.median).filter(v => v > 0);
        let log = medians.length > 5 && Math.max(...medians) / Math.min(...medians) > 50, entry;
        const toggle = Report.element('button', { 'aria-pressed': String(log), onclick: () => {
          log = !log; toggle.setAttribute('aria-pressed', String(log)); entry.redraw();
        } }, 'logarithmic');
        body.append(Report.element('div', { class: 'controls' }, toggle, Report.verdictKey(rows)));
        const canvas = Report.canvasIn(body, rows.length * (Report.narrow() ? 40 : 27) + 70, `Share of the ceiling for ${rows.length} strategies; the table below has the figures`);
        entry = Report.chart(canvas, () => configure(rows, log));
      });
    },
  });
}

// How long a buyer waited: per strategy the middle half as a bar, p5 to p99 as a line, the median and p99 marked.
{
  const distribution = (results, point) => {
    const runs = results.runs.filter(run => Report.samePoint(run.point, point) && run.strategy !== '/ping' && run.latency_ms.percentiles.length);
    const at = (run, mark) => (run.latency_ms.percentiles.find(p => p[0] === mark) || [0, 0])[1];
    const median = values => { const s = [...values].sort((a, b) => a - b), m = s.length >> 1; return s.length % 2 ? s[m] : (s[m - 1] + s[m]) / 2; };
    return Report.rowsAt(results, point).map(row => {
      const own = runs.filter(run => run.strategy === row.strategy);
      const mark = p => own.length ? Math.max(median(own.map(run => at(run, p))), 0.01) : null;
      return { row, p5: mark(5), p25: mark(25), p50: mark(50), p75: mark(75), p90: mark(90), p99: mark(99), p999: mark(99.9) };
    }).filter(d => d.p50 !== null).sort((a, b) => a.p50 - b.p50);
  };

  const lines = marks => ({
    id: 'lines',
    beforeDatasetsDraw(chart) {
      const { ctx, scales: { x } } = chart;
      chart.getDatasetMeta(0).data.forEach((bar, i) => {
        ctx.save();
        ctx.strokeStyle = Report.css(marks[i].row.verdict); ctx.lineWidth = 1.5; ctx.globalAlpha = 0.6;
        ctx.beginPath(); ctx.moveTo(x.getPixelForValue(marks[i].p5), bar.y); ctx.lineTo(x.getPixelForValue(marks[i].p99), bar.y); ctx.stroke();
        ctx.restore();
      });
    },
    afterDatasetsDraw(chart) {
      const { ctx, scales: { x } } = chart;
      chart.getDatasetMeta(0).data.forEach((bar, i) => {
        const colour = Report.css(marks[i].row.verdict);
        ctx.save();
        ctx.fillStyle = Report.css('card'); ctx.strokeStyle = colour; ctx.lineWidth = 2;
        ctx.beginPath(); ctx.arc(x.getPixelForValue(marks[i].p50), bar.y, 4, 0, 7); ctx.fill(); ctx.stroke();
        const p99 = x.getPixelForValue(marks[i].p99);
        ctx.beginPath(); ctx.moveTo(p99, bar.y - 5); ctx.lineTo(p99, bar.y + 5); ctx.stroke();
        ctx.restore();
      });
    },
  });

  const configure = marks => {
    const narrow = Report.narrow();
    return {
      type: 'bar',
      data: {
        labels: marks.map(m => `${Report.mark[m.row.verdict]} ${m.row.strategy}`),
        datasets: [{
          data: marks.map(m => [m.p25, m.p75]), backgroundColor: marks.map(m => Report.css(m.row.verdict)),
          barThickness: 9, borderRadius: 3, borderSkipped: false, minBarLength: 2,
        }],
      },
      options: {
        indexAxis: 'y',
        layout: { padding: { right: 16 } },
        scales: {
          x: {
            type: 'logarithmic', min: Report.nice(Math.min(...marks.map(m => m.p5))), max: Report.nice(Math.max(...marks.map(m => m.p99)), true),
            title: { display: true, text: 'milliseconds, logarithmic' },
            ticks: { maxRotation: 0, callback: v => Report.logTick(v) },
          },
          y: { grid: { display: false }, ticks: { autoSkip: false, color: Report.css('ink'), mirror: narrow, labelOffset: narrow ? -14 : 0, z: 1, padding: narrow ? 0 : 6 } },
        },
        plugins: {
          legend: { display: false },
          tooltip: { callbacks: { label: item => {
            const m = marks[item.dataIndex], ms = Report.millis;
            return [`p50 ${ms(m.p50)} ms`, `p90 ${ms(m.p90)} ms`, `p99 ${ms(m.p99)} ms`, `p99.9 ${ms(m.p999)} ms`];
          } } },
        },
      },
      plugins: [lines(marks)],
    };
  };

  Report.section({
    id: 'latency',
    title: 'How long a buyer waits',
    lead: 'Time from request to answer, every answer counted (sold, sold out and busy): the ring is the median, the bar holds the middle half, the line reaches from p5 to p99. Shortest median first.',
    when: data => data.results && data.results.runs.some(run => run.strategy !== '/ping' && run.latency_ms.percentiles.length),
    draw(root, { results }) {
      Report.perPoint(root, results, (body, point) => {
        const marks = distribution(results, point);
        if (!marks.length) return;
        const canvas = Report.canvasIn(body, marks.length * (Report.narrow() ? 38 : 25) + 64, 'Latency distribution per strategy');
        Report.chart(canvas, () => configure(marks));
      });
    },
  });
}

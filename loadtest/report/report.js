// The page's frame: reads the data, keeps the theme, offers sections what they share. A section is one file in sections/:
//   Report.section({ id, title, lead, when: data => boolean, draw: (root, data) => {...} })
// and is drawn in the order of the file names. Charts made through Report.chart() are drawn again when the theme changes.
const Report = (() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const sections = [], charts = [];

  const css = name => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
  const element = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === 'class') node.className = value;
      else if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
      else node.setAttribute(key, value);
    }
    node.append(...children.filter(child => child !== null && child !== undefined));
    return node;
  };

  const thousands = value => Math.round(value).toLocaleString('en-US');
  const ratio = value => value.toFixed(value < 0.095 ? 3 : 2);
  const millis = ms => ms >= 100 ? thousands(ms) : ms.toFixed(ms >= 10 ? 1 : 2);
  const percent = share => share <= 0 ? '0' : share < 0.01 ? '<1 %' : Math.round(share * 100) + ' %';
  const spread = s => s.rounds > 1 && s.median > 0 ? '±' + Math.round((s.max - s.min) / s.median * 100) + ' %' : '';
  const mark = { safe: '✓', oversold: '✗', lost: '−', stuck: '■', disagree: '≠', unknown: '?' };
  // Logarithmic axes: bounds on 1, 2 or 5, and only those labelled.
  const nice = (value, up) => {
    const power = 10 ** Math.floor(Math.log10(value) + 1e-9), steps = [1, 2, 5, 10].map(step => step * power);
    return up ? steps.find(step => step >= value * 0.999) : steps.reverse().find(step => step <= value * 1.001);
  };
  const logTick = value => /^[125](\.0*)?e/.test((+value).toExponential(3)) ? (value >= 1000 ? thousands(value) : String(+(+value).toPrecision(2))) : null;
  const narrow = () => window.innerWidth < 640;

  const samePoint = (a, b) => a.connections === b.connections && a.instances === b.instances;
  const pointName = p => `${p.connections} connections, ${p.instances} instance${p.instances === 1 ? '' : 's'}`;
  const points = results => results.summary.ceilings.map(c => c.point);
  const rowsAt = (results, point) => results.summary.rows.filter(row => samePoint(row.point, point));
  const described = (results, name) => results.strategies.find(s => s.name === name) || { summary: '', family: '' };

  // What a scan shows first, and what the head speaks of: the point most like a plain comparison.
  const usualPoint = results => points(results).find(p => p.connections === 64 && p.instances > 1) || points(results)[0];

  // `configure()` gives a Chart.js configuration; it is called again whenever the colours change.
  function chart(canvas, configure) {
    const entry = { canvas, configure, chart: null };
    entry.redraw = () => {
      if (entry.chart) entry.chart.destroy();
      Chart.defaults.color = css('soft');
      Chart.defaults.borderColor = css('grid');
      Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
      Chart.defaults.animation = false;
      Chart.defaults.maintainAspectRatio = false;
      entry.chart = new Chart(canvas, configure());
    };
    entry.redraw();
    charts.push(entry);
    return entry;
  }
  function canvasIn(root, height, label) {
    const canvas = element('canvas', { role: 'img', 'aria-label': label });
    const box = element('div', { class: 'chart', style: `height:${height}px` }, canvas);
    root.append(box);
    return canvas;
  }
  const painters = [];
  const redrawAll = () => { charts.forEach(c => c.redraw()); painters.forEach(paint => paint()); };

  // With several scan points, a choice of which one a chart shows. The latest drawing replaces the one before.
  function perPoint(root, results, draw) {
    const all = points(results), body = element('div');
    const show = index => {
      charts.filter(c => body.contains(c.canvas)).forEach(c => { c.chart.destroy(); charts.splice(charts.indexOf(c), 1); });
      body.replaceChildren();
      draw(body, all[index]);
    };
    if (all.length > 1) {
      const choice = element('select', { 'aria-label': 'scan point', onchange: event => show(+event.target.value) },
        ...all.map((p, i) => element('option', { value: i }, pointName(p))));
      root.append(element('div', { class: 'controls' }, choice));
    }
    root.append(body);
    const usual = all.indexOf(usualPoint(results));
    if (all.length > 1) root.querySelector('select').value = usual;
    if (all.length) show(usual);
  }

  function verdictKey(rows) {
    const present = Object.keys(mark).filter(v => rows.some(row => row.verdict === v));
    return element('div', { class: 'key' }, ...present.map(v => {
      const swatch = element('i');
      swatch.style.color = `var(--${v})`;
      return element('span', {}, swatch, v);
    }));
  }

  function start() {
    const root = document.getElementById('report');
    root.replaceChildren();
    for (const section of sections) {
      if (section.when && !section.when(data)) continue;
      if (!section.title) { section.draw(root, data); continue; }
      const box = element('section', { id: section.id }, element('h2', {}, section.title));
      if (section.lead) box.append(element('p', { class: 'lead' }, section.lead));
      root.append(box);
      section.draw(box, data);
    }
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redrawAll);
    let wasNarrow = narrow();
    window.addEventListener('resize', () => {
      if (narrow() !== wasNarrow) { wasNarrow = narrow(); redrawAll(); }
    });
    // paper is light whatever the screen is
    window.addEventListener('beforeprint', () => { document.documentElement.classList.add('paper'); redrawAll(); });
    window.addEventListener('afterprint', () => { document.documentElement.classList.remove('paper'); redrawAll(); });
  }

  return {
    section: s => sections.push(s), start, chart, canvasIn, perPoint, verdictKey, element, css, narrow,
    onTheme: paint => painters.push(paint),
    nice, logTick, thousands, ratio, millis, percent, spread, mark, pointName, points, rowsAt, usualPoint, described, samePoint,
  };
})();

// The seats that were sold more than once, on a plan of the house: what "oversold" means to the people who hold the tickets.
{
  const most = 1200;  // cells a map

  // Seats are handed out from the highest number down; the window begins at the highest seat sold twice.
  const windowOf = audit => {
    const top = Math.max(...audit.double_seats);
    // the list is cut at 1000 seats: beyond what it covers, a seat sold twice would look like one sold once
    if (audit.double_seats.length >= 1000) return [top, Math.max(Math.min(...audit.double_seats), top - most + 1)];
    return audit.stock <= most * 2 ? [audit.stock, 1] : [top, Math.max(1, top - most + 1)];
  };

  const paint = (canvas, audit, [top, bottom]) => {
    const twice = new Set(audit.double_seats), count = top - bottom + 1;
    const width = canvas.clientWidth || 300, scale = window.devicePixelRatio || 1;
    const cell = Math.max(4, Math.min(11, Math.floor(Math.sqrt(width * 240 / count)))), columns = Math.floor(width / cell);
    const height = Math.ceil(count / columns) * cell;
    canvas.width = width * scale; canvas.height = height * scale; canvas.style.height = `${height}px`;
    const ctx = canvas.getContext('2d');
    ctx.scale(scale, scale);
    for (let i = 0; i < count; i++) {
      const seat = top - i, sold = seat > audit.remaining || audit.remaining <= 0;
      ctx.fillStyle = Report.css(twice.has(seat) ? 'oversold' : 'safe');
      ctx.globalAlpha = twice.has(seat) ? 1 : sold ? 0.28 : 0.07;
      ctx.beginPath();
      ctx.rect((i % columns) * cell, Math.floor(i / columns) * cell, cell - 1, cell - 1);
      ctx.fill();
    }
    return { cell, columns, seatAt: (x, y) => top - (Math.floor(y / cell) * columns + Math.floor(x / cell)), twice, bottom };
  };

  const seatMap = run => {
    const { element, thousands } = Report, audit = run.audit, range = windowOf(audit);
    const canvas = element('canvas', { role: 'img', 'aria-label': `${audit.double_sold} sales of seats already sold, by ${run.strategy}` });
    const hint = element('p', { class: 'hint' }, ' ');
    const whole = range[1] === 1 && range[0] === audit.stock;
    const box = element('div', {}, element('h3', {}, run.strategy),
      element('p', {}, `${thousands(audit.sold)} sold, ${thousands(audit.double_sold)} of them a seat that somebody already had. ` +
        (whole ? `All ${thousands(audit.stock)} seats.` : `Seats ${thousands(range[1])} to ${thousands(range[0])}.`)), canvas, hint);
    let plan;
    const draw = () => { plan = paint(canvas, audit, range); };
    canvas.addEventListener('mousemove', event => {
      const seat = plan.seatAt(event.offsetX, event.offsetY);
      hint.textContent = seat >= plan.bottom && seat <= range[0] ? `seat ${thousands(seat)}${plan.twice.has(seat) ? ': sold more than once' : ''}` : ' ';
    });
    canvas.addEventListener('mouseleave', () => { hint.textContent = ' '; });
    return { box, draw };
  };

  const worstRuns = results => {
    const byStrategy = new Map();
    for (const run of results.runs) {
      if (!run.audit || !run.audit.double_seats.length) continue;
      const known = byStrategy.get(run.strategy);
      if (!known || run.audit.double_sold > known.audit.double_sold) byStrategy.set(run.strategy, run);
    }
    return [...byStrategy.values()];
  };

  Report.section({
    id: 'seats',
    title: 'Sold twice',
    lead: 'The house plan of each strategy that sold a seat more than once: every square is a seat, red ones have more than one owner.',
    when: data => data.results && worstRuns(data.results).length > 0,
    draw(root, { results }) {
      const maps = worstRuns(results).map(seatMap);
      root.append(Report.element('div', { class: 'maps' }, ...maps.map(map => map.box)));
      const all = () => maps.forEach(map => map.draw());
      all();
      Report.onTheme(all);
      window.addEventListener('resize', all);
    },
  });
}

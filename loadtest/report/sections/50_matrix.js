// The fault matrix: what each strategy promises under each fault, and what was seen. A cell's words are in its tooltip and, for
// all that is not safe, in the list below.
Report.section({
  id: 'matrix',
  title: 'What breaks it',
  lead: 'Every promise of the catalogue, staged on a real stack and judged by the ledger. An empty cell: nothing is promised, because the ' +
    'fault has nothing to take hold of. A framed cell is not what was promised.',
  when: data => data.matrix && Array.isArray(data.matrix.cells) && data.matrix.cells.length > 0,
  draw(root, { matrix }) {
    const { element } = Report, { cells } = matrix;
    const faults = matrix.faults.filter(fault => cells.some(cell => cell.fault === fault.name));
    const strategies = [...new Set(cells.map(cell => cell.strategy))];
    const words = cell => !cell.played ? `not played; promised ${cell.promised}`
      : `${cell.verdict}${cell.kept ? '' : `, promised ${cell.promised}`}${cell.seen ? `: ${cell.seen}` : ''}. ${cell.why}`;
    const mark = cell => {
      if (!cell) return element('td', {});
      const state = cell.played ? cell.verdict : 'unknown';
      return element('td', { class: cell.played && !cell.kept ? 'broken' : '', title: `${cell.strategy}, ${cell.fault}: ${words(cell)}` },
        element('span', { class: `verdict ${state}`, 'aria-label': state }));
    };
    root.append(element('code', { class: 'command' }, matrix.command.join(' ')));
    root.append(Report.verdictKey(cells.map(cell => ({ verdict: cell.verdict }))));
    root.append(element('div', { class: 'scroll' }, element('table', { class: 'matrix' },
      element('thead', {}, element('tr', {}, element('th', {}, 'strategy'),
        ...faults.map(fault => element('th', { title: fault.meaning }, element('span', {}, fault.name))))),
      element('tbody', {}, ...strategies.map(strategy => element('tr', {}, element('td', {}, strategy),
        ...faults.map(fault => mark(cells.find(cell => cell.strategy === strategy && cell.fault === fault.name)))))))));
    root.append(element('dl', {}, ...faults.flatMap(fault => [element('dt', {}, fault.name), element('dd', {}, fault.meaning)])));

    const flaws = cells.filter(cell => cell.played && (cell.verdict !== 'safe' || !cell.kept));
    root.append(element('h3', {}, 'Who fails, and why'), element('ul', { class: 'flaws' }, ...flaws.map(cell =>
      element('li', {}, element('b', {}, cell.strategy), `, ${cell.fault}: `, element('span', { class: `verdict ${cell.verdict}` }, cell.verdict),
        `${cell.kept ? '' : `, promised ${cell.promised}`}${cell.seen ? `, ${cell.seen}` : ''}. `, element('span', { class: 'soft' }, cell.why)))));
  },
});

// Where and how it was measured: figures mean nothing on another machine without this.
Report.section({
  id: 'environment',
  title: 'Where this was measured',
  when: data => data.results,
  draw(root, { results }) {
    const { element } = Report, env = results.environment, o = results.options;
    const flat = object => Object.entries(object).map(([key, value]) => `${key} ${value}`).join(' · ');
    const pairs = [
      ['machine', `${env.cpu}, ${env.cores} cores, ${env.memory}`],
      ['system', `${env.system}, ${env.kernel}`],
      ['commit', env.commit],
      ...Object.entries(env.versions || {}),
      ['durability', flat(env.durability || {})],
      ['method', `${o.rounds} round${o.rounds === 1 ? '' : 's'} of ${o.duration_s} s each after ${o.warmup_s} s warm-up (dropped), order shuffled per round with seed ${o.seed}, ` +
        `${Report.thousands(o.stock)} seats, wrk with ${o.threads} threads through nginx; /ping measured before every few runs`],
    ];
    root.append(element('dl', {}, ...pairs.flatMap(([key, value]) => [element('dt', {}, key), element('dd', {}, String(value))])));
  },
});

// What Prometheus' text format asks for, as a scraper reads it: https://prometheus.io/docs/instrumenting/exposition_formats/
const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (-?[0-9.eE+-]+|\+Inf|-Inf|NaN)$/;
const LABELS = /^(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"(?:,|$))*$/;

interface Family {
  readonly type: string;
  readonly samples: { readonly name: string; readonly labels: string; readonly value: number }[];
}

/** Everything in the text that a scraper refuses, or that means something else than it says. */
export function mistakesOf(text: string): string[] {
  const mistakes: string[] = [];
  const families = new Map<string, Family>();
  const helped = new Set<string>();
  if (!text.endsWith('\n')) mistakes.push('the last line has no end');
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const [mark, kind, name, ...rest] = line.split(' ');
    if (mark !== '#') sample(line, families, mistakes);
    else if (kind === 'HELP' && rest.length > 0) helped.add(name);
    else if (kind === 'TYPE' && NAME.test(name) && !families.has(name))
      families.set(name, { type: rest[0], samples: [] });
    else mistakes.push(`not understood: ${line}`);
  }
  for (const [name, family] of families) {
    if (!helped.has(name)) mistakes.push(`${name} has no help`);
    if (family.type === 'counter' && !name.endsWith('_total')) mistakes.push(`the counter ${name} ends otherwise`);
    if (family.type === 'counter' && family.samples.some(({ value }) => !(value >= 0))) mistakes.push(`${name} fell`);
    if (family.type === 'histogram') histogram(name, family, mistakes);
    const keys = family.samples.map((one) => `${one.name}{${one.labels}}`);
    if (new Set(keys).size !== keys.length) mistakes.push(`${name} has a sample twice`);
  }
  return mistakes;
}

function sample(line: string, families: Map<string, Family>, mistakes: string[]): void {
  const match = SAMPLE.exec(line);
  const [, name = '', labels = '', value = ''] = match ?? [];
  const family = families.get(name) ?? families.get(name.replace(/_(bucket|sum|count)$/, ''));
  if (!match || !LABELS.test(labels)) mistakes.push(`not understood: ${line}`);
  else if (!family) mistakes.push(`before its type: ${line}`);
  else family.samples.push({ name, labels, value: Number(value.replace('Inf', 'Infinity')) });
}

/** Buckets are cumulative, and the last one holds all that were counted. */
function histogram(name: string, { samples }: Family, mistakes: string[]): void {
  const series = new Map<string, number[]>();
  for (const { name: part, labels, value } of samples) {
    if (part !== `${name}_bucket`) continue;
    const others = labels.replace(/le="[^"]*",?/, '').replace(/,$/, '');
    series.set(others, [...(series.get(others) ?? []), value]);
  }
  for (const [labels, values] of series) {
    if (values.some((value, i) => i > 0 && value < values[i - 1])) mistakes.push(`${name}{${labels}}: buckets fall`);
    const count = samples.find((one) => one.name === `${name}_count` && one.labels === labels)?.value;
    if (values.at(-1) !== count) mistakes.push(`${name}{${labels}}: ${values.at(-1)} in buckets, ${count} counted`);
  }
}

import type { Clock, Limits, Names } from '../../base/index.js';
import { parseQuery, runQuery, writeJson } from '../../dql/index.js';
import type { CustomRootCall } from './custom-logic.js';

/** Runs the text of `@custom(dql: ...)`, the field's arguments as its variables: the blocks of the answer by name. */
export async function runCustomDql(
  text: string,
  call: CustomRootCall,
  { names, clock, limits }: { readonly names: Names; readonly clock: Clock; readonly limits: Limits },
): Promise<Readonly<Record<string, unknown>>> {
  const variables = Object.fromEntries(
    Object.entries(call.args).flatMap(([name, value]) =>
      value === null || value === undefined ? [] : [[`$${name}`, textOf(value)]],
    ),
  );
  const document = parseQuery(text, { variables, names, limits });
  const reader = await call.reader();
  const deadline = clock.monotonic() + limits.queryMs;
  const result = await runQuery(document, reader, { deadline, signal: call.context.signal, clock, limits, names });
  return JSON.parse(writeJson(result, { names, limit: limits.answerBytes }).toString('utf8')) as Record<
    string,
    unknown
  >;
}

function textOf(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

import { getNullableType, isObjectType } from 'graphql';
import { assert, type Clock, type Limits, type Names, parseJson } from '../../base/index.js';
import { parseQuery, runQuery, writeJson } from '../../dql/index.js';
import type { CustomRootCall } from './custom-logic.js';
import { asGraphqlValue } from './dql-value.js';

/**
 * Runs the text of `@custom(dql: ...)`, the field's arguments as its variables: the blocks of the answer by name, the
 * field's own as its type reads it. The aggregates of a block without nodes, `me() { ... }`, are one object where one is
 * wanted.
 */
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
  const blocks = parseJson(writeJson(result, { names, limit: limits.answerBytes }).toString('utf8'));
  assert(blocks, 'an answer of the graph language is JSON');
  const { name } = call.field;
  const { [name]: answered, ...others } = blocks.value as Record<string, unknown>;
  const type = call.schema.getQueryType()?.getFields()[name]?.type;
  if (!type) return { ...others, [name]: answered };
  const isOne = isObjectType(getNullableType(type)) && document.blocks.some((each) => each.name === name && !each.root);
  const own = isOne && Array.isArray(answered) ? [Object.assign({}, ...answered)] : answered;
  return { ...others, [name]: asGraphqlValue({ ...call, names }, type, own) };
}

function textOf(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

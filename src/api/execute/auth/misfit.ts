import { GraphsteadError } from '../../../base/index.js';
import type { Argument, Filter } from '../../../dql/index.js';
import { compilePattern, parseGeometry, shapeOf } from '../../../values/index.js';
import type { Scope } from '../scope.js';

/** A claim fits the type of its variable, and yet nothing can be asked with it: a pattern that is none, a place outside the globe. */
export class ClaimMisfit extends Error {}

/** What `compile` makes of a rule's claims. Throws ClaimMisfit where running it would fail: then the rule denies, and others may still allow. */
export function askable(scope: Scope, compile: () => Filter | undefined): Filter | undefined {
  try {
    const filter = compile();
    demandAskable(scope, filter);
    return filter;
  } catch (error) {
    if (error instanceof GraphsteadError) throw new ClaimMisfit(error.message, { cause: error });
    throw error;
  }
}

function demandAskable(scope: Scope, filter: Filter | undefined): void {
  if (filter?.kind === 'and') for (const child of filter.children) demandAskable(scope, child);
  if (filter?.kind !== 'call') return;
  const { name, args } = filter.call;
  for (const argument of args) demandReadable(scope, argument);
  if (name === 'near' && !isDistance(args[1])) throw new ClaimMisfit('a distance below 0');
}

function demandReadable({ names }: Scope, argument: Argument): void {
  if (argument.kind === 'regexp') compilePattern(argument.pattern, argument.flags);
  if (argument.kind !== 'coordinates') return;
  const given: unknown = JSON.parse(argument.text);
  if (names.dgraph) shapeOf(given);
  else parseGeometry(given);
}

function isDistance(argument: Argument | undefined): boolean {
  return argument?.kind === 'literal' && Number(argument.text) >= 0;
}

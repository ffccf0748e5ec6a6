import { type Environment, levenshteinWithin, placeholdersIn, variableName } from '../base/index.js';
import type { AppConfig } from './config.js';

/** A variable that is set, and that no connection reads; most likely it is meant as the other one. */
interface Misnamed {
  readonly name: string;
  readonly nearest: string;
}

/** letters by which a name may differ from the one that is meant */
const SLIPS = 2;

/**
 * Variables of the environment that look like those of connections and are none: they begin as those of one, or as good as name
 * one that is not set. Code of the app may read others: nothing is said of them.
 * @param types type definitions, whose secrets read variables of the same form
 */
export function misnamedVariables(config: AppConfig, environment: Environment, types = ''): readonly Misnamed[] {
  const owners = Object.entries(config.connections);
  const read = owners.flatMap(([owner, entry]) => placeholdersIn(entry).map((name) => variableName(owner, name)));
  if (read.length === 0) return [];
  const prefixes = owners.map(([owner]) => variableName(owner, ''));
  const ofSecrets = placeholdersIn(types).map((name) => variableName('', name).slice('APP_'.length));
  const isRead = (name: string) => read.includes(name) || ofSecrets.some((end) => name.endsWith(end));
  return Object.keys(environment).flatMap((name) => {
    if (!name.startsWith('APP_') || isRead(name)) return [];
    const [{ other: nearest, slips }] = read
      .map((other) => ({ other, slips: slipsBetween(name, other) }))
      .sort((a, b) => a.slips - b.slips);
    const isMeant = slips <= SLIPS && !environment[nearest];
    return isMeant || prefixes.some((prefix) => name.startsWith(prefix)) ? [{ name, nearest }] : [];
  });
}

/** Letters that are to be put in, left out or changed to come from one name to the other. */
function slipsBetween(from: string, to: string): number {
  let slips = 0;
  while (!levenshteinWithin(from, to, slips)) slips++;
  return slips;
}

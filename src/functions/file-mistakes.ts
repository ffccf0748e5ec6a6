import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultNames, dgraphNames, type GraphsteadError, GraphsteadErrors } from '../base/index.js';
import { readConfig } from '../connections/index.js';
import { readModel } from '../sdl/index.js';

const CONFIG = 'app.json';
const TYPES = 'schema.graphql';

/** Files of an app that its code stands beside. */
export const BESIDE_CODE = [CONFIG, TYPES] as const;

/** Mistakes of app.json and schema.graphql, as far as they are told without an environment, stored data and remotes. */
export function fileMistakes(appDir: string): readonly GraphsteadError[] {
  return [...mistakesIn(join(appDir, CONFIG), configMistakes), ...mistakesIn(join(appDir, TYPES), typeMistakes)];
}

/** Mistakes of one file with those of others, each told once. */
export function withOthers(found: GraphsteadErrors, others: readonly GraphsteadError[]): GraphsteadErrors {
  const told = new Set(found.errors.map(placeAndText));
  const more = others.filter((one) => !told.has(placeAndText(one)));
  return more.length === 0 ? found : new GraphsteadErrors([...found.errors, ...more]);
}

function placeAndText({ position, message }: GraphsteadError): string {
  return `${position?.source}:${position?.line}:${position?.column} ${message}`;
}

/** What schema.graphql holds; nothing where there is none. */
export function typesText(appDir: string): string {
  const path = join(appDir, TYPES);
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

function mistakesIn(path: string, look: (text: string) => readonly GraphsteadError[]): readonly GraphsteadError[] {
  if (!existsSync(path)) return [];
  try {
    return look(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof GraphsteadErrors) return error.errors;
    throw error;
  }
}

function configMistakes(text: string): readonly GraphsteadError[] {
  readConfig(text, CONFIG);
  return [];
}

/** Nobody has said yet whose names they are to have: what one of the two takes is no mistake. */
function typeMistakes(text: string): readonly GraphsteadError[] {
  if (text.trim() === '') return [];
  const { errors } = readModel(text, { names: defaultNames, source: TYPES });
  const isRight = errors.length === 0 || readModel(text, { names: dgraphNames }).errors.length === 0;
  return isRight ? [] : errors;
}

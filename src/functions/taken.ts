import { type DefinitionNode, parse } from 'graphql';
import { generatedAlone } from '../api/index.js';
import { defaultNames, dgraphNames, GraphsteadError } from '../base/index.js';
import type { AppManifest, Taken } from './contract.js';

const ROOTS: ReadonlySet<string> = new Set(['Query', 'Mutation', 'Subscription']);

/** @param generated what is generated from type definitions, as text */
export function namesIn(generated: string): Taken {
  const operations = new Set<string>();
  const types = new Set<string>();
  if (generated === '') return { operations, types };
  for (const definition of parse(generated, { noLocation: true }).definitions as readonly DefinitionNode[]) {
    if (!('name' in definition) || definition.name === undefined) continue;
    if (!ROOTS.has(definition.name.value)) {
      types.add(definition.name.value);
      continue;
    }
    const fields = 'fields' in definition ? (definition.fields ?? []) : [];
    for (const field of fields) operations.add(field.name.value);
  }
  return { operations, types };
}

/** Names that type definitions take whoever's names they are served with: at a build nobody has said it yet. */
export function takenEitherWay(text: string): Taken {
  if (text.trim() === '') return namesIn('');
  const ways = [defaultNames, dgraphNames].flatMap((names) => generatedAlone(text, names) ?? []).map(namesIn);
  const [first, ...others] = ways;
  if (first === undefined) return namesIn('');
  const inAll = (of: keyof Taken) => new Set([...first[of]].filter((name) => others.every((way) => way[of].has(name))));
  return { operations: inAll('operations'), types: inAll('types') };
}

/** Functions and types of an app that are named as what stored types have. */
export function takenMistakes({ operations, types }: AppManifest, taken: Taken): readonly GraphsteadError[] {
  return [
    ...operations
      .filter(({ name }) => taken.operations.has(name))
      .map(
        ({ name, handler, file, line, column }) =>
          new GraphsteadError('FUNCTION_TYPE', `the operation "${name}" exists already: a stored type generates it`, {
            position: { line, column, source: file },
            fix: handler === undefined ? 'rename the function' : 'rename the handler, or its class by static agentName',
          }),
      ),
    ...types
      .filter(({ name }) => taken.types.has(name))
      .map(
        ({ name, position }) =>
          new GraphsteadError('FUNCTION_TYPE', `the type "${name}" exists already in the schema`, {
            position,
            fix: 'rename the interface or type alias',
          }),
      ),
  ];
}

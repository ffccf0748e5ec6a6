import { readFileSync } from 'node:fs';
import { GraphsteadError } from '../base/index.js';
import { type AppSource, isOwnFile } from './app-source.js';
import type { AppManifest } from './contract.js';

/** What the service itself adds where an app has agents; see agents: eventOperation. */
const EVENTS = 'agentEvent';
const EVENT_TYPE = 'AgentEvent';
const WHY = 'the service has it for the events of agents';

/** @param files that the operations are typed from */
export function ownNameMistakes(
  { operations, types }: AppManifest,
  source: AppSource,
  files: readonly string[],
): readonly GraphsteadError[] {
  const taken = operations.filter(({ name, kind }) => name === EVENTS && kind === 'subscription');
  const alike = types.filter(({ name }) => name === EVENT_TYPE);
  if (taken.length + alike.length === 0 || !registersAgents(source, files)) return [];
  const refused = (what: string, fix: string, position: GraphsteadError['position']) =>
    new GraphsteadError('FUNCTION_TYPE', `${what} exists already: ${WHY}`, { position, fix });
  return [
    ...taken.map(({ file, line, column }) =>
      refused(`the subscription "${EVENTS}"`, 'rename the function', { line, column, source: file }),
    ),
    ...alike.map(({ position }) => refused(`the type "${EVENT_TYPE}"`, 'rename the interface or type alias', position)),
  ];
}

const REGISTERS = /\bagents\s*\.\s*register\s*\(/;

/** As far as its files tell: none of it runs before it is found right. */
function registersAgents({ agents }: AppSource, files: readonly string[]): boolean {
  const own = files.filter((file) => !isOwnFile(file));
  return agents.length > 0 || own.some((file) => REGISTERS.test(readFileSync(file, 'utf8')));
}

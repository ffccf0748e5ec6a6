import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sharedFolder } from '../../../test/folder.js';
import { GraphsteadErrors } from '../../base/index.js';
import { findSource } from '../app-source.js';
import type { AppManifest } from '../contract.js';
import { readSource } from './read-operations.js';

const root = sharedFolder();

let count = 0;
function read(files: Readonly<Record<string, string>>): AppManifest {
  const dir = join(root, String(count++));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), `import { Agent, agents, type Json } from 'graphstead/app';\n${text}`);
  }
  return readSource(findSource(dir)).manifest;
}

/** Each as line:column, message and fix, of a class with these members. */
function mistakes(members: string, lists = "static readonly handlers = ['go'] as const;"): readonly string[] {
  try {
    read({ 'index.ts': `interface Sent { at: Date }\nexport class Boat extends Agent { ${lists}\n${members} }` });
  } catch (error) {
    if (!(error instanceof GraphsteadErrors)) throw error;
    return error.errors.map(({ code, position, message, fix }) => {
      return `${code} ${position?.source}:${position?.line}:${position?.column} ${message} (${fix})`;
    });
  }
  return [];
}

const handlersOf = ({ operations }: AppManifest) => {
  const known = operations.filter(({ handler }) => handler !== undefined);
  return Object.fromEntries(known.map(({ name, kind, handler }) => [name, { kind, ...handler }]));
};

describe('handlers that are operations', () => {
  it('are those whose comment says so, wherever their class stands', () => {
    const manifest = read({
      'functions/boats.ts': "export { Boat } from '../agents/boat.js';\nexport function getIt(): string { return ''; }",
      'agents/boat.ts': `
        export class Boat extends Agent {
          static readonly agentName = 'Ship';
          static readonly handlers = ['go', 'where', 'stay'] as const;
          static readonly readOnly = ['where'] as string[];
          /** @mutation */ go(): void {}
          /** @query */ where(): string { return ''; }
          stay(): void {}
        }
        agents.register(Boat);`,
      'agents/nobody-imports.ts': `
        const Hidden = class extends Agent { static handlers = ['go'];
          /** @mutation */ go(): void {} };
        agents.register(Hidden);`,
    });
    expect(handlersOf(manifest)).toEqual({
      shipGo: { kind: 'mutation', type: 'Ship', message: 'go' },
      shipWhere: { kind: 'query', type: 'Ship', message: 'where' },
      hiddenGo: { kind: 'mutation', type: 'Hidden', message: 'go' },
    });
  });

  it('come with a class that others extend, in the types that these give it', () => {
    const manifest = read({
      'index.ts': `
        abstract class Box<T> extends Agent { static readonly handlers = ['put'] as const;
          /** @mutation */ put(what: T): T { return what; } }
        export class Texts extends Box<string> {}
        export class Numbers extends Box<number[]> {}
        export class Other { /** @mutation */ put(): void {} }`,
    });
    expect(Object.keys(handlersOf(manifest))).toEqual(['textsPut', 'numbersPut']);
    expect(
      manifest.operations.map(({ args, result }) => [args.length, args[1]?.type.kind, result.name ?? result.of?.name]),
    ).toEqual([
      [2, 'named', 'String'],
      [2, 'list', 'Float'],
    ]);
  });

  it('come with what a class mixes in, which is no class of agents by itself', () => {
    const manifest = read({
      'index.ts': `
        type Base = new (...args: any[]) => Agent;
        function Moving<B extends Base>(base: B) {
          return class extends base {
            /** @mutation */ go(): void {} };
        }
        function Named<B extends Base>(base: B) {
          class Inner extends base {
            /** @mutation */ stay(): void {} }
          return Inner;
        }
        function plain(base: typeof Agent) {
          return class extends base {
            /** @mutation */ come(): void {} };
        }
        export class Boat extends Named(Moving(Agent)) { static handlers = ['go', 'stay']; }
        export class Ship extends plain(Agent) { static handlers = ['come']; }`,
    });
    expect(Object.keys(handlersOf(manifest)).sort()).toEqual(['boatGo', 'boatStay', 'shipCome']);
  });

  it('are named as JavaScript names their class', () => {
    const one = `class extends Agent { static handlers = ['go'];
      /** @mutation */ go(): void {} }`;
    const manifest = read({
      'functions/given.ts': `export const all = { Boat: ${one}, 'Ship': ${one} }; const Raft = (${one}) as typeof Agent;`,
      'agents/alone.ts': `export default ${one}`,
    });
    expect(Object.keys(handlersOf(manifest)).sort()).toEqual(['boatGo', 'defaultGo', 'raftGo', 'shipGo']);
  });

  it('of a class that lists none may be meant for those that extend it', () => {
    expect(mistakes('/** @mutation */ go(): void {}', '')).toEqual([
      `FUNCTION_TYPE index.ts:4:18 "go" is marked as an operation, and the class takes no such message (list it: static readonly handlers = ['go'] as const, or make the class abstract where only those that extend it are registered)`,
    ]);
  });

  it('may be listed by what is computed', () => {
    expect(
      mistakes('/** @query */ go(): string { return ""; }', 'static handlers = [...[]]; static readOnly = [...[]];'),
    ).toEqual([]);
  });

  it.each([
    [
      'one that is not listed',
      '/** @mutation */ come(): void {}',
      `FUNCTION_TYPE index.ts:4:18 "come" is marked as an operation, and the class takes no such message (list it: static readonly handlers = ['go', 'come'] as const)`,
    ],
    [
      'a query that may change something',
      '/** @query */ go(): string { return ""; }',
      'FUNCTION_TYPE index.ts:4:15 "go" is marked as a query, and may change its agent (list it in static readOnly where it changes nothing, or mark it with @mutation)',
    ],
    [
      'a parameter that has the name of the agent',
      '/** @mutation */ go(agentId: string): void {}',
      'FUNCTION_TYPE index.ts:4:18 "Boat.go" takes an agentId, by which clients name the agent itself (give the parameter another name)',
    ],
    [
      'a Date that it takes',
      '/** @mutation */ go(sent: Sent[]): void {}',
      'FUNCTION_TYPE index.ts:4:18 "Boat.go" is a message, which is JSON, and sent.at is a Date (take and give its text: toISOString())',
    ],
    [
      'a bigint that it gives',
      '/** @mutation */ go(): bigint { return 1n; }',
      'FUNCTION_TYPE index.ts:4:18 "Boat.go" is a message, which is JSON, and result is a bigint (take Int64 of "graphstead/app", or a text)',
    ],
    [
      'a stream',
      '/** @mutation */ async *go(): AsyncIterable<string> {}',
      'FUNCTION_TYPE index.ts:4:25 "Boat.go" gives a stream, and a message has one reply (publish events as it goes, which clients read by agentEvent; or write a function that gives them)',
    ],
    [
      'what GraphQL cannot express',
      '/** @mutation */ go(map: Map<string, string>): void {}',
      'FUNCTION_TYPE index.ts:4:21 GraphQL cannot express the type Map<string, string> (use arrays and plain objects, or Json from "graphstead/app" for any JSON value)',
    ],
    [
      'what is no method',
      '/** @mutation */ go = 3;',
      'FUNCTION_TYPE index.ts:4:18 "Boat.go" is no method, and answers no message (write it as a method)',
    ],
  ])('are refused with %s', (_, members, told) => {
    expect(mistakes(members)).toEqual([told]);
  });

  it('are refused where the name of their agents is computed, or no name of GraphQL', () => {
    const lists = (name: string) => `static agentName = ${name}; static handlers = ['go'];`;
    expect(mistakes('/** @mutation */ go(): void {}', lists('String(1)'))).toEqual([
      `FUNCTION_TYPE index.ts:3:35 the agentName of a class with operations is computed (write it out: agentName = 'Parcel')`,
    ]);
    expect(mistakes('/** @mutation */ go(): void {}', lists("'my boat'"))[0]).toContain(
      '"my boatGo" is no GraphQL name',
    );
  });

  it('are refused in a generic class that is not abstract, with what would make it one for others to extend', () => {
    const open = () =>
      read({
        'index.ts': `export class Box<T> extends Agent { static handlers = ['put'];
          /** @mutation */ put(what: T): void {} }`,
      });
    expect(open).toThrow(
      expect.objectContaining({
        errors: [expect.objectContaining({ fix: expect.stringContaining('declare the class abstract') })],
      }),
    );
  });

  it('are refused where a function has the same name', () => {
    const twin = () =>
      read({
        'index.ts': `export class Boat extends Agent { static handlers = ['go'];
          /** @mutation */ go(): void {} }
          export function boatGo(): void {}`,
      });
    expect(twin).toThrow(/"Boat.go" and "boatGo" \(index.ts:4\) give the same operation/);
  });

  it('are refused where two classes have one name, with what makes them two', () => {
    const twin = () =>
      read({
        'index.ts': `export class Boat extends Agent { static agentName = 'Boat'; static handlers = ['go'];
          /** @mutation */ go(): void {} }
          export class Raft extends Boat {}`,
      });
    expect(twin).toThrow(
      expect.objectContaining({
        errors: [
          expect.objectContaining({
            message: '"Boat.go" and "Boat.go" (index.ts:3) give the same operation',
            fix: 'give one of the classes a static agentName of its own, or declare it abstract where others extend it',
          }),
        ],
      }),
    );
  });
});

import type { ExplorerOperation, ExplorerSchema } from '../../../src/server/explorer-schema-info';
import { ask } from '../http';

const HINTS = `# Ctrl+Enter runs what stands here; Escape, then Tab leaves the editor.
# The book on the left lists all operations.
# Subscriptions stream into the answer.
`;

const INTROSPECTION = `query Operations {
  __schema {
    queryType { fields { name description } }
  }
}
`;

/** What stands in the editor at first: a query of the service's own data or calls of its functions, so that the first Run shows some of it. */
export async function welcome(): Promise<string> {
  const served = await ask<ExplorerSchema>('/explorer/api/schema').catch(() => undefined);
  return `${HINTS}\n${(served && (firstQuery(served) ?? functionCalls(served))) ?? INTROSPECTION}`;
}

function firstQuery({ types, operations }: ExplorerSchema): string | undefined {
  const offered = new Set(operations.map((operation) => operation.name));
  for (const { name, kind, remote, fields } of types) {
    const shown = fields.filter(({ role }) => role === 'id' || role === 'scalar').slice(0, 5);
    if (kind !== 'object' || remote || shown.length === 0 || !offered.has(`query${name}`)) continue;
    const lines = shown.map((field) => `    ${field.name}`).join('\n');
    return `query First${name} {\n  query${name}(first: 10) {\n${lines}\n  }\n}\n`;
  }
  return undefined;
}

/** An operation each: Run asks which. */
const CALLS = 8;
/** Results that need no selection. */
const LEAF = /^[[\]!]*(String|ID|Int|Int64|Float|Boolean|DateTime|JSON)[[\]!]*$/;

function functionCalls({ operations }: ExplorerSchema): string | undefined {
  const calls = operations
    .filter(({ from, kind, result }) => from === 'function' && kind !== 'subscription' && LEAF.test(result))
    // the first Run is of one that needs nothing
    .sort((one, other) => one.args.length - other.args.length);
  return calls.length === 0 ? undefined : calls.slice(0, CALLS).map(callOf).join('\n');
}

function callOf({ name, kind, args }: ExplorerOperation): string {
  const variables = args.map((argument) => `$${argument.name}: ${argument.type}`).join(', ');
  const given = args.map((argument) => `${argument.name}: $${argument.name}`).join(', ');
  const inBraces = (text: string) => (text === '' ? '' : `(${text})`);
  return `${kind} ${name[0].toUpperCase()}${name.slice(1)}${inBraces(variables)} {\n  ${name}${inBraces(given)}\n}\n`;
}

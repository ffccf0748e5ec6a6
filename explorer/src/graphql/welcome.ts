import { ask } from '../http';

interface Served {
  readonly types: readonly {
    readonly name: string;
    readonly kind: string;
    readonly remote: boolean;
    readonly fields: readonly { readonly name: string; readonly role: string }[];
  }[];
  readonly operations: readonly { readonly name: string }[];
}

const HINTS = `# Ctrl+Enter runs what stands here.
# The book on the left lists all operations.
# Subscriptions stream into the answer.
`;

const INTROSPECTION = `query Operations {
  __schema {
    queryType { fields { name description } }
  }
}
`;

/** What stands in the editor at first: a query of the service's own data, so that the first Run shows some of it. */
export async function welcome(): Promise<string> {
  const served = await ask<Served>('/explorer/api/schema').catch(() => undefined);
  return `${HINTS}\n${(served && firstQuery(served)) ?? INTROSPECTION}`;
}

function firstQuery({ types, operations }: Served): string | undefined {
  const offered = new Set(operations.map((operation) => operation.name));
  for (const { name, kind, remote, fields } of types) {
    const shown = fields.filter(({ role }) => role === 'id' || role === 'scalar').slice(0, 5);
    if (kind !== 'object' || remote || shown.length === 0 || !offered.has(`query${name}`)) continue;
    const lines = shown.map((field) => `    ${field.name}`).join('\n');
    return `query First${name} {\n  query${name}(first: 10) {\n${lines}\n  }\n}\n`;
  }
  return undefined;
}

import { type FieldNode, Kind, type OperationDefinitionNode, execute } from 'graphql';
import { assert } from '../../base/index.js';
import { graphqlWire } from './answer.js';
import type { Request, RootField, Written } from './request.js';

/** `__schema` and `__type`, answered by graphql-js; answers without variables are kept with the schema. */
export function introspectionField(request: Request, field: RootField, kept: WeakMap<FieldNode, string>): Written {
  const known = kept.get(field.nodes[0]);
  const json = known ?? answer(request, field);
  if (known === undefined && Object.keys(request.variables).length === 0 && field.nodes.length === 1) {
    kept.set(field.nodes[0], json);
  }
  return {
    write: (out) => {
      out.raw(json);
      return true;
    },
  };
}

function answer(request: Request, field: RootField): string {
  const operation: OperationDefinitionNode = {
    ...request.operation,
    selectionSet: { kind: Kind.SELECTION_SET, selections: field.nodes },
  };
  const result = execute({
    schema: request.engine.schema,
    document: { kind: Kind.DOCUMENT, definitions: [operation, ...Object.values(request.fragments)] },
    variableValues: request.variables as Record<string, unknown>,
  });
  assert(!(result instanceof Promise), 'introspection is synchronous');
  for (const error of result.errors ?? []) request.errors.add(graphqlWire(error));
  return JSON.stringify(result.data?.[field.key] ?? null);
}

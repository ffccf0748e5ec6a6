import type { NameNode } from 'graphql';
import { directive, type ObjectDefinition, position } from '../definition.js';
import { idField, isRemote, isRemoteName, xidFields } from '../lookup.js';
import type { Rule, RuleContext } from '../rule.js';

/** A payload holds its nodes under the type's name, beside these. */
const PAYLOAD: ReadonlySet<string> = new Set(['msg', 'numUids']);

/** Arguments of querySimilarTById beside those that name the node. */
const SIMILAR: ReadonlySet<string> = new Set(['by', 'topK', 'ef', 'distance_threshold', 'filter']);

/** Fields and arguments that are generated from names keep clear of the fixed ones beside them, and of each other. */
export const generatedField: Rule = {
  name: 'generated-field',
  check(context) {
    for (const object of context.definitions.objects.values()) {
      if (isRemote(object)) continue;
      if (!context.lax) payload(context, object);
      if (object.fields.some(({ node }) => directive(node, 'embedding'))) similar(context, object);
    }
    members(context);
  },
};

const lowerFirst = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1);

function payload({ report }: RuleContext, { name, node }: ObjectDefinition): void {
  if (!PAYLOAD.has(lowerFirst(name))) return;
  report({
    position: position({ name: node.name }),
    message: `${name} cannot be the name of a stored type: the payloads of its mutations have a field ${lowerFirst(name)} of another meaning`,
    fix: 'Pick another name; @service(type:) keeps the stored one.',
  });
}

function similar({ definitions, lax, report }: RuleContext, object: ObjectDefinition): void {
  const refuse = (name: NameNode, message: string): void =>
    report({ position: position({ name }), message, fix: 'Pick another name; @service keeps the stored one.' });
  for (const name of [`Similar${object.name}ById`, `Similar${object.name}ByEmbedding`]) {
    const other = definitions.objects.get(name);
    if (!other || isRemote(other)) continue;
    refuse(other.node.name, `query${name} is generated for the embeddings of ${object.name} already`);
  }
  for (const field of object.own) {
    if (lax || field.name !== 'vector_distance') continue;
    refuse(field.node.name, `${object.name}.vector_distance is generated: ${object.name} has an embedding`);
  }
  for (const field of [idField(object) ?? [], xidFields(object)].flat()) {
    if (!SIMILAR.has(field.name)) continue;
    refuse(
      field.node.name,
      `${object.name}.${field.name} names nodes, but querySimilar${object.name}ById has an argument ${field.name} of another meaning`,
    );
  }
}

/** A stored union's filter and input have one field for each member, named after it. */
function members({ definitions, report }: RuleContext): void {
  for (const [union, node] of definitions.unions) {
    if (isRemoteName(definitions, union)) continue;
    const seen = new Map<string, string>();
    for (const { name } of node.types ?? []) {
      const first = seen.get(lowerFirst(name.value));
      seen.set(lowerFirst(name.value), name.value);
      if (first === undefined || first === name.value) continue;
      report({
        position: position({ name }),
        message: `union ${union} has the members ${first} and ${name.value}, whose inputs would have one name: ${lowerFirst(name.value)}Ref`,
        fix: 'Rename one of them; @service(type:) keeps its stored name.',
      });
    }
  }
}

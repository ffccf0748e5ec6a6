import {
  type ASTNode,
  type ASTVisitor,
  type DirectiveNode,
  type DocumentNode,
  type FragmentDefinitionNode,
  getNamedType,
  GraphQLError,
  type GraphQLCompositeType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isCompositeType,
  isUnionType,
  Kind,
  type OperationDefinitionNode,
  TypeInfo,
  type ValidationContext,
  type ValueNode,
  type VariableNode,
  visit,
  visitWithTypeInfo,
} from 'graphql';

/** Fields of a @cascade that a variable names. */
export interface NamedByVariable {
  /** the operation or fragment that it stands in */
  readonly within: ASTNode;
  /** of the level */
  readonly type: GraphQLCompositeType;
  readonly variable: VariableNode;
}

type Fragments = Readonly<Record<string, FragmentDefinitionNode>>;

/** A rule for documents: what @cascade names are fields of the level that it stands on. Variables are looked at with their values. */
export function cascadeNamesFields(context: ValidationContext): ASTVisitor {
  return {
    Directive(node) {
      const type = levelOf(context.getType());
      if (!type) return;
      for (const item of namesOf(node)) {
        if (item.kind === Kind.STRING && !hasField(type, item.value)) {
          context.reportError(notAField(item.value, type, item));
        }
      }
    },
  };
}

/** The variables of a valid document that name fields of a @cascade. */
export function namedByVariables(document: DocumentNode, schema: GraphQLSchema): readonly NamedByVariable[] {
  const found: NamedByVariable[] = [];
  const info = new TypeInfo(schema);
  for (const within of document.definitions) {
    const Directive = (node: DirectiveNode) => {
      const type = levelOf(info.getType());
      if (!type) return;
      for (const item of namesOf(node)) if (item.kind === Kind.VARIABLE) found.push({ within, type, variable: item });
    };
    visit(within, visitWithTypeInfo(info, { Directive }));
  }
  return found;
}

/** What is wrong with the first name that is no field where a variable of this operation brings it. */
export function unknownName(
  named: readonly NamedByVariable[],
  operation: OperationDefinitionNode,
  { fragments, variables }: { fragments: Fragments; variables: Readonly<Record<string, unknown>> },
): GraphQLError | undefined {
  if (named.length === 0) return undefined;
  const reached = reachedFrom(operation, fragments);
  for (const { within, type, variable } of named) {
    if (!reached.has(within)) continue;
    for (const name of [variables[variable.name.value]].flat()) {
      if (typeof name === 'string' && !hasField(type, name)) return notAField(name, type, variable);
    }
  }
  return undefined;
}

/** The operation and the fragments that it spreads, at whatever depth. */
function reachedFrom(operation: OperationDefinitionNode, fragments: Fragments): ReadonlySet<ASTNode> {
  const reached = new Set<ASTNode>([operation]);
  for (const node of reached) visit(node, { FragmentSpread: ({ name }) => void reached.add(fragments[name.value]) });
  return reached;
}

function levelOf(type: GraphQLOutputType | null | undefined): GraphQLCompositeType | undefined {
  const named = getNamedType(type ?? undefined);
  return isCompositeType(named) ? named : undefined;
}

/** What the @cascade of a field names, variables among it. */
export function namesOf({ name, arguments: given = [] }: DirectiveNode): readonly ValueNode[] {
  if (name.value !== 'cascade') return [];
  return given.flatMap(({ value }) => (value.kind === Kind.LIST ? value.values : value));
}

function hasField(type: GraphQLCompositeType, name: string): boolean {
  return !isUnionType(type) && Object.hasOwn(type.getFields(), name);
}

function notAField(name: string, type: GraphQLCompositeType, nodes: ASTNode): GraphQLError {
  if (!isUnionType(type))
    return new GraphQLError(`@cascade names "${name}", which is no field of ${type.name}.`, { nodes });
  const fix = 'Write @cascade without fields: it asks each node for what is selected of its type.';
  return new GraphQLError(`@cascade names "${name}", and ${type.name} is a union: it has no fields of its own.`, {
    nodes,
    extensions: { fix },
  });
}

import { type ConstDirectiveNode, type DefinitionNode, Kind, parse, print } from 'graphql';
import { isDirective, type Model } from '../../sdl/index.js';

/** The directives of the definitions as text, by type and by field. They are read from the model's text. */
export class WrittenDirectives {
  readonly #texts = new Map<string, string>();
  /** the definitions use @lambda or @lambdaOnMutate */
  lambda = false;
  /** they use @restrict, and it is shown */
  restrict = false;

  /** @param hidden names of directives that are left out */
  constructor(
    model: Model,
    readonly hidden: ReadonlySet<string>,
  ) {
    const empty = model.types.size === 0 && model.queries.length === 0 && model.mutations.length === 0;
    if (empty) return;
    for (const node of parse(model.text).definitions) this.#read(node);
    for (const type of model.objects) {
      for (const field of type.fields) {
        const text = this.#texts.get(`${field.owner}.${field.name}`);
        if (text !== undefined) this.#texts.set(`${type.name}.${field.name}`, text);
      }
    }
  }

  /** With a space before each directive; "" without any. */
  of(type: string, field?: string): string {
    return this.#texts.get(field === undefined ? type : `${type}.${field}`) ?? '';
  }

  #read(node: DefinitionNode): void {
    if (!('name' in node) || !node.name) return;
    const name = node.name.value;
    const root = name === 'Query' || name === 'Mutation';
    const extension = node.kind === Kind.OBJECT_TYPE_EXTENSION || node.kind === Kind.INTERFACE_TYPE_EXTENSION;
    const extended = extension && !root && !this.hidden.has('extends') ? ' @extends' : '';
    this.#texts.set(name, this.#text(node.directives as readonly ConstDirectiveNode[] | undefined) + extended);
    for (const field of 'fields' in node && node.fields ? node.fields : []) {
      this.#texts.set(`${name}.${field.name.value}`, this.#text(field.directives));
    }
  }

  #text(nodes: readonly ConstDirectiveNode[] | undefined): string {
    const shown = (nodes ?? []).filter(
      ({ name: { value } }) => value !== 'deprecated' && isDirective(value) && !this.hidden.has(value),
    );
    this.lambda ||= shown.some(({ name }) => name.value.startsWith('lambda'));
    this.restrict ||= shown.some(({ name }) => name.value === 'restrict');
    return shown.map((node) => ` ${print(node)}`).join('');
  }
}

import type ts from 'typescript';
import { GraphsteadError, GraphsteadErrors, type Position } from '../../base/index.js';
import { shownPath } from '../app-source.js';

/** What has no form in GraphQL often is no operation, but what others of the app call. */
export const HELPER_FIX =
  'a helper that no client calls belongs in a folder beside functions/, or not among what index.ts exports';

/** Collects every mistake of a reading, so that all are told at once. */
export class Refusals {
  readonly #errors: GraphsteadError[] = [];

  constructor(readonly appDir: string) {}

  add(node: ts.Node, message: string, fix: string): void {
    this.#errors.push(new GraphsteadError('FUNCTION_TYPE', message, { position: this.placeOf(node), fix }));
  }

  placeOf(node: ts.Node): Position {
    const file = node.getSourceFile();
    const { line, character } = file.getLineAndCharacterOfPosition(node.getStart());
    return { line: line + 1, column: character + 1, source: shownPath(this.appDir, file.fileName) };
  }

  throwIfAny(): void {
    if (this.#errors.length > 0) throw new GraphsteadErrors(this.#errors);
  }
}

import type { Names, Position } from '../base/index.js';
import type { Definitions } from './definition.js';

/** One mistake in the definitions: why it is one, and what to do. */
export interface Problem {
  readonly position: Position;
  readonly message: string;
  readonly fix: string;
  /** of the environment: it is not set or may not be read, which is all that is wrong */
  readonly variable?: string;
}

export interface RuleContext {
  readonly definitions: Definitions;
  readonly names: Names;
  /** true under `--compat dgraph`: what the peer accepts and we refuse passes */
  readonly lax: boolean;
  report(problem: Problem): void;
}

/** A rule looks at all definitions and reports every place that breaks it. It never throws on definitions that break others. */
export interface Rule {
  readonly name: string;
  check(context: RuleContext): void;
}

import { asError, type ErrorCode, exactJson, GraphsteadError, type JsonLoss } from '../../base/index.js';

// What app code keeps or sends travels as JSON text. What JSON does not give back would be another value at its other end, where
// nobody looks for it: it is refused where it was given.

/**
 * A state as JSON text. Throws AGENT_STATE, naming the place, where JSON would not give the same back.
 * A field that is undefined may be left out, and -0 is 0.
 */
export function stateText(state: unknown, agentId: string): string {
  const refused = ({ path, what, fix }: JsonLoss): GraphsteadError => {
    const statePath = `state${path}`;
    return new GraphsteadError('AGENT_STATE', `the state of agent ${agentId} is no JSON: ${statePath} is ${what}`, {
      fix: `${fix}, or override getState and setState`,
      details: { agentId, statePath },
    });
  };
  const text = exactJson(state, refused);
  if (text === undefined) throw refused({ path: '', what: 'undefined', fix: 'keep an object, {} where it is empty' });
  return text;
}

/** A state from the text that stands for it. Throws AGENT_STATE where that is no JSON, or no text: elsewhere setState takes the state itself. */
export function stateFrom(text: unknown, agentId: string): unknown {
  if (typeof text !== 'string') {
    throw new GraphsteadError(
      'AGENT_STATE',
      `setState takes the text of a state, and was given ${typeof text} for agent ${agentId}`,
      {
        fix: 'change this.state, or set it: this.state = { ... }; it is stored when the handler returns',
        details: { agentId },
      },
    );
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new GraphsteadError('AGENT_STATE', `the state of agent ${agentId} is no JSON: ${asError(error).message}`, {
      fix: 'give setState what JSON.stringify gives, or override getState and setState to keep text of another form',
      details: { agentId },
    });
  }
}

/** An event's data: JSON is all that its readers know, so `toJSON` counts. Throws INVALID_VALUE with the place. */
export function eventText(name: string, data: unknown): string {
  return exactJson(data, refusal('INVALID_VALUE', `the data of event "${name}"`, 'data'), 'told') ?? '{}';
}

/** The arguments of a typed message; those left out at the end are no part of it. Throws INVALID_VALUE with the place. */
export function argumentsText(name: string, args: readonly unknown[]): string {
  const given = args.slice(0, args.findLastIndex((arg) => arg !== undefined) + 1);
  return exactJson(given, refusal('INVALID_VALUE', `what "${name}" is sent`, 'arguments')) ?? '[]';
}

/** What a handler gives; undefined for undefined. Throws AGENT_FAILED with the place. */
export function resultText(name: string, result: unknown): string | undefined {
  return exactJson(result, refusal('AGENT_FAILED', `what "${name}" gives`, 'result'));
}

/** A mutation of the graph: `toJSON` counts, as a Date of it is its text. Throws INVALID_VALUE with the place. */
export function mutationText(call: string, mutation: unknown): string {
  return exactJson(mutation, refusal('INVALID_VALUE', `what ${call} is given`, 'mutation'), 'told') ?? 'null';
}

function refusal(code: ErrorCode, whole: string, root: string): (loss: JsonLoss) => GraphsteadError {
  return ({ path, what, fix }) => {
    const valuePath = `${root}${path}`;
    return new GraphsteadError(code, `${whole} is no JSON: ${valuePath} is ${what}`, { fix, details: { valuePath } });
  };
}

import { atOnce, inSteps, JsonWriter, type MaybePromise, STEP, type Steps } from '../../base/index.js';
import type { Request, Written } from './request.js';

/** bytes to begin with */
const INITIAL = 64 * 1024;

/** Nodes from which on something is long: they take about a millisecond. */
const MANY = 2 * STEP;

/** Writes in steps; false where a non-null value is missing. What is not long may be written in one. */
type Writing = (out: JsonWriter, isLong: boolean) => Steps<boolean>;

/** How something that is made of so many nodes is written: with the rest of the answer where they are few. */
export function writtenOf(request: Request, nodes: number, write: Writing): MaybePromise<Written> {
  return nodes < MANY ? { write: (out) => atOnce(write(out, false)) } : writtenAhead(request, write);
}

/**
 * What may take long to write, written before the rest of the answer and in steps: others have their turn between them.
 * Its part of the answer is a copy. Rejects with TIMEOUT, CANCELLED; an answer that grows too long fails where it is put
 * together, as any does.
 */
export async function writtenAhead(request: Request, write: Writing): Promise<Written> {
  const out = new JsonWriter(request.engine.limits.answerBytes, INITIAL);
  let counted = 0;
  const pause = (): MaybePromise<void> => {
    const more = out.length - counted;
    counted = out.length;
    return request.ahead.pause(more);
  };
  try {
    const isWritten = await inSteps(write(out, true), pause);
    return {
      write: (answer) => {
        answer.bytes(out.view());
        return isWritten;
      },
    };
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    return {
      write: () => {
        throw thrown;
      },
    };
  }
}

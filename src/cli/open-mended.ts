import { asError, type ErrorCode, GraphsteadErrors } from '../base/index.js';
import { watchSources } from '../functions/index.js';

/** Mistakes of an app that may have no place in its files. */
const OF_APP: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['APP_LOAD', 'MISSING_VARIABLE']);

/**
 * What `open` gives. Where it fails by a mistake in the app's files, `told` hears of it and the next edit has it tried again.
 * Throws what no edit mends.
 */
export async function openMended<T>(dir: string, open: () => Promise<T>, told: (error: unknown) => void): Promise<T> {
  for (;;) {
    let edited: () => void = () => undefined;
    const edit = new Promise<void>((resolve) => {
      edited = resolve;
    });
    // from before it is read: what is saved meanwhile counts
    const watch = watchSources(dir, edited, () => undefined);
    try {
      return await open();
    } catch (error) {
      if (!isOfApp(error)) throw error;
      told(error);
      await edit;
    } finally {
      watch.stop();
    }
  }
}

function isOfApp(error: unknown): boolean {
  const errors = error instanceof GraphsteadErrors ? error.errors : [asError(error)];
  return errors.every(({ code, position }) => position !== undefined || OF_APP.has(code));
}

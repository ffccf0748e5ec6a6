import { GraphsteadErrors } from '../base/index.js';
import { appMistakes, withOthers } from '../functions/index.js';

/**
 * Why an app cannot be served, with the mistakes in all its files: the first file that has some ends a start before others
 * are looked at. Anything else is given back as it is.
 */
export async function withAllMistakes(error: unknown, appDir: string | undefined): Promise<unknown> {
  if (appDir === undefined || !(error instanceof GraphsteadErrors)) return error;
  if (error.errors.some(({ position }) => position?.source === undefined)) return error;
  return withOthers(error, await appMistakes(appDir));
}

import { type GraphsteadError, GraphsteadErrors } from '../base/index.js';
import { appMistakes } from '../functions/index.js';

/**
 * Why an app cannot be served, with the mistakes in all its files: the first file that has some ends a start before others
 * are looked at. Anything else is given back as it is.
 */
export async function withAllMistakes(error: unknown, appDir: string | undefined): Promise<unknown> {
  if (appDir === undefined || !(error instanceof GraphsteadErrors)) return error;
  if (error.errors.some(({ position }) => position?.source === undefined)) return error;
  const told = new Set(error.errors.map(placeAndText));
  const others = (await appMistakes(appDir)).filter((one) => !told.has(placeAndText(one)));
  return others.length === 0 ? error : new GraphsteadErrors([...error.errors, ...others]);
}

function placeAndText({ position, message }: GraphsteadError): string {
  return `${position?.source}:${position?.line}:${position?.column} ${message}`;
}

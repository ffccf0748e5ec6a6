import type { App } from '../functions/index.js';
import { GraphsteadErrors } from '../base/index.js';
import { report } from './report.js';

/**
 * Tells the type errors of an app that already serves, and again after each reload, on standard error. They are warnings:
 * what runs is what was loaded.
 */
export function tellTypeErrors(app: Pick<App, 'checkTypes' | 'onReload'>, json: boolean): void {
  let wrong = 0;
  let told: string | undefined;
  const say = (line: string) => (json ? undefined : console.error(line));

  async function look(): Promise<void> {
    const checked = await app.checkTypes();
    if (checked === undefined) return; // a later one is on its way
    const { mistakes, unchecked } = checked;
    if (unchecked !== undefined && unchecked !== told) say(`\n! types are not checked: ${unchecked}`);
    told = unchecked;
    if (mistakes.length > 0) {
      say(`\n${mistakes.length} type error${mistakes.length === 1 ? '' : 's'}; the app runs on`);
      report(new GraphsteadErrors(mistakes), json);
    } else if (wrong > 0) say('\nno type errors any more');
    wrong = mistakes.length;
  }

  const lookAgain = () => void look().catch((error: unknown) => report(error, json));
  lookAgain();
  app.onReload(lookAgain);
}

// Tests that start the command or fork host processes use dist/: compile it once, before any test.
// Elsewhere than in CI a source that does not parse yet must not stop the tests of the other rooms.
export default async function setup(): Promise<void> {
  const script = new URL('../scripts/build.mjs', import.meta.url).href;
  const { build } = (await import(script)) as { build: () => Promise<number> };
  try {
    await build();
  } catch (error) {
    if (process.env['CI']) throw error;
    console.warn(`dist/ is stale: ${error instanceof Error ? error.message : String(error)}`);
  }
}

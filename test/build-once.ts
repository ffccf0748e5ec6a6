// Tests that start the command or fork host processes use dist/, their own child processes build/rooms: compile both once,
// before any test.
// Elsewhere than in CI a source that does not parse yet must not stop the tests of the other rooms.
export default async function setup(): Promise<void> {
  const script = new URL('../scripts/build.mjs', import.meta.url).href;
  const { build, buildRooms } = (await import(script)) as Record<'build' | 'buildRooms', () => Promise<number>>;
  try {
    await Promise.all([build(), buildRooms()]);
  } catch (error) {
    if (process.env['CI']) throw error;
    console.warn(`dist/ is stale: ${error instanceof Error ? error.message : String(error)}`);
  }
}

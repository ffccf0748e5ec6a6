// Tests that start the command or fork host processes use dist/: compile it once, before any test.
export default async function setup(): Promise<void> {
  const script = new URL('../scripts/build.mjs', import.meta.url).href;
  const { build } = (await import(script)) as { build: () => Promise<number> };
  await build();
}

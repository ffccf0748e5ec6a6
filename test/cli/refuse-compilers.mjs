// Loaded before a command (--import): typescript and esbuild cannot be loaded by it, whether by import or by require.
import module, { register } from 'node:module';

const hooks = `export async function resolve(name, context, next) {
  if (/^(typescript|esbuild)(\\/|$)/.test(name)) throw new Error('it loads ' + name);
  return next(name, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);

const resolve = module._resolveFilename;
module._resolveFilename = (name, ...rest) => {
  if (/^(typescript|esbuild)(\/|$)/.test(name)) throw new Error(`it loads ${name}`);
  return resolve(name, ...rest);
};

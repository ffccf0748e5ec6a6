// Turns a package-lock.json (version 2 or 3) into N-Quads over the types of schema.graphql.

/** The entry that `require(name)` from `from` finds: the nearest node_modules upwards, as Node resolves. */
function resolve(packages, from, name) {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/') - 1))) {
    const path = at === '' ? `node_modules/${name}` : `${at}/node_modules/${name}`;
    if (path in packages) return path;
    if (at === '') return undefined;
  }
}

function nameOf(path, entry, rootName) {
  if (path === '') return rootName ?? entry.name ?? 'root';
  return entry.name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

const text = (value) => JSON.stringify(String(value));
const licenseOf = (entry) => (typeof entry.license === 'string' ? entry.license : (entry.license?.type ?? undefined));

/** Lines of N-Quads, one at a time. */
export function* quads(lock) {
  const packages = lock.packages ?? {};
  const blank = new Map();
  const seen = new Map();
  const nodeOf = (path) => blank.get(path);
  for (const [path, entry] of Object.entries(packages)) {
    if (entry.link) continue;
    const name = nameOf(path, entry, lock.name);
    const key = `${name}@${entry.version ?? '0.0.0'}`;
    // One version installed in two places is one package.
    if (!seen.has(key)) seen.set(key, `_:p${seen.size}`);
    blank.set(path, { node: seen.get(key), key, name });
  }
  const written = new Set();
  const licenses = new Map();
  for (const [path, entry] of Object.entries(packages)) {
    const self = nodeOf(path);
    if (!self) continue;
    if (!written.has(self.key)) {
      written.add(self.key);
      yield `${self.node} <service.type> "Package" .`;
      yield `${self.node} <Package.key> ${text(self.key)} .`;
      yield `${self.node} <Package.name> ${text(self.name)} .`;
      yield `${self.node} <Package.version> ${text(entry.version ?? '0.0.0')} .`;
      yield `${self.node} <Package.path> ${text(path)} .`;
      yield `${self.node} <Package.dev> "${Boolean(entry.dev)}" .`;
      yield `${self.node} <Package.optional> "${Boolean(entry.optional)}" .`;
      if (entry.engines?.node) yield `${self.node} <Package.node> ${text(entry.engines.node)} .`;
      const license = licenseOf(entry);
      if (license) {
        if (!licenses.has(license)) {
          licenses.set(license, `_:l${licenses.size}`);
          yield `${licenses.get(license)} <service.type> "License" .`;
          yield `${licenses.get(license)} <License.name> ${text(license)} .`;
        }
        yield `${self.node} <Package.license> ${licenses.get(license)} .`;
        yield `${licenses.get(license)} <License.packages> ${self.node} .`;
      }
    }
    const wanted = {
      ...entry.dependencies,
      ...entry.optionalDependencies,
      ...(path === '' ? entry.devDependencies : {}),
    };
    for (const name of Object.keys(wanted)) {
      const found = resolve(packages, path, name);
      const target = found === undefined ? undefined : nodeOf(found);
      if (!target) continue;
      yield `${self.node} <Package.dependsOn> ${target.node} .`;
      yield `${target.node} <Package.dependents> ${self.node} .`;
    }
  }
}

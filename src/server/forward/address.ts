import { GraphsteadError } from '../../base/index.js';

/** @param url of a service, as `http://10.0.0.1:8686`. @param port where it usually answers. Throws CONFIG */
export function serviceAddress(url: string, port: number): URL {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  const hasUser = address !== undefined && (address.username !== '' || address.password !== '');
  const isPlain = address && /^https?:$/.test(address.protocol) && address.pathname === '/' && !hasUser;
  if (isPlain && address.search === '' && address.hash === '') return address;
  throw new GraphsteadError('CONFIG', 'the address of the service that writes is none of a service', {
    fix: `write it as http://host:${port}, or https://host:${port} where it speaks TLS`,
  });
}

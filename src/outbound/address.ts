import { type LookupAddress, lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { GraphsteadError } from '../base/index.js';

/** Addresses that answer for the machine's provider, not for a service: link-local ones and those of clouds' metadata. */
const refused = new BlockList();
refused.addSubnet('169.254.0.0', 16, 'ipv4');
refused.addAddress('100.100.100.200', 'ipv4');
refused.addAddress('168.63.129.16', 'ipv4');
refused.addAddress('192.0.0.192', 'ipv4');
refused.addSubnet('fe80::', 10, 'ipv6');
refused.addAddress('fd00:ec2::254', 'ipv6');
refused.addAddress('fd20:ce::254', 'ipv6');

const REFUSED_NAMES = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'metadata.azure.internal',
  'instance-data',
  'instance-data.ec2.internal',
]);

/** An address of the refused ranges, also when it is written as IPv6 (mapped, compatible, translated by NAT64). */
export function isRefusedAddress(address: string): boolean {
  const plain = address.split('%')[0];
  const family = isIP(plain);
  if (family === 0) return false;
  if (family === 4) return refused.check(plain, 'ipv4');
  const inner = embeddedIpv4(plain);
  return refused.check(plain, 'ipv6') || (inner !== undefined && refused.check(inner, 'ipv4'));
}

/** The IPv4 address in the last 32 bits, where the first 96 say that there is one. */
function embeddedIpv4(address: string): string | undefined {
  const groups = ipv6Groups(address);
  const head = groups.slice(0, 6).join(':');
  const known = ['0:0:0:0:0:65535', '0:0:0:0:0:0', '100:65435:0:0:0:0'];
  if (!known.includes(head)) return undefined;
  const [high, low] = groups.slice(6);
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** The eight groups of an IPv6 address as numbers. */
function ipv6Groups(address: string): number[] {
  // URL writes every form of an address in one way: hexadecimal groups, the longest run of zeros as `::`
  const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [left, right] = canonical.split('::').map((half) => (half === '' ? [] : half.split(':')));
  const gap = right === undefined ? [] : new Array<string>(8 - left.length - right.length).fill('0');
  return [...left, ...gap, ...(right ?? [])].map((group) => Number.parseInt(group, 16));
}

/** Throws REMOTE_REFUSED for a host that is refused by its name or its literal address, unless it is allowed. */
export function checkHost(hostname: string, allowed: ReadonlySet<string>): void {
  const host = hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
  if (allowed.has(host)) return;
  if (REFUSED_NAMES.has(host) || isRefusedAddress(host)) throw refusal(host);
}

function refusal(host: string): GraphsteadError {
  return new GraphsteadError('REMOTE_REFUSED', `calls to ${host} are refused: it is a link-local or metadata address`, {
    fix: 'Call another address, or add the host to the allowed hosts of outgoing calls.',
  });
}

/** Name resolution that refuses a name when any of its addresses is refused, so that no name can stand for one. */
export function guardedLookup(allowed: ReadonlySet<string>): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      const addresses = (found ?? []) as LookupAddress[];
      if (error) return callback(error, options.all ? [] : '', 4);
      const bad = allowed.has(hostname.toLowerCase()) ? undefined : addresses.find((a) => isRefusedAddress(a.address));
      if (bad) return callback(refusal(`${hostname} (${bad.address})`), options.all ? [] : '', 4);
      if (options.all) return callback(null, addresses);
      return callback(null, addresses[0].address, addresses[0].family);
    });
  };
}

import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CompactSign, exportJWK, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS, Secret, systemClock } from '../../base/index.js';
import { createHttpClient } from '../../outbound/index.js';
import type { Authorization } from '../../sdl/index.js';
import { claimsOf, Verifier } from './index.js';

const base: Authorization = {
  header: 'Authorization',
  namespace: 'ns',
  algorithm: 'RS256',
  jwkUrls: [],
  audience: [],
  demandsAudience: true,
  closedByDefault: false,
};

describe('tokens', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const token = (key = privateKey, kid?: string, aud?: string) =>
    new SignJWT({ ns: { USER: 'ann' }, ...(aud ? { aud } : {}) })
      .setProtectedHeader({ alg: 'RS256', ...(kid ? { kid } : {}) })
      .sign(key);

  it('are verified with a public key, and with its algorithm only', async () => {
    const verifier = new Verifier({ ...base, verificationKey: new Secret(pem) }, systemClock, DEFAULT_LIMITS);
    expect(await verifier.claims({ authorization: `Bearer ${await token()}` })).toMatchObject({ USER: 'ann' });
    const confused = await new SignJWT({}).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(pem));
    await expect(verifier.claims({ authorization: confused })).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it('of another audience are told what to name', async () => {
    const verificationKey = new Secret(pem);
    const verifier = new Verifier({ ...base, verificationKey, audience: ['shop'] }, systemClock, DEFAULT_LIMITS);
    const told = { code: 'UNAUTHENTICATED', fix: expect.stringContaining('whose aud is in the Audience') };
    await expect(verifier.claims({ authorization: await token(privateKey, undefined, 'bank') })).rejects.toMatchObject(
      told,
    );
    expect(await verifier.claims({ authorization: await token(privateKey, undefined, 'shop') })).toBeDefined();
  });

  it('of no audience are refused where some are wanted, except where none is demanded', async () => {
    const authorization = { ...base, verificationKey: new Secret(pem), audience: ['shop'] };
    const strict = new Verifier(authorization, systemClock, DEFAULT_LIMITS);
    await expect(strict.claims({ authorization: await token() })).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
      message: expect.stringContaining('it names no audience'),
      fix: expect.stringContaining('whose aud is in the Audience'),
    });
    const lax = new Verifier({ ...authorization, demandsAudience: false }, systemClock, DEFAULT_LIMITS);
    expect(await lax.claims({ authorization: await token() })).toBeDefined();
    await expect(lax.claims({ authorization: await token(privateKey, undefined, 'bank') })).rejects.toThrow(
      'another service',
    );
  });

  it('keep every digit of the numbers in their claims', async () => {
    const verifier = new Verifier({ ...base, verificationKey: new Secret(pem) }, systemClock, DEFAULT_LIMITS);
    const signed = (payload: string) =>
      new CompactSign(new TextEncoder().encode(payload)).setProtectedHeader({ alg: 'RS256' }).sign(privateKey);
    const claims = async (payload: string) => verifier.claims({ authorization: await signed(payload) });
    expect(await claims('{"ns":{"USER":1246879976444232435,"AGES":[7,1246879976444232436]}}')).toEqual({
      USER: '1246879976444232435',
      AGES: [7, '1246879976444232436'],
    });
    expect(await claims('{"ns":"{\\"USER\\":1246879976444232435}"}')).toEqual({ USER: '1246879976444232435' });
  });

  it('are verified with a key set that is fetched', async () => {
    const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'RS256' };
    let fetched = 0;
    const server = createServer((_, reply) => {
      fetched++;
      reply.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: [jwk] }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as AddressInfo;
      const jwkUrls = [`http://127.0.0.1:${port}/jwks`];
      const verifier = new Verifier({ ...base, jwkUrls, audience: ['shop'] }, systemClock, DEFAULT_LIMITS);
      const headers = { authorization: await token(privateKey, 'k1', 'shop') };
      expect(await verifier.claims(headers)).toMatchObject({ USER: 'ann' });
      expect(await verifier.claims(headers)).toMatchObject({ USER: 'ann' });
      expect(fetched).toBe(1);
      const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
      for (const refused of [
        await token(other, 'k1', 'shop'),
        await token(privateKey, 'k1', 'bank'),
        await token(privateKey, 'k1'),
      ]) {
        await expect(verifier.claims({ authorization: refused })).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
      }
    } finally {
      server.close();
    }
  });

  it.each([
    ['refuses', 500, 'gone'],
    ['answers no set', 200, '"nothing"'],
    ['is not there', 0, ''],
  ])('are not told to be wrong where a key set %s', async (_, status, body) => {
    const server = createServer((_, reply) => reply.writeHead(status).end(body));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    if (status === 0) await new Promise((closed) => server.close(closed));
    const jwkUrls = [`http://127.0.0.1:${port}/jwks`];
    const verifier = new Verifier({ ...base, jwkUrls, audience: ['shop'] }, systemClock, DEFAULT_LIMITS);
    const headers = { authorization: await token(privateKey, 'k1', 'shop') };
    await expect(verifier.claims(headers)).rejects.toMatchObject({ code: 'REMOTE_FAILED', status: 502 });
    await expect(verifier.claims({ authorization: 'no token' })).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    server.close();
  });

  it.each([
    ['larger than a reply may be', 'http://127.0.0.1:PORT/jwks', 'limits.outboundReplyBytes'],
    ['behind an address that no call may go to', 'http://169.254.169.254/jwks', 'calls to 169.254.169.254 are refused'],
  ])('are not verified with a key set %s', async (_, address, told) => {
    let sent = 0;
    const server = createServer((_, reply) => {
      const more = () => {
        while (!reply.destroyed && ++sent < 10_000 && reply.write(Buffer.alloc(65_536, ' ')));
      };
      more();
      reply.on('drain', more);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const client = createHttpClient({ limits: { ...DEFAULT_LIMITS, outboundReplyBytes: 1024 }, clock: systemClock });
    const jwkUrls = [address.replace('PORT', String(port))];
    const verifier = new Verifier({ ...base, jwkUrls, audience: ['shop'] }, systemClock, DEFAULT_LIMITS, client);
    const claims = verifier.claims({ authorization: await token(privateKey, 'k1', 'shop') });
    await expect(claims).rejects.toMatchObject({ code: 'REMOTE_FAILED', message: expect.stringContaining(told) });
    expect(sent).toBeLessThan(1_000);
    await client.close();
    server.close();
  });

  it('are good a little before their time and after it, where clocks differ', async () => {
    const now = 1_700_000_000;
    const clock = { ...systemClock, wall: () => now * 1000 };
    const verifier = new Verifier({ ...base, verificationKey: new Secret(pem) }, clock, { tokenSkewMs: 10_000 });
    const claims = async (times: object) =>
      verifier.claims({
        authorization: await new SignJWT({ ns: {}, ...times }).setProtectedHeader({ alg: 'RS256' }).sign(privateKey),
      });
    for (const good of [{ nbf: now + 10 }, { exp: now - 9 }, { iat: now + 10 }]) {
      expect(await claims(good)).toEqual(good);
    }
    for (const bad of [{ nbf: now + 11 }, { exp: now - 10 }]) {
      await expect(claims(bad)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    }
  });

  it('carry claims under the namespace, as an object or its text, beside the standard ones', () => {
    expect(claimsOf({ sub: 's', ns: { A: 1 } }, 'ns')).toEqual({ sub: 's', A: 1 });
    expect(claimsOf({ sub: 's', ns: '{"A": 2}' }, 'ns')).toEqual({ sub: 's', A: 2 });
    expect(claimsOf({ sub: 's', ns: 'nothing' }, 'ns')).toEqual({ sub: 's' });
    expect(claimsOf({ sub: 's' }, 'ns')).toEqual({ sub: 's' });
  });

  it('expire when they say, whatever the namespace calls so', () => {
    expect(claimsOf({ exp: 5, sub: 's', ns: { exp: 'never', sub: 't' } }, 'ns')).toEqual({ exp: 5, sub: 't' });
  });
});

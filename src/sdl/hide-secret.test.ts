import { describe, expect, it } from 'vitest';
import { hideSecrets } from './hide-secret.js';

describe('type definitions as they are shown', () => {
  it('keep names and lose values of secrets, in every spelling', () => {
    const text =
      '# Service.Secret a "one two"\n  #Service.Secret   "b"   three\n# Dgraph.Secret c "fo\\"ur"\ntype T { id: ID! }';
    expect(hideSecrets(text)).toBe(
      '# Service.Secret a "[hidden]"\n  #Service.Secret   "b"   "[hidden]"\n# Dgraph.Secret c "[hidden]"\ntype T { id: ID! }',
    );
  });

  it('lose values in single quotes, and keep names in them', () => {
    expect(
      hideSecrets("# Service.Secret 'a b' 'one \"two\"'\n# Service.Secret c '{{TOKEN}}'\ntype T { id: ID! }"),
    ).toBe("# Service.Secret 'a b' \"[hidden]\"\n# Service.Secret c '{{TOKEN}}'\ntype T { id: ID! }");
  });

  it('lose secrets behind other definitions and behind unusual spaces', () => {
    expect(hideSecrets('type T { id: ID! } # Service.Secret a one\n#\u00a0Service.Secret\tb\ttwo ')).toBe(
      'type T { id: ID! } # Service.Secret a "[hidden]"\n#\u00a0Service.Secret\tb\t"[hidden]"',
    );
    const described = '"# Service.Secret a one" type T { id: ID! }';
    expect(hideSecrets(described)).toBe(described);
  });

  it('keep the names of variables', () => {
    const text =
      '# Service.Secret a "{{ TOKEN }}"\n# Service.Secret b {{TOKEN}}\n# Service.Authorization {"VerificationKey":"{{KEY}}"}';
    expect(hideSecrets(text)).toBe(text);
    expect(hideSecrets('# Service.Secret a "Bearer {{TOKEN}}"')).toBe('# Service.Secret a "[hidden]"');
  });

  it('lose the key of the authorization in its older form', () => {
    expect(hideSecrets('# Service.Authorization X-Auth https://a.example/claims HS256 "s3cret key"')).toBe(
      '# Service.Authorization X-Auth https://a.example/claims HS256 "[hidden]"',
    );
  });

  it('lose the key of the authorization', () => {
    const text = '# Service.Authorization {"VerificationKey":"s3\\"cret","Header":"X-Auth","Algo":"HS256"}';
    expect(hideSecrets(text)).toBe(
      '# Service.Authorization {"VerificationKey":"[hidden]","Header":"X-Auth","Algo":"HS256"}',
    );
  });

  it('lose the key of the authorization however its name is written, and nothing else', () => {
    const text = (key: string) =>
      `# Service.Authorization {"JWKURLs":["a","b"],"Algo":":","\\u0056ERIFICATIONKEY" : "${key}"}`;
    expect(hideSecrets(text('s3cret'))).toBe(text('[hidden]'));
  });

  it('keep a public key, and that there is none beside a key set', () => {
    const text = (key: string) => `# Service.Authorization {"VerificationKey":"${key}","Header":"X-Auth"}`;
    const publicKey = '-----BEGIN PUBLIC KEY-----\\nMFkw\\n-----END PUBLIC KEY-----';
    for (const key of [publicKey, '']) expect(hideSecrets(text(key))).toBe(text(key));
    expect(hideSecrets(text('-----BEGIN PRIVATE KEY-----'))).toBe(text('[hidden]'));
  });
});

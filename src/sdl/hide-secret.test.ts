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

  it('lose the key of the authorization', () => {
    const text = '# Service.Authorization {"VerificationKey":"s3\\"cret","Header":"X-Auth","Algo":"HS256"}';
    expect(hideSecrets(text)).toBe(
      '# Service.Authorization {"VerificationKey":"[hidden]","Header":"X-Auth","Algo":"HS256"}',
    );
  });
});

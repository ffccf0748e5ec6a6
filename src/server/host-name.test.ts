import { describe, expect, it } from 'vitest';
import { isOwnName, ownNames } from './host-name.js';

const names = ownNames('App.Example, box.local:8686', '127.0.0.1');

describe('the Host header', () => {
  it.each([
    '127.0.0.1:8686',
    'localhost',
    'LOCALHOST:8686',
    'localhost.',
    'my-app.localhost:8686',
    '[::1]:8686',
    '127.9.9.9',
    'app.example',
    'app.example:443',
    'box.local:1',
  ])('%s is a name of the service', (header) => {
    expect(isOwnName(header, names)).toBe(true);
  });

  it.each([
    'evil.example',
    'evil.example:8686',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    'notlocalhost',
    '10.0.0.1',
    '[::2]:8686',
    '',
    'app.example.evil.example',
  ])('"%s" is none', (header) => {
    expect(isOwnName(header, names)).toBe(false);
  });

  it('may be the address that is listened on', () => {
    expect(isOwnName('box:8686', ownNames(undefined, 'Box'))).toBe(true);
  });
});

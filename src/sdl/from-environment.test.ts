import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { defaultNames, type Environment, GraphsteadErrors } from '../base/index.js';
import { loadModel } from './load.js';

const load = (text: string, environment?: Environment) =>
  loadModel(`${text}\ntype T { name: String }`, {
    names: defaultNames,
    ...(environment ? { variables: { environment } } : {}),
  });

function mistakes(text: string, environment: Environment = {}) {
  try {
    load(text, environment);
    return [];
  } catch (error) {
    if (!(error instanceof GraphsteadErrors)) throw error;
    return error.errors.map(({ code, message, details, position }) => ({
      code,
      message,
      variable: details?.['variable'],
      line: position?.line,
    }));
  }
}

const AUTHORIZATION = '"Header":"X-Auth","Namespace":"https://a.example/claims"';

describe('secrets from the environment', () => {
  it('take the variable that a connection of their name would take', () => {
    const text =
      '# Service.Secret git-hub "{{TOKEN}}"\n# Service.Secret both "Basic {{ user }}:{{PASS}}"\n# Service.Secret plain "as {it} is"';
    const environment = { APP_GIT_HUB_TOKEN: 'one', APP_BOTH_USER: 'u', APP_BOTH_PASS: '{{not again}}' };
    const { secrets } = load(text, environment);
    const values = [...secrets].map(([name, secret]) => [name, secret.reveal()]);
    expect(values).toEqual([
      ['git-hub', 'one'],
      ['both', 'Basic u:{{not again}}'],
      ['plain', 'as {it} is'],
    ]);
  });

  it('hold something, in the text too', () => {
    for (const value of ['""', '" "']) {
      expect(mistakes(`# Service.Secret github ${value}`)).toMatchObject([
        { code: 'INVALID_SDL', message: 'a secret needs a name and a value' },
      ]);
    }
  });

  it('stay as they are written where nobody needs them', () => {
    const text = `# Service.Secret a "{{X}}"\n# Service.Secret b "{{X}}"\n# Service.Authorization {${AUTHORIZATION},"Algo":"RS256","VerificationKey":"{{KEY}}"}\ntype T { name: String }`;
    const variables = { environment: { APP_B_X: 'v' }, allowUnset: true };
    const { secrets, authorization } = loadModel(text, { names: defaultNames, variables });
    const values = [secrets.get('a'), secrets.get('b'), authorization?.verificationKey];
    expect(values.map((secret) => secret?.reveal())).toEqual(['{{X}}', 'v', '{{KEY}}']);
  });

  it('are missing by the exact name of the variable, all at once, beside other mistakes', () => {
    const text = '# Service.Secret a "{{X}}{{Y}}"\n# Service.Secret b "{{X}}"\ntype Bad { f: Nope }';
    expect(mistakes(text, { APP_A_X: '', APP_B_X: 'v' })).toEqual([
      { code: 'MISSING_VARIABLE', message: 'the secret a needs the variable APP_A_X', variable: 'APP_A_X', line: 1 },
      { code: 'MISSING_VARIABLE', message: 'the secret a needs the variable APP_A_Y', variable: 'APP_A_Y', line: 1 },
      { code: 'INVALID_SDL', message: expect.stringContaining('Nope'), variable: undefined, line: 3 },
    ]);
  });

  it.each([
    ['# Service.Secret a "{{MY TOKEN}}"', 'the value of the secret a has {{...}} that is no placeholder'],
    ['# Service.Secret a.b "{{TOKEN}}"', 'no variable can be named after the secret a.b'],
    ['# Service.Secret a "{{TWO_LINES}}"', 'the value of the secret a holds a character that no header can carry'],
  ])('are refused: %s', (text, message) => {
    expect(mistakes(text, { APP_A_TWO_LINES: 'one\n' })).toMatchObject([{ code: 'INVALID_SDL', message }]);
  });

  it('stay as they stand where there is no environment', () => {
    expect(load('# Service.Secret a "{{X}}"').secrets.get('a')?.reveal()).toBe('{{X}}');
    const key = `# Service.Authorization {${AUTHORIZATION},"Algo":"RS256","VerificationKey":"{{KEY}}"}`;
    expect(load(key).authorization?.verificationKey?.reveal()).toBe('{{KEY}}');
  });
});

describe('the key of the authorization from the environment', () => {
  const json = `# Service.Authorization {${AUTHORIZATION},"Algo":"ES256","VerificationKey":"{{KEY}}"}`;

  it('is APP_AUTHORIZATION_<PLACEHOLDER>, in both forms', () => {
    const words = '# Service.Authorization X-Auth https://a.example/claims HS256 "{{KEY}}"';
    const environment = { APP_AUTHORIZATION_KEY: 'k' };
    expect(load(words, environment).authorization?.verificationKey?.reveal()).toBe('k');
    expect(load(json.replace('ES256', 'HS256'), environment).authorization?.verificationKey?.reveal()).toBe('k');
  });

  it('may be a public key on one line, and must be one that can be read', () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    const { authorization } = load(json, { APP_AUTHORIZATION_KEY: pem.replaceAll('\n', '\\n') });
    expect(authorization?.verificationKey?.reveal()).toBe(pem);
    expect(mistakes(json, { APP_AUTHORIZATION_KEY: 'pl4nted' })).toEqual([
      {
        code: 'INVALID_SDL',
        message: 'the VerificationKey of the authorization is not a public key in PEM form, which ES256 needs',
        variable: undefined,
        line: 1,
      },
    ]);
    expect(mistakes(json)).toMatchObject([{ code: 'MISSING_VARIABLE', variable: 'APP_AUTHORIZATION_KEY' }]);
  });
});

import { describe, expect, it } from 'vitest';
import { type GraphsteadErrors, variableName } from '../base/index.js';
import { readConfig } from './config.js';
import { resolveConnections } from './resolve.js';

function mistakes(text: string): string[] {
  try {
    readConfig(text);
    return [];
  } catch (error) {
    return (error as GraphsteadErrors).errors.map((one) => `${one.message} | ${one.fix}`);
  }
}

const HTTP = `{
  // an API with a key
  "connections": {
    "weather-api": { "type": "http", "baseUrl": "https://example.org/v1", "headers": { "Authorization": "Bearer {{API_KEY}}" } },
  },
}`;

describe('app.json', () => {
  it('says plainly what is missing', () => {
    expect(() => readConfig('{ "connections": { "users": { "type": "http" } } }')).toThrow(
      'app.json:1:29: connections.users.baseUrl is missing',
    );
  });

  it('takes comments and trailing commas', () => {
    expect(readConfig(HTTP).connections['weather-api'].type).toBe('http');
  });

  it('tells every mistake with file, line and column', () => {
    const found = mistakes(
      '{\n "models": { "m": { "sourceModel": "x", "connection": "nowhere" } },\n "connections": { "d": { "type": "relational" } }\n}',
    );
    expect(found).toHaveLength(2);
    expect(found[0]).toMatch(/^app\.json:2:\d+: the model "m" names the connection "nowhere"/);
    expect(found[1]).toMatch(/^app\.json:3:\d+: .*no connStr.*DATABASE_URL/);
  });

  it.each([
    ['{ "conections": {} }', '$schema, name, endpoints, models, connections, limits'],
    [
      '{ "connections": { "db": { "type": "postgresql", "connStr": "postgres://u@h/d", "timeout": 5 } } }',
      'type, connStr, connString, maxConnections, optional, timeoutMs',
    ],
    [
      '{ "connections": { "a": { "type": "http", "baseUrl": "https://h.example", "baseURL": "h" } } }',
      'type, baseUrl, headers, traceContext, maxConnections, optional, timeoutMs',
    ],
    [
      `{ "connections": { "a": { "type": "http", "baseUrl": "https://h.example" } },
         "models": { "m": { "sourceModel": "x", "connection": "a", "temperature": 1 } } }`,
      'sourceModel, connection, path, provider, inputPrice, outputPrice',
    ],
  ])('lists what may stand in place of a key that is not known: %s', (text, keys) => {
    expect(mistakes(text)).toEqual([expect.stringMatching(/is not known in .* \| /)]);
    expect(mistakes(text)[0].split(' | ')[1]).toBe(`remove it or correct its spelling: ${keys}`);
  });

  it('names an unknown key, an unknown type and broken JSON', () => {
    expect(mistakes('{ "conections": {} }')[0]).toMatch(/"conections" is not known/);
    expect(mistakes('{ "constructor": {} }')[0]).toMatch(/"constructor" is not known.*remove it/);
    const two = '{ "conections": {},\n "modles": {} }';
    expect(mistakes(two)).toEqual([expect.stringContaining('app.json:1:'), expect.stringContaining('app.json:2:')]);
    const also = mistakes(
      '{ "models": { "m": { "sourceModel": "x", "connection": "b" } }, "connections": { "a": { "type": "http", "baseURL": "h", "baseUrl": "h" } } }',
    );
    expect(also).toEqual(
      [/"baseURL" is not known/, /the connection "b", which is not there/, /no address/].map((one) =>
        expect.stringMatching(one),
      ),
    );
    expect(mistakes('{ "connections": { "a": { "type": "ftp" } } }')[0]).toMatch(/no known connection type/);
    expect(mistakes('{ "connections": { ')[0]).toMatch(/expected a key/);
  });

  it('says what a manifest of Modus has in another way', () => {
    const found = mistakes(`{ "models": { "m": { "sourceModel": "x", "connection": "hypermode" } },
      "connections": { "a": { "type": "http", "endpoint": "https://a.example/b" }, "b": { "type": "mysql" },
        "c": { "type": "http", "baseUrl": "https://c.example", "queryParameters": { "limit": "1" } },
        "d": { "type": "http", "baseUrl": "https://d.example",
          "headers": { "Authorization": "Basic {{base64(USERNAME:PASSWORD)}}" } } },
      "collections": {} }`);
    const told = [
      /baseUrl is missing/,
      /"endpoint" is not known.*write "baseUrl"/,
      /PostgreSQL/,
      /"queryParameters" is not known.*the path of each call.*process\.env/,
      /"collections" is not known.*similar_to/,
      /"hypermode".*no model is hosted here/,
      /base64\(USERNAME:PASSWORD\).*no placeholder.*"baseUrl": "https:\/\/\{\{USERNAME\}\}:\{\{PASSWORD\}\}@/,
    ];
    expect(found).toEqual(told.map((one) => expect.stringMatching(one)));
  });

  it('tells references and addresses also where something else has the wrong shape', () => {
    const found = mistakes(`{
      "models": { "m": { "sourceModel": 5, "connection": "gone" }, "n": { "sourceModel": "x", "connection": "bad" },
        "o": { "sourceModel": "x", "connection": "nowhere" } },
      "connections": { "bad": { "type": "http", "baseUrl": 7, "more": 1 }, "a": { "type": "http", "baseUrl": "h" } },
      "limits": { "queryMs": "long", "nope": 3 } }`);
    const told = [
      /m\.sourceModel/,
      /bad\.baseUrl/,
      /"more" is not known/,
      /limits\.queryMs/,
      /"nowhere", which is not there/,
      /"h" is no address/,
      /unknown limit "nope"/,
    ];
    expect(found).toEqual(told.map((one) => expect.stringMatching(one)));
    const list = '{ "models": { "m": { "sourceModel": "x", "connection": "a" } }, "connections": [] }';
    expect(mistakes(list)).toEqual([expect.stringMatching(/connections/)]);
  });

  it('refuses what would be sent as it stands, lost, or be no address', () => {
    const http = (entry: object) =>
      mistakes(JSON.stringify({ connections: { a: { type: 'http', baseUrl: 'https://h', ...entry } } }))[0];
    expect(http({ headers: { k: 'Bearer {{API KEY}}' } })).toMatch(
      /^app\.json:1:\d+: \{\{API KEY\}\} is no placeholder/,
    );
    expect(http({ headers: { k: '{{}}' } })).toMatch(/\{\{\}\} is no placeholder/);
    expect(http({ headers: { k: '{{KEY' } })).toMatch(/\{\{KEY is no placeholder/);
    expect(http({ headers: { 'a b': 'x' } })).toMatch(/"a b" is no name of a header/);
    expect(http({ baseUrl: 'https://h/?key=1' })).toMatch(/has a query/);
    expect(http({ baseUrl: 'http://' })).toMatch(/is no address/);
    expect(mistakes('{ "limits": { "speed": 1 } }')[0]).toMatch(/^app\.json:1:24: unknown limit "speed"/);
    expect(mistakes('{ "limits": { "messageMs": 3000000000 } }')[0]).toMatch(
      /^app\.json:1:28: limits.messageMs must be at most 2147483647/,
    );
    expect(mistakes('{ "connections": { "a.b": { "type": "http", "baseUrl": "https://{{HOST}}" } } }')[0]).toMatch(
      /no variable can be named after the connection "a\.b"/,
    );
  });

  it.each([
    ['../admin', 'https://h/v1', /^app\.json:4:\d+: the path "\.\.\/admin" of the model "m" leaves the baseUrl of "a"/],
    ['..%2fadmin', 'https://{{HOST}}/v1', /leaves the baseUrl/],
    ['https://other.example/v1', 'https://h/v1', /leaves the baseUrl/],
    ['http://[', 'https://h/v1', /leaves the baseUrl/],
    ['{{PATH}}', 'https://h/v1', /^app\.json:4:\d+: "\{\{PATH\}\}" is sent as it stands.*connections alone/],
  ])('refuses a model whose path is %s', (path, baseUrl, told) => {
    const found = mistakes(`{
      "connections": { "a": { "type": "http", "baseUrl": "${baseUrl}" } },
      "models": { "m": { "sourceModel": "x", "connection": "a",
        "path": "${path}" } } }`);
    expect(found).toEqual([expect.stringMatching(told)]);
  });

  it('takes the path of a model that stays below its baseUrl, and one that may', () => {
    const model = (path: string, baseUrl: string) =>
      mistakes(`{ "connections": { "a": { "type": "http", "baseUrl": "${baseUrl}" } },
        "models": { "m": { "sourceModel": "x", "connection": "a", "path": "${path}" } } }`);
    expect(model('/v1/models/x:chat?beta=1', 'https://h:1/api')).toEqual([]);
    expect(model('https://h/v1/chat', 'https://h/v1')).toEqual([]);
    expect(model('chat', '{{BASE}}')).toEqual([]);
  });

  it('refuses a connection that says twice where it goes', () => {
    const two = (entry: object) => mistakes(JSON.stringify({ connections: { d: entry } }));
    expect(two({ type: 'relational', connStr: 'postgres://a/b', connString: 'postgres://c/d' })).toEqual([
      expect.stringMatching(/^app\.json:1:\d+: connStr stands beside connString: calls go to one/),
    ]);
    expect(two({ type: 'graph', grpcTarget: 'a:1', connStr: 'dgraph://b:1' })[0]).toMatch(/grpcTarget stands beside/);
  });

  it('refuses two connections whose variables collide', () => {
    const text = (name: string) =>
      `"${name}": { "type": "http", "baseUrl": "https://h", "headers": { "k": "{{KEY}}" } }`;
    expect(mistakes(`{ "connections": { ${text('a-b')}, ${text('a_b')} } }`)[0]).toMatch(/both read APP_A_B_KEY/);
  });
});

describe('placeholders', () => {
  it('are read from APP_<CONNECTION_NAME>_<PLACEHOLDER>, upper-cased, - as _', () => {
    expect(variableName('weather-api', 'api_key')).toBe('APP_WEATHER_API_API_KEY');
  });

  it('a missing variable stops with its exact name', () => {
    expect(() => resolveConnections(readConfig(HTTP), {})).toThrow(/APP_WEATHER_API_API_KEY/);
    expect(() => resolveConnections(readConfig(HTTP), { APP_WEATHER_API_API_KEY: '' })).toThrow(
      /APP_WEATHER_API_API_KEY/,
    );
  });

  it('an optional connection is left out instead', () => {
    const config = readConfig(HTTP.replace('"type": "http"', '"type": "http", "optional": true'));
    expect(resolveConnections(config, {})).toMatchObject({
      connections: {},
      missing: { 'weather-api': ['APP_WEATHER_API_API_KEY'] },
    });
  });

  it('are filled in wherever they stand', () => {
    const resolved = resolveConnections(readConfig(HTTP), { APP_WEATHER_API_API_KEY: 's3' });
    expect(resolved.values).toEqual({ 'weather-api': { API_KEY: 's3' } });
    expect(resolved.connections['weather-api']).toMatchObject({ headers: { Authorization: 'Bearer s3' } });
  });

  it('are told with the place of their connection where they are missing, or make no address', () => {
    const config = readConfig('{\n  "connections": {\n    "a": { "type": "http", "baseUrl": "{{BASE}}" }\n  }\n}');
    const errorOf = (environment: Record<string, string>) => {
      try {
        return resolveConnections(config, environment);
      } catch (error) {
        return (error as GraphsteadErrors).errors[0];
      }
    };
    const position = { source: 'app.json', line: 3 };
    expect(errorOf({})).toMatchObject({ code: 'MISSING_VARIABLE', position, fix: /^set APP_A_BASE / });
    const misspelt = /^APP_A_BAES is set, which no connection reads: is it the one\? Else set APP_A_BASE /;
    expect(errorOf({ APP_A_BAES: 'http://a' })).toMatchObject({ code: 'MISSING_VARIABLE', fix: misspelt });
    expect(errorOf({ APP_A_BASE: 'localhost:1' })).toMatchObject({ code: 'CONFIG', position });
  });

  it('make no address of a value that is none, and name its variable alone', () => {
    const config = readConfig('{ "connections": { "a": { "type": "http", "baseUrl": "{{BASE}}" } } }');
    expect(() => resolveConnections(config, { APP_A_BASE: 'localhost:1' })).toThrow(
      'the baseUrl of the connection "a" is no address with APP_A_BASE',
    );
    expect(resolveConnections(config, { APP_A_BASE: 'http://localhost:1' }).connections['a']).toMatchObject({
      baseUrl: 'http://localhost:1',
    });
  });

  it('that stand in front of an @ are told to be escaped', () => {
    const config = readConfig(
      `{ "connections": { "h": { "type": "http", "baseUrl": "http://me:{{WORD}}@host/" },
        "d": { "type": "relational", "connStr": "postgres://{{USER}}:{{WORD}}@db/c" } } }`,
    );
    const fixes = (word: string) => {
      try {
        return resolveConnections(config, { APP_H_WORD: word, APP_D_USER: 'me', APP_D_WORD: word }) && [];
      } catch (error) {
        return (error as GraphsteadErrors).errors.map(({ fix }) => fix);
      }
    };
    const escaped = /; what is no letter or digit in a user or a password is escaped, \/ as %2F, # as %23$/;
    for (const word of ['s3/cret', 's3?cret', 's3#cret', '12/34'])
      expect(fixes(word)).toEqual([expect.stringMatching(escaped), expect.stringMatching(escaped)]);
    expect(fixes('s3%2Fcret')).toEqual([]);
    const whole = readConfig('{ "connections": { "d": { "type": "relational", "connStr": "{{URL}}" } } }');
    expect(() => resolveConnections(whole, { APP_D_URL: 'postgres://me:s3#cret@db/c' })).toThrow(
      expect.objectContaining({ errors: [expect.objectContaining({ fix: expect.stringMatching(escaped) })] }),
    );
  });

  it('are refused where they bring a query into a base address', () => {
    const config = readConfig('{ "connections": { "a": { "type": "http", "baseUrl": "https://{{BASE}}" } } }');
    expect(() => resolveConnections(config, { APP_A_BASE: 'host/v1?key=s3cret' })).toThrow(
      /^the baseUrl of the connection "a" has a query with APP_A_BASE, which calls would lose$/,
    );
    expect(() => resolveConnections(config, { APP_A_BASE: 'host/#part' })).toThrow(/has a query with APP_A_BASE/);
  });

  it('make no header that is empty or that no call can carry, and are named alone', () => {
    const config = readConfig(HTTP.replace('"Bearer {{API_KEY}}"', '"{{API_KEY}}", "X-None": " "'));
    const errorsOf = (key: string) => {
      try {
        return resolveConnections(config, { APP_WEATHER_API_API_KEY: key });
      } catch (error) {
        return (error as GraphsteadErrors).errors.map(({ code, message }) => `${code} ${message}`);
      }
    };
    const none = 'CONFIG the header X-None of the connection "weather-api" is empty';
    const authorization = 'CONFIG the header Authorization of the connection "weather-api"';
    expect(errorsOf('fine\n')).toEqual([none]);
    expect(errorsOf(' \n')).toEqual([`${authorization} is empty with APP_WEATHER_API_API_KEY`, none]);
    for (const odd of ['two\nlines', 'k\u20acy']) {
      const told = `${authorization} holds what no header can carry with APP_WEATHER_API_API_KEY`;
      expect(errorsOf(odd)).toEqual([told, none]);
    }
  });

  it('make no address of a database that is none either', () => {
    const config = readConfig(
      '{ "connections": { "d": { "type": "relational", "connStr": "{{URL}}" }, "g": { "type": "graph", "grpcTarget": "{{AT}}" } } }',
    );
    expect(() => resolveConnections(config, { APP_D_URL: 'host=db password=s3', APP_G_AT: 'graph:9080' })).toThrow(
      'the connStr of the connection "d" is no address with APP_D_URL',
    );
    expect(() => resolveConnections(config, { APP_D_URL: 'postgres://a:b@db/c', APP_G_AT: 'the graph' })).toThrow(
      'the grpcTarget of the connection "g" is no address with APP_G_AT',
    );
    for (const other of ['mysql://a:b@db/c', 'https://db/c'])
      expect(() => resolveConnections(config, { APP_D_URL: other, APP_G_AT: 'graph:9080' })).toThrow(
        /"d" is no address/,
      );
    for (const other of ['postgres://graph:9080', 'grpcs://graph:9080'])
      expect(() => resolveConnections(config, { APP_D_URL: 'postgresql:///c', APP_G_AT: other })).toThrow(
        /"g" is no address/,
      );
    expect(
      Object.keys(resolveConnections(config, { APP_D_URL: 'postgres:///c', APP_G_AT: 'graph:9080' }).connections),
    ).toEqual(['d', 'g']);
  });
});

describe('names that every object has', () => {
  it.each([
    ['{ "name": constructor }', 'expected a value, found "constructor"'],
    ['{ "endpoints": toString }', 'expected a value, found "toString"'],
    ['{ "limits": { "constructor": 5 } }', 'unknown limit "constructor"'],
    [
      '{ "models": { "m": { "sourceModel": "x", "connection": "constructor" } } }',
      'the model "m" names the connection "constructor", which is not there',
    ],
  ])('stand for nothing in %s', (text, message) => {
    expect(() => readConfig(text)).toThrow(message);
  });

  it('are refused with their place where an object can have no entry of them', () => {
    const text = `{ "limits": { "__proto__": 5 },
      "models": { "__proto__": { "sourceModel": "x", "connection": "a" } },
      "connections": { "__proto__": { "type": "ftp" },
        "a": { "type": "http", "baseUrl": "https://a.example", "headers": { "__proto__": "x" } } } }`;
    const told = (place: string, where: string) =>
      `app.json:${place}: "__proto__" can be no name in ${where} | give it another one`;
    expect(mistakes(text).sort()).toEqual([
      told('1:28', 'limits'),
      told('2:32', 'models'),
      told('3:37', 'connections'),
      told('4:90', 'connections.a.headers'),
    ]);
  });

  it('are those of connections, models and headers as any other', () => {
    const text = `{ "models": { "toString": { "sourceModel": "x", "connection": "constructor" } }, "connections": {
      "constructor": { "type": "http", "baseUrl": "https://a.example", "headers": { "valueOf": "{{constructor}}" } } } }`;
    const { connections, models } = resolveConnections(readConfig(text), { APP_CONSTRUCTOR_CONSTRUCTOR: 'x' });
    expect(Object.entries(connections)).toEqual([
      ['constructor', expect.objectContaining({ headers: { valueOf: 'x' } })],
    ]);
    expect(Object.keys(models)).toEqual(['toString']);
  });
});

import { describe, expect, it } from 'vitest';
import { createWorld } from '../../../test/support/api-world.js';

const SDL = `
type Author { name: String! @id posts: [Post] @hasInverse(field: author) }
type Post @auth(query: { rule: "query ($ME: String!) { queryPost(filter: { owner: { eq: $ME } }) { owner } }" }) {
  title: String! @search(by: [hash])
  owner: String @search(by: [hash])
  author: Author
}
type Pet { name: String! @id legs: Int @search friend: Pet }
# Service.Authorization {"VerificationKey":"k","Header":"X-Auth","Namespace":"n","Algo":"HS256"}`;

const PETS = `mutation { addPet(input: [{ name: "Rex", legs: 4, friend: { name: "Kiki", legs: 2 } }]) { numUids } }`;

describe('one text asked again', () => {
  it('follows its variables, above and below', async () => {
    const { data } = await createWorld(SDL);
    await data(PETS);
    const text = `query ($name: String!, $legs: Int, $more: Boolean!) {
      getPet(name: $name) { name legs @include(if: $more) friend(filter: { legs: { eq: $legs } }) { ...Name } }
    }
    fragment Name on Pet { name @skip(if: $more) legs }`;
    const rex = (legs: number, more: boolean) => data(text, { name: 'Rex', legs, more });
    expect(await rex(2, true)).toEqual({ getPet: { name: 'Rex', legs: 4, friend: { legs: 2 } } });
    expect(await rex(3, true)).toEqual({ getPet: { name: 'Rex', legs: 4, friend: null } });
    expect(await rex(2, false)).toEqual({ getPet: { name: 'Rex', friend: { name: 'Kiki', legs: 2 } } });
    expect(await data(text, { name: 'Kiki', more: true })).toEqual({ getPet: { name: 'Kiki', legs: 2, friend: null } });
  });

  it('takes arguments that are constant, absent or null for what they are', async () => {
    const { data, ask } = await createWorld(SDL);
    await data(PETS);
    const first = 'query ($n: Int) { queryPet(order: { asc: name }, first: $n) { name } }';
    const [kiki, rex] = [{ name: 'Kiki' }, { name: 'Rex' }];
    expect(await data(first, { n: 1 })).toEqual({ queryPet: [kiki] });
    expect(await data(first, {})).toEqual({ queryPet: [kiki, rex] });
    expect(await data(first, { n: null })).toEqual({ queryPet: [kiki, rex] });
    const constant = '{ queryPet(filter: { legs: { ge: 3 } }) { name } }';
    expect(await data(constant)).toEqual({ queryPet: [rex] });
    await data('mutation { updatePet(input: { filter: { name: { eq: "Kiki" } }, set: { legs: 3 } }) { numUids } }');
    expect((await data(constant)).queryPet).toHaveLength(2);
    const get = 'query ($name: String!) { getPet(name: $name) { legs } }';
    expect(await data(get, { name: 'Rex' })).toEqual({ getPet: { legs: 4 } });
    expect((await ask(get, { name: 7 })).errors?.[0].message).toContain('String cannot represent');
    expect((await ask(get, {})).errors?.[0].message).toContain('$name');
  });

  it('shows each caller what the rules below let them see', async () => {
    const { data } = await createWorld(SDL);
    const post = (owner: string) => `{ title: "of ${owner}", owner: "${owner}" }`;
    await data(
      `mutation { addAuthor(input: [{ name: "Ann", posts: [${post('ann')}, ${post('ben')}] }]) { numUids } }`,
      {},
      { claims: { ME: 'ann' } },
    );
    const seen = async (claims?: Record<string, unknown>) => {
      const { getAuthor } = await data('{ getAuthor(name: "Ann") { posts { title } } }', {}, claims ? { claims } : {});
      return getAuthor.posts.map((each) => each.title);
    };
    expect(await seen({ ME: 'ann' })).toEqual(['of ann']);
    expect(await seen({ ME: 'ben' })).toEqual(['of ben']);
    expect(await seen()).toEqual([]);
    expect(await seen({ ME: 'ann' })).toEqual(['of ann']);
  });

  it('is compiled anew when the schema has changed under it', async () => {
    const { data, api } = await createWorld(SDL);
    await data(PETS);
    const text = '{ getPet(name: "Rex") { name friend { name } } }';
    const answer = { getPet: { name: 'Rex', friend: { name: 'Kiki' } } };
    expect(await data(text)).toEqual(answer);
    await api.updateSchema(SDL.replace('friend: Pet', 'friend: Pet @hasInverse(field: friend)'));
    expect(await data(text)).toEqual(answer);
  });
});

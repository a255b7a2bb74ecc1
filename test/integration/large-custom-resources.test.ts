import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';
import { customKinds, type Json, patch } from './custom-kinds.ts';
import { largeDefinitions } from './large-definitions.ts';

const group = 'large.test.dev';

describe.each(largeDefinitions(group))('$definition.metadata.name', ({ definition, object }) => {
  let cluster: TestCluster;
  let call: ReturnType<typeof customKinds>['call'];
  const { plural } = definition['spec'].names;
  const path = `/apis/${object['apiVersion']}/namespaces/default/${plural}`;
  const apply = (body: Json, manager: string) => call(`${path}/${body['metadata'].name}?fieldManager=${manager}`, patch('apply', body));

  beforeAll(async () => {
    cluster = await startTestCluster();
    const kinds = customKinds(cluster);
    call = kinds.call;
    const made = await call(`${kinds.definitions}/${definition['metadata'].name}?fieldManager=kubectl`, patch('apply', definition));
    expect(made.code, JSON.stringify(made.body)).toBe(201);
    await kinds.eventually(path, ({ code }) => code === 200);
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  it('gets its defaults at every depth on create', async () => {
    const { code, body } = await call(path, { body: object });
    expect(code, JSON.stringify(body)).toBe(201);
    expect(body['spec'].byName.x).toMatchObject({ name: 'y', nested: { name: 'main' } });
    expect(body['spec'].items[0]).toMatchObject({ name: 'a', items: [{ name: 'b' }] });
    for (const open of ['template', 'values']) expect(body['spec'][open]).toEqual(object['spec'][open]);
  });

  it('merges lists by their keys on apply', async () => {
    const named = (spec: Json) => ({ ...object, metadata: { name: 'applied', namespace: 'default' }, spec });
    expect((await apply(named({ items: [{ name: 'a' }] }), 'one')).code).toBe(201);
    expect((await apply(named({ items: [{ name: 'b' }] }), 'two')).code).toBe(200);
    const { body } = await apply(named({ items: [{ name: 'c' }] }), 'one');
    expect(body['spec'].items.map(({ name }: Json) => name)).toEqual(['b', 'c']);
  });

  it('is validated by its rules and its schema', async () => {
    const wrong = {
      ...object,
      metadata: { name: 'wrong' },
      spec: { ...object['spec'], name: 'none', field0: undefined, items: [{ name: 1 }] },
    };
    const { code, body } = await call(path, { body: wrong });
    expect(code).toBe(422);
    expect(body['message']).toContain(
      'spec.items[0].name: Invalid value: "integer": spec.items[0].name in body must be of type string: "integer"',
    );
  });

  it('is completely described in every version', async () => {
    for (const { name } of definition['spec'].versions as Json[]) {
      const { body } = await call(`/openapi/v3/apis/${group}/${name}`);
      const schemas = Object.values(body['components'].schemas as Json) as Json[];
      const own = schemas.find((schema) => schema['x-kubernetes-group-version-kind']?.[0]?.kind === object['kind']);
      expect(Object.keys(own?.['properties'].spec.properties)).toEqual(
        Object.keys(definition['spec'].versions[0].schema.openAPIV3Schema.properties.spec.properties).sort(),
      );
    }
  });
});

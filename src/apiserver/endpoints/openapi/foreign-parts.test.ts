import { describe, expect, it } from 'vitest';
import type { JsonSchema } from '#apimachinery/openapi/schemas';
import type { V3Document } from '#apimachinery/openapi/swagger';
import { oneStep } from '#apimachinery/runtime/steps';
import { addForeignPart, type JoinedParts } from './foreign-parts.ts';
import { JoinedSwagger, jsonForm } from './joined-swagger.ts';

type Definitions = Readonly<Record<string, JsonSchema>>;

const kind = (group: string) => ({ group, version: 'v1', kind: 'X' });
const ofKinds = (...groups: string[]) => ({ 'x-kubernetes-group-version-kind': groups.map(kind) });
const ref = (name: string) => ({ $ref: `#/definitions/${name}` });
const text = { type: 'string' };
const part = (definitions: Definitions, parameters = {}) => ({
  info: {},
  paths: { '/apis/a.io/v1/x': { get: { parameters: [{ $ref: '#/parameters/p' }], responses: { 200: { schema: ref('X') } } } } },
  definitions,
  parameters,
  securityDefinitions: {},
});
const joinedOf = (definitions: Definitions, parameters = {}): JoinedParts => ({
  definitions: new Map(Object.entries(definitions)),
  parameters: new Map(Object.entries(parameters)),
});

describe('addForeignPart', () => {
  it.each<{ name: string; present: Definitions; own: Definitions; want: Definitions; refers: string }>([
    { name: 'adds new definitions', present: {}, own: { X: text }, want: { X: text }, refers: 'X' },
    {
      name: 'reuses a definition that differs only in the order of its members',
      present: { X: { type: 'string', format: 'byte' } },
      own: { X: { format: 'byte', type: 'string' } },
      want: {},
      refers: 'X',
    },
    {
      name: 'adds the kinds of an equal definition, sorted',
      present: { X: { ...text, ...ofKinds('b.io', 'c.io') } },
      own: { X: { ...text, ...ofKinds('a.io', 'c.io') } },
      want: { X: { ...text, ...ofKinds('a.io', 'b.io', 'c.io') } },
      refers: 'X',
    },
    {
      name: 'adds kinds to an equal definition without kinds',
      present: { X: text },
      own: { X: { ...text, ...ofKinds('a.io') } },
      want: { X: { ...text, ...ofKinds('a.io') } },
      refers: 'X',
    },
    { name: 'renames a different definition', present: { X: text }, own: { X: {} }, want: { X_v2: {} }, refers: 'X_v2' },
    {
      name: 'reuses renamed definitions and those that refer to them',
      present: { X: text, X_v2: { type: 'object' }, X_v3: { properties: { x: ref('X') } } },
      own: { X: { properties: { x: ref('X') } }, Y: { items: ref('X') } },
      want: { Y: { items: ref('X_v3') } },
      refers: 'X_v3',
    },
    {
      name: 'does not rename to a name that the part uses',
      present: { X: text },
      own: { X: {}, X_v2: { type: 'object' } },
      want: { X_v3: {}, X_v2: { type: 'object' } },
      refers: 'X_v3',
    },
  ])('$name', ({ present, own, want, refers }) => {
    const joined = joinedOf(present);
    const before = structuredClone(own);
    const added = addForeignPart(part(own), joined);
    expect(Object.fromEntries(added.definitions)).toEqual(want);
    expect(added.paths).toMatchObject({ '/apis/a.io/v1/x': { get: { responses: { 200: { schema: ref(refers) } } } } });
    expect(Object.fromEntries(joined.definitions)).toEqual({ ...present, ...want });
    expect(own).toEqual(before);
  });

  it('renames parameters', () => {
    const joined = joinedOf({}, { p: { name: 'a', in: 'query' } });
    const { paths } = addForeignPart(part({ X: text }, { p: { name: 'b', in: 'query' } }), joined);
    expect(paths).toMatchObject({ '/apis/a.io/v1/x': { get: { parameters: [{ $ref: '#/parameters/p_v2' }] } } });
    expect(joined.parameters.get('p_v2')).toEqual({ name: 'b', in: 'query' });
  });
});

it("two servers' different definitions of one name are both in the joined document", async () => {
  const document = (path: string, X: JsonSchema): V3Document => ({
    info: {},
    paths: {
      [path]: {
        get: { responses: { 200: { description: 'OK', content: { 'application/json': { schema: { $ref: '#/components/schemas/X' } } } } } },
      },
    },
    components: { schemas: { X } },
  });
  const own = document('/own', { type: 'string' });
  const foreign = [
    document('/a', { type: 'string', ...ofKinds('a.io') }),
    document('/b', { type: 'object' }),
    document('/c', { type: 'object' }),
  ];
  const builders = [own, ...foreign].map((one) => () => oneStep(() => one));
  const swagger = new JoinedSwagger(jsonForm);
  for (let again = 0; again < 2; again += 1) {
    const { pieces } = await swagger.join(builders.slice(0, 1), builders.slice(1));
    const { paths, definitions } = JSON.parse(Buffer.concat([...pieces]).toString()) as { paths: object; definitions: object };
    expect(definitions).toEqual({ X: { type: 'string', ...ofKinds('a.io') }, X_v2: { type: 'object' } });
    const shown = Object.entries(paths).map(([path, item]) => [path, JSON.stringify(item).match(/#\/definitions\/(\w+)/)?.[1]]);
    expect(shown).toEqual([
      ['/a', 'X'],
      ['/b', 'X_v2'],
      ['/c', 'X_v2'],
      ['/own', 'X'],
    ]);
  }
});

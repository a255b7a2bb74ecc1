/**
 * Generated definitions with the size and shape of real operators' definitions, the same in each run. They have the features
 * that controller-gen emits: deep trees of described properties, int-or-string, maps, map lists, embedded pod templates,
 * preserved unknown fields, rules, defaults and several versions.
 */
import type { Json } from './custom-kinds.ts';

export interface LargeDefinition {
  readonly definition: Json;
  /** An object of `definition` in its storage version. */
  readonly object: Json;
}

const text = 'Of what is described here the operator takes care; see the documentation of the project for all of it. ';

/** Returns a pseudorandom number derived from another one. */
const scramble = (seed: number) => (Math.imul(seed + 1, 2_654_435_761) >>> 0) % 1_000;

const leaves: readonly ((seed: number) => Json)[] = [
  () => ({ type: 'string' }),
  (seed) => ({ type: 'string', maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', minLength: seed % 2 }),
  () => ({ type: 'integer', format: 'int32', minimum: 0 }),
  () => ({ type: 'boolean', default: false }),
  () => ({ anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true }),
  () => ({ type: 'string', enum: ['Always', 'IfNotPresent', 'Never'], default: 'Always' }),
  () => ({ type: 'object', additionalProperties: { type: 'string' }, 'x-kubernetes-map-type': 'atomic' }),
  () => ({ type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set', maxItems: 64 }),
  () => ({ type: 'string', format: 'date-time', nullable: true }),
];

/** Returns a tree of objects: each has leaves and, above the last level, objects, map lists and maps of objects. */
function tree(depth: number, width: number, seed: number): Json {
  const described = (schema: Json): Json => ({ description: text.slice(0, 40 + (scramble(seed) % 60)), ...schema });
  const properties: Json = {};
  for (let i = 0; i < width; i += 1)
    properties[`field${i}`] = described((leaves[scramble(seed + i) % leaves.length] ?? leaves[0]!)(seed + i));
  properties['name'] = described({ type: 'string', default: 'main', maxLength: 253 });
  if (depth > 0) {
    properties['nested'] = described(tree(depth - 1, width, seed * 3 + 1));
    const items = tree(depth - 1, width, seed * 3 + 2);
    properties['items'] = described({
      ...{ type: 'array', items, maxItems: 16 },
      ...{ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
    });
    properties['byName'] = described({ type: 'object', maxProperties: 16, additionalProperties: tree(depth - 1, width, seed * 3 + 3) });
  }
  return { type: 'object', properties };
}

const rules = [
  { rule: "!has(self.field0) || !has(self.nested) || self.name != 'none'", message: 'name must not be none' },
  { rule: 'self.items.all(item, size(item.name) < 254)', messageExpression: "'one of the items is too long, as ' + self.name + ' knows'" },
];

interface Shape {
  readonly name: string;
  readonly depth: number;
  readonly width: number;
  readonly versions: readonly string[];
  readonly spec?: Json;
}

const template = {
  type: 'object',
  'x-kubernetes-embedded-resource': true,
  'x-kubernetes-preserve-unknown-fields': true,
  properties: { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: { type: 'object' } },
};

/** Modelled on cert-manager's issuers, Gateway API routes, Argo CD applications and the Prometheus operator's Prometheus. */
const shapes: readonly Shape[] = [
  { name: 'issuers', depth: 3, width: 14, versions: ['v1'] },
  { name: 'routes', depth: 3, width: 9, versions: ['v1', 'v1beta1'] },
  {
    name: 'applications',
    depth: 4,
    width: 8,
    versions: ['v1alpha1'],
    spec: { template, values: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  },
  { name: 'monitors', depth: 4, width: 16, versions: ['v1'] },
];

/** Some hundred kilobytes each, with up to some thousand fields. */
export function largeDefinitions(group: string): LargeDefinition[] {
  return shapes.map(({ name, depth, width, versions, spec: more = {} }, seed) => {
    const kind = `${name.charAt(0).toUpperCase()}${name.slice(1, -1)}`;
    const spec = tree(depth, width, seed + 1);
    const schema = {
      type: 'object',
      description: text,
      required: ['spec'],
      properties: {
        spec: { ...spec, properties: { ...(spec['properties'] as Json), ...more }, 'x-kubernetes-validations': rules },
        status: tree(1, width, seed + 7),
      },
    };
    return {
      definition: {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: `${name}.${group}` },
        spec: {
          group,
          scope: 'Namespaced',
          names: { plural: name, singular: name.slice(0, -1), kind, listKind: `${kind}List`, categories: ['large'] },
          versions: versions.map((version, i) => ({
            name: version,
            served: true,
            storage: i === 0,
            subresources: { status: {} },
            additionalPrinterColumns: [{ name: 'Main', type: 'string', jsonPath: '.spec.name' }],
            schema: { openAPIV3Schema: schema },
          })),
        },
      },
      object: {
        apiVersion: `${group}/${versions[0]}`,
        kind,
        metadata: { name: 'one', namespace: 'default' },
        spec: {
          items: [{ name: 'a', items: [{ name: 'b' }] }, { name: 'c' }],
          byName: { x: { name: 'y', nested: {} } },
          ...(more['template'] && { template: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { any: ['thing'] } } }),
          ...(more['values'] && { values: { deep: { er: [1, 'two', { three: null }] } } }),
        },
      },
    };
  });
}

import { expect, it } from 'vitest';
import type { StrategyContext } from '#apiserver/registry/resource-definition';
import definitions from './customresourcedefinitions.ts';

const context: StrategyContext = { namespace: '', user: { name: 'a', groups: [] }, dryRun: false, now: '2026-11-21T12:00:00Z' };
const definition = (storage: string, status: object) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {},
  spec: { versions: ['v1', 'v2'].map((name) => ({ name, storage: name === storage })) },
  status,
});

it('records every storage version', () => {
  const created = definition('v1', { storedVersions: ['evil'] });
  definitions.strategy.prepareForCreate?.(created, context);
  expect(created.status).toEqual({ storedVersions: ['v1'] });
  const old = definition('v1', { storedVersions: ['v1'] });
  const updated = definition('v2', {});
  definitions.strategy.prepareForUpdate?.(updated, old, context);
  expect(updated.status).toEqual({ storedVersions: ['v1', 'v2'] });
  expect(old.status).toEqual({ storedVersions: ['v1'] });
});

it('orders nested schemas by their type, and values by their keys', () => {
  const item = {
    zzz: 1,
    'x-kubernetes-validations': [{ message: 'm', rule: 'true' }],
    nullable: true,
    properties: {
      b: { default: { d: 1, c: [{ f: 1, e: 2 }] }, type: 'object' },
      a: { items: { maxLength: 1, type: 'string' }, type: 'array' },
    },
    type: 'object',
  };
  const created = {
    ...definition('v1', {}),
    spec: { versions: [{ name: 'v1', storage: true, schema: { openAPIV3Schema: { type: 'array', items: item } } }] },
  };
  definitions.defaults?.(created as never);
  const [version] = created.spec.versions;
  expect(JSON.stringify(version?.schema.openAPIV3Schema.items)).toBe(
    '{"type":"object","properties":{"a":{"type":"array","items":{"type":"string","maxLength":1}},' +
      '"b":{"type":"object","default":{"c":[{"e":2,"f":1}],"d":1}}},"nullable":true,"x-kubernetes-validations":[{"rule":"true","message":"m"}]}',
  );
});

it('rejects generateName, since the name must match the spec', () => {
  const created = {
    ...definition('v1', {}),
    metadata: { generateName: 'x', name: 'xabc' },
    spec: { group: 'g.dev', names: { plural: 'as' } },
  };
  const steps = definitions.strategy.validateSteps!(created as never, undefined, context) as Generator<void, { field: string }[]>;
  let step = steps.next();
  while (!step.done) step = steps.next();
  expect(step.value.slice(0, 2).map(({ field }) => field)).toEqual(['metadata.generateName', 'metadata.name']);
});

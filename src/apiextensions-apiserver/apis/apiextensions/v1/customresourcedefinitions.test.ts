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

it('remembers every version that was stored', () => {
  const created = definition('v1', { storedVersions: ['evil'] });
  definitions.strategy.prepareForCreate?.(created, context);
  expect(created.status).toEqual({ storedVersions: ['v1'] });
  const old = definition('v1', { storedVersions: ['v1'] });
  const updated = definition('v2', {});
  definitions.strategy.prepareForUpdate?.(updated, old, context);
  expect(updated.status).toEqual({ storedVersions: ['v1', 'v2'] });
  expect(old.status).toEqual({ storedVersions: ['v1'] });
});

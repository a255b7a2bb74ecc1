import { expect, it } from 'vitest';
import type { StrategyContext } from '#apiserver/registry/resource-definition';
import apiservices from './apiservices.ts';

const context: StrategyContext = { namespace: '', user: { name: 'a', groups: [] }, dryRun: false, now: '2026-11-21T12:00:00Z' };
const service = (spec: object, more: object = {}) => ({
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name: 'v1.a.io' },
  spec,
  ...more,
});
const cells = (object: ReturnType<typeof service>) => apiservices.columns.slice(0, 3).map((column) => column.value(object, { now: 0 }));

it.each([
  { name: 'local', object: service({}), want: ['v1.a.io', 'Local', 'Unknown'] },
  {
    name: 'available',
    object: service(
      { service: { namespace: 'n', name: 's' } },
      { status: { conditions: [{ type: 'Available', status: 'True', reason: 'Passed' }] } },
    ),
    want: ['v1.a.io', 'n/s', 'True'],
  },
  {
    name: 'not available',
    object: service({}, { status: { conditions: [{ type: 'Available', status: 'False', reason: 'MissingEndpoints' }] } }),
    want: ['v1.a.io', 'Local', 'False (MissingEndpoints)'],
  },
])('columns: $name', ({ object, want }) => {
  expect(cells(object)).toEqual(want);
});

it('a local service is available at once, a remote one has no status', () => {
  const local = service({}, { status: { conditions: [{ type: 'x' }] } });
  apiservices.strategy.prepareForCreate?.(local, context);
  expect(local).toMatchObject({
    status: { conditions: [{ type: 'Available', status: 'True', reason: 'Local', lastTransitionTime: context.now }] },
  });
  const remote = service({ service: { name: 's' } });
  apiservices.strategy.prepareForCreate?.(remote, context);
  expect(remote).toHaveProperty('status', {});
});

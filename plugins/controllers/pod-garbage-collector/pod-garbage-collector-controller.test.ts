import { FakeClock, FakeCluster } from 'kubenest/sdk/testing';
import type { Pod } from 'kubenest/types/core_v1';
import { expect, it } from 'vitest';
import { partialObject } from '../common/testing/partial-object.ts';
import { PodGarbageCollectorController } from './pod-garbage-collector-controller.ts';

it('deletes the pods of a node that stays missing', async () => {
  const orphan = partialObject({
    metadata: { name: 'p', namespace: 'ns', uid: 'u' },
    spec: { nodeName: 'n' },
    status: { phase: 'Running' },
  });
  const kept = partialObject({ metadata: { name: 'q', namespace: 'ns', uid: 'v' }, spec: { nodeName: 'm' }, status: { phase: 'Running' } });
  const cluster = new FakeCluster({ pods: [orphan, kept], nodes: [partialObject({ metadata: { name: 'm' } })] });
  const clock = new FakeClock();
  const logger = { error: (details: object, message: string) => expect.unreachable(`${message} ${JSON.stringify(details)}`) };
  const controller = new PodGarbageCollectorController(cluster, cluster.informers, clock, logger as never);
  await controller.collect();
  await clock.advance(39_000);
  await controller.collect();
  expect(cluster.writes).toEqual([]);
  await clock.advance(1_000);
  await controller.collect();
  expect(cluster.writes.map(({ verb, resource, name }) => `${verb} ${resource} ${name}`)).toEqual(['patch pods/status p', 'delete pods p']);
  expect(cluster.all('pods').map(({ metadata }) => (metadata as Pod['metadata']).name)).toEqual(['q']);
});

it('reports the failure of an unscheduled pod with the generation that it has seen', async () => {
  const ending = partialObject({
    metadata: {
      name: 'p',
      namespace: 'ns',
      uid: 'u',
      generation: 2,
      deletionTimestamp: '2026-01-01T00:00:00Z',
      finalizers: ['example.com/hold'],
    },
    status: { phase: 'Pending' },
  });
  const cluster = new FakeCluster({ pods: [ending] });
  const controller = new PodGarbageCollectorController(cluster, cluster.informers, new FakeClock(), { error: expect.unreachable } as never);
  await controller.collect();
  expect(cluster.stored('pods', 'ns', 'p')).toMatchObject({ status: { phase: 'Failed', observedGeneration: 2 } });
});

import type { KubeObject } from 'kubenest/sdk';
import { FakeClock, FakeCluster } from 'kubenest/sdk/testing';
import { expect, it } from 'vitest';
import { partialObject } from '../common/testing/partial-object.ts';
import { LegacyServiceAccountTokenCleanerController } from './legacy-serviceaccount-token-cleaner-controller.ts';

const dayMs = 86_400_000;
const token = (name: string, labels: Record<string, string> = {}): KubeObject =>
  partialObject({
    type: 'kubernetes.io/service-account-token',
    metadata: {
      name,
      namespace: 'ns',
      labels,
      creationTimestamp: '1970-01-02T00:00:00Z',
      annotations: { 'kubernetes.io/service-account.name': 'sa' },
    },
  });
const label = (kind: string, date: string): Record<string, string> => ({ [`kubernetes.io/legacy-token-${kind}`]: date });

async function writesOn(day: number): Promise<string[]> {
  const listed = ['unused', 'used', 'mounted', 'invalid', 'lately-invalid'];
  const cluster = new FakeCluster({
    configmaps: [
      partialObject({
        metadata: { name: 'kube-apiserver-legacy-service-account-token-tracking', namespace: 'kube-system' },
        data: { since: '1970-01-05' },
      }),
    ],
    serviceaccounts: [partialObject({ metadata: { name: 'sa', namespace: 'ns' }, secrets: listed.map((name) => ({ name })) })],
    pods: [
      partialObject({ metadata: { name: 'p', namespace: 'ns' }, spec: { volumes: [{ name: 'v', secret: { secretName: 'mounted' } }] } }),
    ],
    secrets: [
      token('unused'),
      token('used', label('last-used', '1971-12-01')),
      token('mounted'),
      token('invalid', label('invalid-since', '1970-06-01')),
      token('lately-invalid', label('invalid-since', '1971-12-01')),
      token('by-hand'),
    ],
  });
  const clock = new FakeClock();
  await clock.advance(day * dayMs);
  const logger = { error: (details: object) => expect.unreachable(JSON.stringify(details)) };
  await new LegacyServiceAccountTokenCleanerController(cluster, cluster.informers, clock, logger as never).clean();
  return cluster.writes.map(({ verb, name }) => `${verb} ${name}`);
}

it('marks unused tokens, and deletes those that have been marked for a year', async () => {
  expect(await writesOn(720)).toEqual(['patch unused', 'delete invalid']);
});

it('leaves all tokens alone until their use has been tracked for a year', async () => {
  expect(await writesOn(300)).toEqual([]);
});

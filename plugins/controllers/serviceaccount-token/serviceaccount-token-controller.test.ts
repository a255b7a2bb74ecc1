import { Buffer } from 'node:buffer';
import type { KubeObject } from 'kubenest/sdk';
import { expect, it } from 'vitest';
import { FakeCluster } from '#sdk/testing/fake-cluster';
import { partialObject } from '../common/testing/partial-object.ts';
import { ServiceAccountTokenController } from './serviceaccount-token-controller.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const filled = { token: base64('token of robot u'), namespace: base64('ns'), 'ca.crt': base64('CA') };
const names = { 'kubernetes.io/service-account.name': 'robot' };
const robot = partialObject({ metadata: { namespace: 'ns', name: 'robot', uid: 'u' }, secrets: [{ name: 's' }, { name: 't' }] });
const secret = (annotations: object = names, rest: object = {}): KubeObject =>
  partialObject({ metadata: { namespace: 'ns', name: 's', uid: 's', annotations }, type: 'kubernetes.io/service-account-token', ...rest });
const credentials = {
  rootCertificateAuthority: 'CA',
  signSecretToken: async ({ serviceAccountName, serviceAccountUid }: { serviceAccountName: string; serviceAccountUid: string }) =>
    `token of ${serviceAccountName} ${serviceAccountUid}`,
};

it.each<{ name: string; secrets?: KubeObject[]; accounts?: KubeObject[]; writes?: string[]; want?: Record<string, object | undefined> }>([
  {
    name: 'fills a Secret',
    writes: ['update secrets'],
    want: { secrets: { data: filled, metadata: { annotations: { ...names, 'kubernetes.io/service-account.uid': 'u' } } } },
  },
  { name: 'leaves a filled Secret alone', secrets: [secret(names, { data: filled })] },
  {
    name: 'keeps a present token and adds what is missing',
    secrets: [secret(names, { data: { token: base64('own') } })],
    writes: ['update secrets'],
    want: { secrets: { data: { ...filled, token: base64('own') } } },
  },
  { name: 'deletes the Secret of a missing account', accounts: [], writes: ['delete secrets'], want: { secrets: undefined } },
  {
    name: 'deletes the Secret of an account that was created anew',
    secrets: [secret({ ...names, 'kubernetes.io/service-account.uid': 'old' })],
    writes: ['delete secrets'],
    want: { secrets: undefined },
  },
  { name: 'ignores a Secret of another type', secrets: [secret(names, { type: 'Opaque' })], accounts: [] },
  {
    name: 'removes a Secret that is gone from its account',
    secrets: [],
    writes: ['update serviceaccounts'],
    want: { serviceaccounts: { secrets: [{ name: 't' }] } },
  },
])('$name', async ({ secrets = [secret()], accounts = [robot], writes = [], want = {} }) => {
  const cluster = new FakeCluster({ secrets, serviceaccounts: accounts });
  await new ServiceAccountTokenController(cluster, credentials, cluster.informers).reconcile({ namespace: 'ns', name: 's' });
  expect(cluster.writes.map(({ verb, resource }) => `${verb} ${resource}`)).toEqual(writes);
  for (const [resource, object] of Object.entries(want)) {
    const stored = cluster.stored(resource, 'ns', resource === 'secrets' ? 's' : 'robot');
    if (object) expect(stored).toMatchObject(object);
    else expect(stored).toBeUndefined();
  }
});

it('reconciles the Secrets of an account that changes', () => {
  const cluster = new FakeCluster({ secrets: [secret(), secret({ ...names, 'kubernetes.io/service-account.name': 'other' })] });
  const controller = new ServiceAccountTokenController(cluster, credentials, cluster.informers);
  expect([...controller.requestsOfServiceAccount(robot)]).toEqual([]);
  const own = new FakeCluster({ secrets: [secret()] });
  expect([...new ServiceAccountTokenController(own, credentials, own.informers).requestsOfServiceAccount(robot)]).toEqual([
    { namespace: 'ns', name: 's' },
  ]);
});

import { StatusError, type ControllerClient } from 'kubenest/sdk';
import type { TokenRequest } from 'kubenest/types/authentication_v1';
import type { Container, Pod } from 'kubenest/types/core_v1';
import { expect, it } from 'vitest';
import { ServiceAccountTokens } from './service-account-tokens.ts';

const container: Container = { name: 'c', volumeMounts: [{ name: 'v', mountPath: '/tokens' }] };
const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'shop', uid: 'u1' },
  spec: {
    serviceAccountName: 'robot',
    containers: [container],
    volumes: [
      { name: 'v', projected: { sources: [{ serviceAccountToken: { path: 'vault', audience: 'vault', expirationSeconds: 600 } }] } },
    ],
  },
};
const mounted = { texts: { '/tokens/ca.crt': 'ca' }, volumes: new Set(['v']), unknown: ['/tokens/vault', '/other'] };

it('requests a token for the pod, and again when 80 % of its lifetime are over', async () => {
  let now = Date.UTC(2026, 0, 1);
  const requests: TokenRequest[] = [];
  const create = async (_: unknown, request: TokenRequest): Promise<TokenRequest> => {
    requests.push(request);
    const expirationTimestamp = new Date(now + 600_000).toISOString();
    return { ...request, status: { token: `token-${requests.length}`, expirationTimestamp } };
  };
  const tokens = new ServiceAccountTokens({ create: create as unknown as ControllerClient['create'] }, { wallTime: () => now });
  const read = async (): Promise<string | undefined> => (await tokens.addTo(mounted, pod, container)).texts['/tokens/vault'];
  expect(await tokens.addTo(mounted, pod, container)).toEqual({
    texts: { '/tokens/ca.crt': 'ca', '/tokens/vault': 'token-1' },
    volumes: mounted.volumes,
    unknown: ['/other'],
  });
  expect(requests[0]).toMatchObject({
    metadata: { namespace: 'shop', name: 'robot' },
    spec: { audiences: ['vault'], expirationSeconds: 600, boundObjectRef: { kind: 'Pod', name: 'web', uid: 'u1' } },
  });
  now += 470_000;
  expect(await read()).toBe('token-1');
  now += 20_000;
  expect(await read()).toBe('token-2');
});

it('leaves a token unknown that the API server refuses', async () => {
  const create = (): Promise<never> =>
    Promise.reject(
      new StatusError({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        code: 404,
        reason: 'NotFound',
        message: 'none',
      }),
    );
  const tokens = new ServiceAccountTokens({ create }, { wallTime: () => 0 });
  expect(await tokens.addTo(mounted, pod, container)).toEqual(mounted);
});

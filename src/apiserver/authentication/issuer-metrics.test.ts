import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { IssuerMetrics } from './issuer-metrics.ts';

async function series(act: (metrics: IssuerMetrics) => void): Promise<string[]> {
  const registry = new Registry();
  act(new IssuerMetrics(registry, 'apiserver-a'));
  const metrics = await registry.getMetricsAsJSON();
  return metrics.flatMap(({ name, values }) =>
    values.map(({ labels }) => `${name.split('authenticator_')[1]} ${Object.keys(labels).join(' ')}`),
  );
}

it.each([
  { does: 'no fetch', act: () => {}, want: [] },
  {
    does: 'a fetched key set',
    act: (metrics: IssuerMetrics) => metrics.of('https://issuer.example', true).onKeySet?.('{"keys":[]}'),
    want: [
      'jwks_fetch_last_timestamp_seconds result jwt_issuer_hash apiserver_id_hash',
      'jwks_fetch_last_key_set_info jwt_issuer_hash apiserver_id_hash hash',
    ],
  },
  {
    does: 'a failed fetch',
    act: (metrics: IssuerMetrics) => metrics.of('https://issuer.example', true).onKeySet?.(undefined),
    want: ['jwks_fetch_last_timestamp_seconds result jwt_issuer_hash apiserver_id_hash'],
  },
  { does: 'the gate is off', act: (metrics: IssuerMetrics) => metrics.of('https://issuer.example', false).onKeySet?.('{}'), want: [] },
  {
    does: 'the issuer was removed',
    act(metrics: IssuerMetrics) {
      metrics.of('https://issuer.example', true).onKeySet?.('{}');
      metrics.keepOnly(['https://other.example']);
    },
    want: [],
  },
])('$does', async ({ act, want }) => {
  expect(await series(act)).toEqual(want);
});

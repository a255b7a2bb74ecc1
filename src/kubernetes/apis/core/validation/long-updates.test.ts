import { expect, it } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import { TooManyErrors } from '#apimachinery/validation/field';
import type { Strategy, StrategyContext } from '#apiserver/registry/resource-definition';
import { ephemeralContainersStrategy, podStatusStrategy, podStrategy } from '#kubernetes/apis/core/pod-strategy';
import services from '#kubernetes/apis/core/v1/services';
import { internalDiff } from './internal.ts';

const context: StrategyContext = {
  namespace: 'n',
  user: { name: 'u', groups: [] } as unknown as StrategyContext['user'],
  dryRun: false,
  now: '2026-01-02T03:04:05Z',
};
/** The number of items that fits into a request body. Comparing all pairs took 40 to 130 s. */
const count = 200_000;
const ip = (i: number): string => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`;

function errorsOf(strategy: Strategy, object: object, old: object): number {
  const [next, before] = [object, old].map((given) => ({ apiVersion: '', kind: '', metadata: { name: 'x' }, ...given }) as KubeObject);
  try {
    return strategy.validateUpdate!(next!, before!, context).length;
  } catch (error) {
    if (error instanceof TooManyErrors) return error.errors.length;
    throw error;
  }
}

it.each<[string, Strategy, item: (i: number) => unknown, object: (list: readonly unknown[]) => object]>([
  ['addresses of a pod', podStatusStrategy as Strategy, (i) => ({ ip: ip(i) }), (podIPs) => ({ spec: {}, status: { podIPs } })],
  ['addresses of a service', services.strategy as Strategy, ip, (clusterIPs) => ({ spec: { type: 'ClusterIP', clusterIPs } })],
  ['external addresses', services.strategy as Strategy, ip, (externalIPs) => ({ spec: { type: 'ClusterIP', externalIPs } })],
  [
    'ephemeral containers',
    ephemeralContainersStrategy as Strategy,
    (i) => ({ name: `x${i}` }),
    (ephemeralContainers) => ({ spec: { ephemeralContainers } }),
  ],
  [
    'topology constraints',
    podStrategy as Strategy,
    (i) => ({ topologyKey: `x${i}` }),
    (topologySpreadConstraints) => ({ spec: { topologySpreadConstraints } }),
  ],
])(
  'an update compares each item of a long list once: %s',
  (_, strategy, item, object) => {
    const list = Array.from({ length: count }, (__, i) => item(i));
    expect(errorsOf(strategy, object(list), object(list.toReversed()))).toBeGreaterThan(0);
  },
  20_000,
);

it('skips the diff of very large values', () => {
  const pod = (length: number, image: string) => ({ containers: Array.from({ length }, () => ({ image })) });
  expect(internalDiff('PodSpec', pod(10, 'a'), pod(10, 'b'))).toContain('"Image": "b"');
  expect(internalDiff('PodSpec', pod(count, 'a'), pod(count, 'b'))).toBe('');
});

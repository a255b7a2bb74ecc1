import { describe, expect, it } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import type { ResourceDefinition, StrategyContext } from '#apiserver/registry/resource-definition';
import daemonsets from '#kubernetes/apis/apps/v1/daemonsets';
import deployments from '#kubernetes/apis/apps/v1/deployments';
import replicasets from '#kubernetes/apis/apps/v1/replicasets';
import statefulsets from '#kubernetes/apis/apps/v1/statefulsets';
import cronjobs from '#kubernetes/apis/batch/v1/cronjobs';
import jobs from '#kubernetes/apis/batch/v1/jobs';
import podtemplates from './v1/podtemplates.ts';
import replicationcontrollers from './v1/replicationcontrollers.ts';

const without = { isEnabled: () => false } as unknown as StrategyContext;
const withAll = { isEnabled: () => true } as unknown as StrategyContext;
const podSpec = (): object => ({ containers: [{ name: 'c' }], schedulingGroup: { podGroupName: 'g' } });
const template = () => ({ spec: podSpec() });

describe('withPodTemplate', () => {
  const kinds: [string, ResourceDefinition, () => object][] = [
    ...[deployments, daemonsets, statefulsets, replicasets, jobs, replicationcontrollers].map(
      (definition): [string, ResourceDefinition, () => object] => [
        definition.resource,
        definition as unknown as ResourceDefinition,
        () => ({ spec: { template: template() } }),
      ],
    ),
    ['cronjobs', cronjobs as unknown as ResourceDefinition, () => ({ spec: { jobTemplate: { spec: { template: template() } } } })],
    ['podtemplates', podtemplates as unknown as ResourceDefinition, () => ({ template: template() })],
  ];
  it.each(kinds)('%s lose fields of features that are off, unless they have them already', (_, { strategy = {} }, fields) => {
    const object = (): KubeObject => ({ apiVersion: 'v1', kind: 'X', metadata: { name: 'x' }, ...fields() });
    const keeps = (one: KubeObject): boolean => JSON.stringify(one).includes('schedulingGroup');
    const bare = object();
    strategy.prepareForCreate?.(bare, without);
    expect(keeps(bare)).toBe(false);
    const gated = object();
    strategy.prepareForCreate?.(gated, withAll);
    expect(keeps(gated)).toBe(true);
    const changed = object();
    strategy.prepareForUpdate?.(changed, bare, without);
    expect(keeps(changed)).toBe(false);
    const kept = object();
    strategy.prepareForUpdate?.(kept, object(), without);
    expect(keeps(kept)).toBe(true);
  });
});

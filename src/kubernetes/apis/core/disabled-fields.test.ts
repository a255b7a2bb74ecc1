import { describe, expect, it } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import type { ResourceDefinition, StrategyContext } from '#apiserver/registry/resource-definition';
import daemonsets from '#kubernetes/apis/apps/v1/daemonsets';
import deployments from '#kubernetes/apis/apps/v1/deployments';
import replicasets from '#kubernetes/apis/apps/v1/replicasets';
import statefulsets from '#kubernetes/apis/apps/v1/statefulsets';
import cronjobs from '#kubernetes/apis/batch/v1/cronjobs';
import jobs from '#kubernetes/apis/batch/v1/jobs';
import resourceslices from '#kubernetes/apis/resource/v1/resourceslices';
import csidrivers from '#kubernetes/apis/storage/v1/csidrivers';
import persistentvolumeclaims from './v1/persistentvolumeclaims.ts';
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
  it.each(kinds)('%s lose fields of disabled features, unless the stored object has them', (_, { strategy = {} }, fields) => {
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

describe('fields of disabled features', () => {
  const rows: [string, ResourceDefinition, spec: () => object, left: object][] = [
    [
      'maxUnavailable of a StatefulSet',
      statefulsets as unknown as ResourceDefinition,
      () => ({ updateStrategy: { rollingUpdate: { partition: 1, maxUnavailable: 2 } } }),
      { updateStrategy: { rollingUpdate: { partition: 1 } } },
    ],
    [
      'the source of a claim in another namespace',
      persistentvolumeclaims as unknown as ResourceDefinition,
      () => ({ dataSourceRef: { kind: 'X', name: 'x', namespace: 'other' } }),
      {},
    ],
    [
      'mappings of a device',
      resourceslices as unknown as ResourceDefinition,
      () => ({ devices: [{ name: 'd', nodeAllocatableResourceMappings: { cpu: {} } }] }),
      { devices: [{ name: 'd' }] },
    ],
    [
      'the scheduling prevention field of a CSI driver',
      csidrivers as unknown as ResourceDefinition,
      () => ({ attachRequired: true, preventPodSchedulingIfMissing: true }),
      { attachRequired: true },
    ],
  ];
  it.each(rows)('drops %s, unless the stored object has it', (_, { strategy }, spec, left) => {
    const object = (): KubeObject => ({ apiVersion: 'v1', kind: 'X', metadata: { name: 'x' }, spec: spec() });
    const made = object();
    strategy.prepareForCreate?.(made, without);
    expect(made['spec']).toEqual(left);
    const changed = object();
    strategy.prepareForUpdate?.(changed, made, without);
    expect(changed['spec']).toEqual(left);
    const kept = object();
    strategy.prepareForUpdate?.(kept, object(), without);
    expect(kept['spec']).toEqual(spec());
  });
});

import type { Node, PodSpec, Service } from 'kubenest/types/core_v1';
import type { AllocationResult, DeviceClass, ResourceSlice } from 'kubenest/types/resource_v1';
import { describe, expect, it } from 'vitest';
import { readConfiguration } from '#sdk/internal';
import { fitError } from '../fit-error.ts';
import type { Score } from '../framework/framework.ts';
import { podInfo } from '../framework/pod-info.ts';
import type { Profile } from '../profile.ts';
import { schedulePod } from '../scheduling-cycle.ts';
import { testCluster, testNode, testPod } from '../test-objects.ts';
import { compileConfiguration, type CompiledConfiguration } from './compile-configuration.ts';
import { SchedulerConfiguration } from './scheduler-configuration.ts';

const read = (configuration: object): CompiledConfiguration =>
  compileConfiguration(readConfiguration(SchedulerConfiguration, configuration, 'configuration'));
const names = (list: readonly { readonly name: string }[]): string[] => list.map(({ name }) => name);

const defaultFilters = names(read({}).profiles[0]?.filters ?? []);
const defaultScores = names(read({}).profiles[0]?.scores ?? []);

it('has the default profile without any', () => {
  const { profiles, backOff } = read({});
  expect(profiles).toMatchObject([{ schedulerName: 'default-scheduler', preempts: true }]);
  expect(defaultFilters).toHaveLength(13);
  expect(profiles[0]?.scores.map(({ name, weight }) => [name, weight])).toEqual([
    ['TaintToleration', 3],
    ['NodeAffinity', 2],
    ['NodeResourcesFit', 1],
    ['PodTopologySpread', 2],
    ['InterPodAffinity', 2],
    ['DynamicResources', 2],
    ['NodeResourcesBalancedAllocation', 1],
  ]);
  expect(backOff).toEqual({ initialMs: 1_000, maxMs: 10_000 });
});

describe('selects the plugins of a profile', () => {
  it.each([
    {
      name: 'a disabled score',
      plugins: { score: { disabled: [{ name: 'NodeResourcesFit' }] } },
      filters: defaultFilters,
      scores: defaultScores.filter((name) => name !== 'NodeResourcesFit'),
      preempts: true,
    },
    {
      name: 'a plugin disabled everywhere',
      plugins: { multiPoint: { disabled: [{ name: 'NodeAffinity' }, { name: 'DefaultPreemption' }] } },
      filters: defaultFilters.filter((name) => name !== 'NodeAffinity'),
      scores: defaultScores.filter((name) => name !== 'NodeAffinity'),
      preempts: false,
    },
    {
      name: 'all scores but one',
      plugins: { score: { disabled: [{ name: '*' }], enabled: [{ name: 'NodeResourcesFit', weight: 5 }] } },
      filters: defaultFilters,
      scores: ['NodeResourcesFit'],
      preempts: true,
    },
    {
      name: 'only what is enabled everywhere',
      plugins: { multiPoint: { disabled: [{ name: '*' }], enabled: [{ name: 'NodeName' }, { name: 'TaintToleration' }] } },
      filters: ['NodeName', 'TaintToleration'],
      scores: ['TaintToleration'],
      preempts: false,
    },
    {
      name: 'no preemption',
      plugins: { postFilter: { disabled: [{ name: 'DefaultPreemption' }] } },
      filters: defaultFilters,
      scores: defaultScores,
      preempts: false,
    },
  ])('$name', ({ plugins, filters, scores, preempts }) => {
    const [profile] = read({ profiles: [{ plugins }] }).profiles;
    expect(names(profile?.filters ?? [])).toEqual(filters);
    expect(names(profile?.scores ?? [])).toEqual(scores);
    expect(profile?.preempts).toBe(preempts);
  });

  it('weights', () => {
    const [profile] = read({ profiles: [{ plugins: { score: { enabled: [{ name: 'NodeAffinity', weight: 9 }] } } }] }).profiles;
    expect(profile?.scores[0]).toMatchObject({ name: 'NodeAffinity', weight: 9 });
  });
});

describe('refuses with all problems', () => {
  const profile = (more: object): object => ({ profiles: [more] });
  const argumentsOf = (name: string, args: object): object => profile({ pluginConfig: [{ name, args }] });
  const at = 'profiles[0].pluginConfig[0]';
  it.each([
    [{ extenders: [] }, ['configuration.extenders is unknown']],
    [{ profiles: [] }, ['profiles: at least one is required']],
    [
      { podInitialBackoffSeconds: 5, podMaxBackoffSeconds: 4 },
      ['podMaxBackoffSeconds: must be greater than or equal to podInitialBackoffSeconds'],
    ],
    [{ profiles: [{}, {}] }, ['profiles[1].schedulerName: "default-scheduler" is that of another profile']],
    [
      profile({ plugins: { score: { enabled: [{ name: 'ImageLocality' }], disabled: [{ name: 'PrioritySort' }] } } }),
      [
        'profiles[0].plugins.score.enabled: this scheduler has no plugin "ImageLocality"',
        'profiles[0].plugins.score.disabled: PrioritySort cannot be disabled',
      ],
    ],
    [profile({ plugins: { permit: {} } }), ['configuration.profiles[0].plugins.permit is unknown']],
    [argumentsOf('VolumeBinding', {}), [`${at}.name: this scheduler has no arguments of "VolumeBinding"`]],
    [
      argumentsOf('InterPodAffinity', { hardPodAffinityWeight: 101 }),
      [`${at}.args.hardPodAffinityWeight: hardPodAffinityWeight must not be greater than 100`],
    ],
    [
      argumentsOf('NodeResourcesFit', { ignoredResourceGroups: ['example.com/a'] }),
      [`${at}.args.ignoredResourceGroups: each of ignoredResourceGroups must be the part of a name before the slash`],
    ],
    [
      argumentsOf('NodeAffinity', {
        addedAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'In' }] }, { matchFields: [{ key: 'b', operator: 'Exists' }] }],
          },
        },
      }),
      [
        `${at}.args.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values: for 'in', 'notin' operators, values set can't be empty`,
        `${at}.args.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[1].matchFields[0].key: "b" is not a field of nodes that can be selected`,
      ],
    ],
    [
      argumentsOf('PodTopologySpread', {
        defaultConstraints: [
          { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' },
          { maxSkew: 2, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' },
        ],
      }),
      [
        `${at}.args.defaultConstraints[1]: duplicate value {zone, ScheduleAnyway}`,
        `${at}.args.defaultingType: must be List when defaultConstraints are not empty`,
      ],
    ],
    [
      argumentsOf('PodTopologySpread', {
        defaultingType: 'List',
        defaultConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: {} }],
      }),
      [`${at}.args.defaultConstraints[0].labelSelector is unknown`],
    ],
    [
      argumentsOf('NodeResourcesFit', { scoringStrategy: { type: 'RequestedToCapacityRatio' } }),
      [`${at}.args.scoringStrategy.requestedToCapacityRatio: must be specified when type is RequestedToCapacityRatio`],
    ],
    [
      argumentsOf('NodeResourcesFit', {
        scoringStrategy: {
          type: 'RequestedToCapacityRatio',
          requestedToCapacityRatio: { shape: [{ utilization: 50 }, { utilization: 50 }] },
        },
      }),
      [`${at}.args.scoringStrategy.requestedToCapacityRatio.shape[1].utilization: values must be sorted in increasing order`],
    ],
    [
      argumentsOf('NodeResourcesBalancedAllocation', { resources: [{ name: 'cpu', weight: 2 }] }),
      [`${at}.args.resources[0].weight: must be 1`],
    ],
  ])('%j', (configuration, problems) => {
    expect(() => read(configuration)).toThrow(expect.objectContaining({ problems }));
  });
});

/** The answers of kube-scheduler with the same arguments: nodes of pools a and b with 8 CPU, and of pool c, which the profile excludes. */
describe('schedules with the added affinity, without ignored resources, and by the default constraints', () => {
  const inPool = (...values: string[]): object => ({ matchExpressions: [{ key: 'pool', operator: 'In', values }] });
  const spread = (topologyKey: string, whenUnsatisfiable: string): object => ({ maxSkew: 1, topologyKey, whenUnsatisfiable });
  const [profile] = read({
    profiles: [
      {
        pluginConfig: [
          {
            name: 'NodeAffinity',
            args: {
              addedAffinity: {
                requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [inPool('a', 'b')] },
                preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, preference: inPool('b') }],
              },
            },
          },
          { name: 'NodeResourcesFit', args: { ignoredResources: ['example.com/x'], ignoredResourceGroups: ['ignored.example.com'] } },
          {
            name: 'PodTopologySpread',
            args: {
              defaultingType: 'List',
              defaultConstraints: [spread('pool', 'DoNotSchedule'), spread('kubernetes.io/hostname', 'ScheduleAnyway')],
            },
          },
        ],
      },
    ],
  }).profiles as [Profile];
  const node = (name: string): Node => testNode(name, { labels: { pool: name.charAt(0) }, allocatable: { cpu: '8' } });
  const selected = { app: 'x' };
  const service: Service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 's', namespace: 'default' },
    spec: { selector: selected },
  };
  const requesting = (resource: string, amount = '1'): PodSpec => ({
    containers: [{ name: 'c', image: 'i', resources: { requests: { [resource]: amount } } }],
  });
  const enforced = "1 node(s) didn't match scheduler-enforced node affinity";
  it.each<{ name: string; spec?: PodSpec; present?: string[]; want: string }>([
    { name: 'the preferred pool', want: 'pool b' },
    { name: 'the pool with fewer pods of the service', present: ['b-1'], want: 'pool a' },
    {
      name: 'no node once pool c would have two pods fewer',
      present: ['a-1', 'b-1'],
      want: `0/5 nodes are available: ${enforced}, 4 node(s) didn't match pod topology spread constraints.`,
    },
    { name: 'an ignored resource', spec: requesting('example.com/x'), want: 'pool b' },
    { name: 'a resource of an ignored group', spec: requesting('ignored.example.com/y'), want: 'pool b' },
    {
      name: 'another resource',
      spec: requesting('example.com/z'),
      want: `0/5 nodes are available: ${enforced}, 4 Insufficient example.com/z.`,
    },
    { name: 'much CPU', spec: requesting('cpu', '50'), want: `0/5 nodes are available: ${enforced}, 4 Insufficient cpu.` },
    {
      name: 'the excluded pool',
      spec: { ...requesting('cpu'), nodeSelector: { pool: 'c' } },
      want: `0/5 nodes are available: ${enforced}, 4 node(s) didn't match Pod's node affinity/selector.`,
    },
  ])('$name', ({ spec, present = [], want }) => {
    const others = present.map((nodeName) => testPod(`on-${nodeName}`, { labels: selected, spec: { ...requesting('cpu'), nodeName } }));
    const cluster = testCluster(['a-1', 'a-2', 'b-1', 'b-2', 'c-1'].map(node), others, { services: [service] });
    const pod = podInfo(testPod('p', { ...(spec ? { spec } : { labels: selected }) }));
    const result = schedulePod(pod, cluster, profile.filters, profile.scores, cluster, () => 0);
    expect('node' in result ? `pool ${result.node.name.charAt(0)}` : fitError(5, result.diagnosis)).toBe(want);
  });
});

/** Amounts of upstream's tests: nodes with 4 CPU and 10,000 memory, or 6 CPU; a pod with 3 CPU and 5,000 memory. */
describe('scores nodes by the strategy', () => {
  const nodes = [
    testNode('a', { allocatable: { cpu: '4', memory: '10000' } }),
    testNode('b', { allocatable: { cpu: '6', memory: '10000' } }),
  ];
  const scoresOf = (strategy: object, pod: { cpu?: string; memory?: string }): number[] => {
    const profiles = [{ pluginConfig: [{ name: 'NodeResourcesFit', args: { scoringStrategy: strategy } }] }];
    const score = read({ profiles }).profiles[0]?.scores.find(({ name }) => name === 'NodeResourcesFit') as Score<unknown>;
    const cluster = testCluster(nodes);
    const info = podInfo(testPod('p', pod));
    return cluster.nodes.map((node) =>
      score.score(
        score.prepare(info, cluster, cluster.nodes, () => undefined),
        info,
        node,
      ),
    );
  };
  const shape = (...points: [number, number][]): object => ({
    type: 'RequestedToCapacityRatio',
    requestedToCapacityRatio: { shape: points.map(([utilization, score]) => ({ utilization, score })) },
  });
  it.each([
    { name: 'least allocated', strategy: { type: 'LeastAllocated' }, scores: [37, 50] },
    { name: 'most allocated', strategy: { type: 'MostAllocated' }, scores: [62, 50] },
    {
      name: 'most allocated by weights',
      strategy: {
        type: 'MostAllocated',
        resources: [
          { name: 'cpu', weight: 3 },
          { name: 'memory', weight: 1 },
        ],
      },
      scores: [68, 50],
    },
    { name: 'ratio that favours empty nodes', strategy: shape([0, 10], [100, 0]), scores: [38, 50] },
    { name: 'ratio with a step', strategy: shape([0, 0], [50, 10], [100, 0]), scores: [75, 100] },
  ])('$name', ({ strategy, scores }) => {
    expect(scoresOf(strategy, { cpu: '3', memory: '5000' })).toEqual(scores);
  });

  it('leaves out extended resources that the pod does not request', () => {
    const resources = [
      { name: 'cpu', weight: 1 },
      { name: 'example.com/gpu', weight: 10 },
    ];
    expect(scoresOf({ type: 'MostAllocated', resources }, { cpu: '3', memory: '5000' })).toEqual([75, 50]);
  });
});

describe('scores nodes by devices that back an extended resource', () => {
  const resource = 'example.com/gpu';
  const device = (name: string, kind = 'gpu'): object => ({ name, attributes: { kind: { string: kind } } });
  const slice = (name: string, spec: object): ResourceSlice =>
    ({ metadata: { name }, spec: { driver: 'd', pool: { name, generation: 1, resourceSliceCount: 1 }, ...spec } }) as ResourceSlice;
  const slices = [
    slice('a', { nodeName: 'a', devices: [device('0'), device('1'), device('2', 'nic'), device('3'), device('4')] }),
    slice('b', { nodeName: 'b', devices: [device('0'), device('1')] }),
    slice('each', {
      perDeviceNodeSelection: true,
      devices: [
        { ...device('0'), nodeName: 'b' },
        { ...device('1'), nodeName: 'a', attributes: {} },
      ],
    }),
  ];
  const deviceClass = (expression: string): DeviceClass =>
    ({ metadata: { name: 'gpu' }, spec: { extendedResourceName: resource, selectors: [{ cel: { expression } }] } }) as DeviceClass;
  const isGpu = 'device.attributes["d"].?kind.orValue("") == "gpu"';
  const scoresOf = (plugin: string, args: object, expression = isGpu, allocatable = {}): number[] => {
    const profile = read({ profiles: [{ pluginConfig: [{ name: plugin, args }] }] }).profiles[0];
    const score = profile?.scores.find(({ name }) => name === plugin) as Score<unknown>;
    const nodes = ['a', 'b', 'c'].map((name) => testNode(name, { allocatable: name === 'c' ? allocatable : {} }));
    const cluster = testCluster(nodes, [], { resourceSlices: slices, deviceClasses: [deviceClass(expression)] });
    const results = [{ driver: 'd', pool: 'a', device: '0' }];
    cluster.resourceClaims.ledger.set('claim', { devices: { results } } as AllocationResult);
    const limits = { [resource]: '1' };
    const spec = { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '1', ...limits }, limits } }] };
    const info = podInfo(testPod('p', { spec }));
    const state = score.prepare(info, cluster, cluster.nodes, () => undefined);
    return cluster.nodes.map((node) => score.score(state, info, node));
  };
  const strategy = (type: string): object => ({ scoringStrategy: { type, resources: [{ name: resource, weight: 1 }] } });

  it.each([
    // Node a has 4 of the class, one of them taken; node b has 3.
    { name: 'least allocated', plugin: 'NodeResourcesFit', args: strategy('LeastAllocated'), scores: [50, 66, 0] },
    { name: 'most allocated', plugin: 'NodeResourcesFit', args: strategy('MostAllocated'), scores: [50, 33, 0] },
    {
      // Node b: shares of 1/4 and 1/3 deviate by 4 %, and those without the pod by nothing. Node a: by 12.5 % both times.
      name: 'balanced',
      plugin: 'NodeResourcesBalancedAllocation',
      args: {
        resources: [
          { name: 'cpu', weight: 1 },
          { name: resource, weight: 1 },
        ],
      },
      scores: [75, 72, 75],
    },
  ])('$name', ({ plugin, args, scores }) => {
    expect(scoresOf(plugin, args)).toEqual(scores);
  });

  it('not if the node has the resource itself', () => {
    expect(scoresOf('NodeResourcesFit', strategy('LeastAllocated'), isGpu, { [resource]: '10' })).toEqual([50, 66, 90]);
  });

  it('not if a selector of the class fails', () => {
    expect(scoresOf('NodeResourcesFit', strategy('LeastAllocated'), 'device.attributes["d"].kind == "gpu"')).toEqual([0, 66, 0]);
  });
});

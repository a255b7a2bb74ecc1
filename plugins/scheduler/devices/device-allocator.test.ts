import type {
  AllocationResult,
  Device,
  DeviceClass,
  DeviceClaim,
  DeviceRequest,
  ExactDeviceRequest,
  ResourceClaim,
  ResourceSlice,
  ResourceSliceSpec,
} from 'kubenest/types/resource_v1';
import { expect, it } from 'vitest';
import { testNode } from '../test-objects.ts';
import { AllocationError } from './allocation-error.ts';
import { DeviceAllocator, RecentAllocators } from './device-allocator.ts';
import { DeviceLedger } from './device-ledger.ts';

const driver = 'gpu.example.com';
const node = testNode('a', { labels: { zone: 'z' } });
const slice = (devices: Device[], more: ResourceSliceSpec & { name?: string; count?: number; generation?: number } = {}): ResourceSlice => {
  const { name = 's', count = 1, generation = 1, ...spec } = more;
  const pool = { name: 'p', generation, resourceSliceCount: count };
  const isLocal = spec.nodeSelector === undefined && !spec.allNodes && !spec.perDeviceNodeSelection;
  return {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceSlice',
    metadata: { name },
    spec: { driver, pool, devices, ...(isLocal && { nodeName: 'a' }), ...spec },
  };
};
const deviceClass = (name: string, spec: DeviceClass['spec'] = {}): DeviceClass => ({
  apiVersion: 'resource.k8s.io/v1',
  kind: 'DeviceClass',
  metadata: { name },
  spec,
});
const request = (name: string, more: ExactDeviceRequest = {}): DeviceRequest => ({ name, exactly: { deviceClassName: 'gpu', ...more } });
const claim = (devices: DeviceClaim, name = 'c'): ResourceClaim => ({
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceClaim',
  metadata: { namespace: 'ns', name },
  spec: { devices },
});
const selector = (expression: string): ExactDeviceRequest => ({ selectors: [{ cel: { expression } }] });
const size = (name: string, value: number): Device => ({ name, attributes: { size: { int: value } } });
const named = (...names: string[]): Device[] => names.map((name) => ({ name }));
const results = (...allocated: { device: string; shareID?: string; consumedCapacity?: Record<string, string> }[]): AllocationResult => ({
  devices: { results: allocated.map((one) => ({ driver, pool: 'p', ...one })) },
});

interface Situation {
  readonly slices: ResourceSlice[];
  readonly claims: DeviceClaim[];
  readonly taken?: AllocationResult;
}

interface Case extends Situation {
  readonly name: string;
  /** `request=device` of each claim, or a reason. */
  readonly want: string[] | string;
}

function allocate({ slices, claims, taken }: Situation): ReturnType<DeviceAllocator['allocate']> {
  const ledger = new DeviceLedger();
  ledger.set('other', taken);
  const classes = [deviceClass('gpu'), deviceClass('big', selector("device.attributes['gpu.example.com'].size > 1"))];
  const classOf = (name: string): DeviceClass | undefined => classes.find(({ metadata }) => metadata.name === name);
  const allClaims = claims.map((devices, i) => claim(devices, `c${i}`));
  return new DeviceAllocator(ledger, classOf, slices, allClaims).allocate(node);
}

function textOf(test: Situation): string[] | string {
  try {
    const found = allocate(test);
    if (typeof found === 'string') return found;
    return found.map(({ devices }) => (devices?.results ?? []).map((one) => `${one.request}=${one.device}`).join(' '));
  } catch (error) {
    if (!(error instanceof AllocationError)) throw error;
    return `error: ${error.message}`;
  }
}

const none = 'cannot allocate all claims';
const part = (name: string, memory: string): Device => ({
  name,
  consumesCounters: [{ counterSet: 'gpu', counters: { memory: { value: memory } } }],
});
const counters = slice([], { name: 'counters', count: 2, sharedCounters: [{ name: 'gpu', counters: { memory: { value: '40Gi' } } }] });
const parts = slice([part('half-1', '20Gi'), part('half-2', '20Gi'), part('whole', '40Gi')], { count: 2 });
const shared: Device = {
  name: 'a',
  allowMultipleAllocations: true,
  capacity: { memory: { value: '8Gi', requestPolicy: { default: '1Gi', validRange: { min: '1Gi', step: '1Gi' } } } },
};
const memory = (amount: string): ExactDeviceRequest => ({ capacity: { requests: { memory: amount } } });
const tainted: Device = { name: 'a', taints: [{ key: 'k', effect: 'NoExecute' }] };

it.each<Case>([
  { name: 'takes the first device', slices: [slice(named('a', 'b'))], claims: [{ requests: [request('r')] }], want: ['r=a'] },
  {
    name: 'takes no device twice',
    slices: [slice(named('a', 'b'))],
    claims: [{ requests: [request('r')] }, { requests: [request('r')] }],
    want: ['r=a', 'r=b'],
  },
  {
    name: 'leaves devices of other claims alone',
    slices: [slice(named('a', 'b'))],
    claims: [{ requests: [request('r')] }],
    taken: results({ device: 'a' }),
    want: ['r=b'],
  },
  {
    name: 'goes back when the first choice leads nowhere',
    slices: [slice([size('a', 2), size('b', 1)])],
    claims: [{ requests: [request('r'), request('s', { deviceClassName: 'big' })] }],
    want: ['r=b s=a'],
  },
  { name: 'finds nothing', slices: [slice(named('a'))], claims: [{ requests: [request('r', { count: 2 })] }], want: none },
  {
    name: 'takes all devices',
    slices: [slice(named('a', 'b'))],
    claims: [{ requests: [request('r', { allocationMode: 'All' })] }],
    want: ['r=a r=b'],
  },
  {
    name: 'does not take all devices if one is taken',
    slices: [slice(named('a', 'b'))],
    claims: [{ requests: [request('r', { allocationMode: 'All' })] }],
    taken: results({ device: 'b' }),
    want: none,
  },
  {
    name: 'needs one device for all',
    slices: [slice([])],
    claims: [{ requests: [request('r', { allocationMode: 'All' })] }],
    want: none,
  },
  {
    name: 'refuses more devices than a claim may have',
    slices: [slice(named('a'))],
    claims: [{ requests: [request('r', { count: 33 })] }],
    want: 'error: claim ns/c0: number of requested devices 33 exceeds the claim limit of 32',
  },
  {
    name: 'prefers the first available alternative',
    slices: [slice([size('a', 1)])],
    claims: [
      {
        requests: [
          {
            name: 'r',
            firstAvailable: [
              { name: 'big', deviceClassName: 'big' },
              { name: 'any', deviceClassName: 'gpu' },
            ],
          },
        ],
      },
    ],
    want: ['r/any=a'],
  },
  {
    name: 'selects by attributes',
    slices: [slice([size('a', 1), size('b', 2)])],
    claims: [{ requests: [request('r', selector("device.attributes['gpu.example.com'].size == 2"))] }],
    want: ['r=b'],
  },
  {
    name: 'finds no attribute in an unknown domain',
    slices: [slice([size('a', 1)])],
    claims: [{ requests: [request('r', selector("'size' in device.attributes['other.example.com']"))] }],
    want: none,
  },
  {
    name: 'selects by version and capacity',
    slices: [slice([{ name: 'a', attributes: { v: { version: '1.2.3' } }, capacity: { memory: { value: '8Gi' } } }])],
    claims: [
      {
        requests: [
          request(
            'r',
            selector(
              "device.attributes[device.driver].v.isGreaterThan(semver('1.0.0')) && device.capacity[device.driver].memory.compareTo(quantity('8Gi')) == 0",
            ),
          ),
        ],
      },
    ],
    want: ['r=a'],
  },
  {
    name: 'reports a selector that fails',
    slices: [slice(named('a'))],
    claims: [{ requests: [request('r', selector('device.attributes[device.driver].size == 2'))] }],
    want: 'error: claim ns/c0: selector #0: CEL runtime error: no such key: size',
  },
  {
    name: 'chooses devices with an equal attribute',
    slices: [slice([size('a', 1), size('b', 2), size('c', 2)])],
    claims: [{ requests: [request('r', { count: 2 })], constraints: [{ matchAttribute: 'gpu.example.com/size' }] }],
    want: ['r=b r=c'],
  },
  {
    name: 'chooses devices with different attributes',
    slices: [slice([size('a', 1), size('b', 1), size('c', 2)])],
    claims: [{ requests: [request('r', { count: 2 })], constraints: [{ distinctAttribute: 'gpu.example.com/size' }] }],
    want: ['r=a r=c'],
  },
  {
    name: 'applies a constraint to its requests only',
    slices: [slice([size('a', 1), size('b', 2), { name: 'c' }])],
    claims: [
      { requests: [request('r'), request('s'), request('t')], constraints: [{ matchAttribute: 'gpu.example.com/size', requests: ['r'] }] },
    ],
    want: ['r=a s=b t=c'],
  },
  {
    name: 'gives admin access to a taken device',
    slices: [slice(named('a'))],
    claims: [{ requests: [request('r', { adminAccess: true })] }],
    taken: results({ device: 'a' }),
    want: ['r=a'],
  },
  {
    name: 'gives a claim admin access to a device once',
    slices: [slice(named('a'))],
    claims: [{ requests: [request('r', { adminAccess: true, count: 2 })] }],
    want: none,
  },
  {
    name: 'gives partitions as long as their counters suffice',
    slices: [counters, parts],
    claims: [{ requests: [request('r', { count: 2 })] }],
    want: ['r=half-1 r=half-2'],
  },
  {
    name: 'counts the partitions of other claims',
    slices: [counters, parts],
    claims: [{ requests: [request('r', { count: 2 })] }],
    taken: results({ device: 'half-1' }),
    want: none,
  },
  {
    name: 'refuses a pool whose device consumes an unknown counter',
    slices: [slice([part('a', '1Gi')])],
    claims: [{ requests: [request('r')] }],
    want: 'invalid resource pools were encountered',
  },
  {
    name: 'refuses a pool with two devices of one name',
    slices: [slice(named('a', 'a'))],
    claims: [{ requests: [request('r')] }],
    want: 'invalid resource pools were encountered',
  },
  {
    name: 'shares the capacity of a device',
    slices: [slice([shared])],
    claims: [{ requests: [request('r', memory('3500Mi'))] }, { requests: [request('r', memory('4Gi'))] }],
    want: ['r=a', 'r=a'],
  },
  {
    name: 'counts the shares of other claims',
    slices: [slice([shared])],
    claims: [{ requests: [request('r', memory('4Gi'))] }],
    taken: results({ device: 'a', shareID: 'x', consumedCapacity: { memory: '5Gi' } }),
    want: none,
  },
  {
    name: 'refuses a capacity that the device does not have',
    slices: [slice(named('a'))],
    claims: [{ requests: [request('r', memory('1Gi'))] }],
    want: none,
  },
  { name: 'avoids tainted devices', slices: [slice([tainted, { name: 'b' }])], claims: [{ requests: [request('r')] }], want: ['r=b'] },
  {
    name: 'takes a tainted device that is tolerated',
    slices: [slice([tainted])],
    claims: [{ requests: [request('r', { tolerations: [{ key: 'k', operator: 'Exists' }] })] }],
    want: ['r=a'],
  },
  {
    name: 'ignores slices of an older generation',
    slices: [slice(named('old'), { name: 'old' }), slice(named('new'), { generation: 2 })],
    claims: [{ requests: [request('r')] }],
    want: ['r=new'],
  },
  { name: 'waits for the slices of a pool', slices: [slice(named('a'), { count: 2 })], claims: [{ requests: [request('r')] }], want: none },
  {
    name: 'cannot take all devices of an incomplete pool',
    slices: [slice(named('a'), { count: 2 })],
    claims: [{ requests: [request('r', { allocationMode: 'All' })] }],
    want: 'error: claim ns/c0, request r: asks for all devices, but resource pool gpu.example.com/p is currently being updated',
  },
  {
    name: 'takes devices that are for the node',
    slices: [
      slice(
        [
          { name: 'a', nodeName: 'b' },
          { name: 'b', allNodes: true },
        ],
        { perDeviceNodeSelection: true },
      ),
    ],
    claims: [{ requests: [request('r')] }],
    want: ['r=b'],
  },
  {
    name: 'uses slices that select the node',
    slices: [
      slice(named('a'), { nodeSelector: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['z'] }] }] } }),
    ],
    claims: [{ requests: [request('r')] }],
    want: ['r=a'],
  },
])('$name', (test) => {
  expect(textOf(test)).toEqual(test.want);
});

it('binds an allocation to the nodes of its devices', () => {
  const zone = { key: 'zone', operator: 'In', values: ['z'] };
  const nodeSelector = { nodeSelectorTerms: [{ matchExpressions: [zone] }] };
  const selected = (slices: ResourceSlice[]): unknown => {
    const found = allocate({ slices, claims: [{ requests: [request('r')] }] });
    return typeof found === 'string' ? found : found[0]?.nodeSelector;
  };
  expect(selected([slice(named('a'))])).toEqual({
    nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a'] }] }],
  });
  expect(selected([slice(named('a'), { nodeSelector })])).toEqual(nodeSelector);
  expect(selected([slice(named('a'), { allNodes: true })])).toBeUndefined();
});

it('rounds the capacity of a share up', () => {
  const found = allocate({ slices: [slice([shared])], claims: [{ requests: [request('r', memory('2560Mi'))] }] });
  expect(found).toMatchObject([{ devices: { results: [{ consumedCapacity: { memory: '3Gi' }, shareID: expect.any(String) }] } }]);
});

const forty = slice(Array.from({ length: 40 }, (_, i) => ({ name: `d${i}` })));
const hopeless: DeviceClaim = { requests: [request('any', { count: 20 }), request('none', selector('false'))] };

it('a search with more combinations than time ends', () => {
  const { user: before } = process.threadCpuUsage();
  expect(textOf({ slices: [forty], claims: [hopeless] })).toBe('error: node a: timed out trying to allocate devices');
  expect((process.threadCpuUsage().user - before) / 1_000).toBeLessThan(200);
});

it('an attempt that continues in another turn searches no node twice, unless something changed', () => {
  const ledger = new DeviceLedger();
  const recent = new RecentAllocators();
  const claims = [claim({ requests: [request('one')] })];
  const gpu = deviceClass('gpu');
  const allocator = (): DeviceAllocator => recent.get(ledger, () => gpu, [forty], claims);
  const first = allocator();
  const allocated = first.allocate(node);
  expect(allocator()).toBe(first);
  expect(allocator().allocate(node)).toBe(allocated);
  expect(recent.get(ledger, () => gpu, [{ ...forty }], claims)).not.toBe(first);
  expect(recent.get(ledger, () => deviceClass('gpu'), [forty], claims)).not.toBe(first);
  ledger.set('other', results({ device: 'd0' }));
  expect(allocator()).not.toBe(first);
  expect(allocator().allocate(node)).not.toEqual(allocated);
});

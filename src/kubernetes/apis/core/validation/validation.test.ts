import { describe, expect, it } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import type { StrategyContext } from '#apiserver/registry/resource-definition';
import configmaps from '#kubernetes/apis/core/v1/configmaps';
import endpoints from '#kubernetes/apis/core/v1/endpoints';
import limitranges from '#kubernetes/apis/core/v1/limitranges';
import nodes from '#kubernetes/apis/core/v1/nodes';
import persistentvolumeclaims from '#kubernetes/apis/core/v1/persistentvolumeclaims';
import persistentvolumes from '#kubernetes/apis/core/v1/persistentvolumes';
import pods from '#kubernetes/apis/core/v1/pods';
import replicationcontrollers from '#kubernetes/apis/core/v1/replicationcontrollers';
import resourcequotas from '#kubernetes/apis/core/v1/resourcequotas';
import secrets from '#kubernetes/apis/core/v1/secrets';
import services from '#kubernetes/apis/core/v1/services';

const definitions = {
  configmaps,
  endpoints,
  limitranges,
  nodes,
  persistentvolumeclaims,
  persistentvolumes,
  pods,
  replicationcontrollers,
  resourcequotas,
  secrets,
  services,
};
type Resource = keyof typeof definitions;

const context: StrategyContext = {
  namespace: 'n',
  user: { name: 'u', groups: [] } as unknown as StrategyContext['user'],
  dryRun: false,
  now: '2026-01-02T03:04:05Z',
};

const minimal: Record<Resource, object> = {
  configmaps: {},
  secrets: {},
  endpoints: {},
  nodes: {},
  limitranges: { spec: { limits: [] } },
  resourcequotas: { spec: { hard: { pods: '1' } } },
  persistentvolumeclaims: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
  persistentvolumes: { spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/tmp/x' } } },
  pods: { spec: { containers: [{ name: 'c', image: 'i' }] } },
  replicationcontrollers: {
    spec: { selector: { app: 'x' }, template: { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'c', image: 'i' }] } } },
  },
  services: { spec: { ports: [{ port: 80 }] } },
};

/** Merges objects recursively, replaces everything else; null removes a member. */
function merge(base: unknown, patch: unknown): unknown {
  if (patch === null || typeof patch !== 'object' || Array.isArray(patch) || typeof base !== 'object' || base === null) return patch;
  const result: Record<string, unknown> = { ...(base as object) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merge(result[key], value);
  }
  return result;
}

function make(resource: Resource, patch: object = {}): KubeObject {
  const object = merge(
    {
      apiVersion: 'v1',
      kind: 'X',
      metadata: { name: 'x', namespace: 'n', uid: 'u', resourceVersion: '1' },
      ...structuredClone(minimal[resource]),
    },
    structuredClone(patch),
  ) as KubeObject;
  if (!definitions[resource].namespaced) delete object.metadata.namespace;
  definitions[resource].defaults?.(object as never);
  return object;
}

const created = (resource: Resource, patch: object) =>
  (definitions[resource].strategy.validate?.(make(resource, patch) as never, context) ?? []).map(String);
const updated = (resource: Resource, patch: object, old: object = {}) =>
  (
    definitions[resource].strategy.validateUpdate?.(
      make(resource, merge(old, patch) as object) as never,
      make(resource, old) as never,
      context,
    ) ?? []
  ).map(String);
const container = (given: object) => ({ spec: { containers: [{ name: 'c', image: 'i', ...given }] } });
const at = (path: string, message: string) => [`spec.containers[0].${path}: ${message}`];

describe('minimal objects', () => {
  it.each(Object.keys(minimal) as Resource[])('accepts minimal %s, on create and on an unchanged update', (resource) => {
    expect(created(resource, {})).toEqual([]);
    expect(updated(resource, {})).toEqual([]);
  });
});

describe('pods', () => {
  it.each([
    { name: 'no containers', given: { spec: { containers: [] } }, want: ['spec.containers: Required value'] },
    {
      name: 'duplicate names',
      given: {
        spec: {
          containers: [
            { name: 'c', image: 'i' },
            { name: 'c', image: 'i' },
          ],
        },
      },
      want: ['spec.containers[1].name: Duplicate value: "c"'],
    },
    {
      name: 'a port out of range',
      given: container({ ports: [{ containerPort: 70000 }] }),
      want: at('ports[0].containerPort', 'Invalid value: 70000: must be between 1 and 65535, inclusive'),
    },
    {
      name: 'a repeated host port',
      given: container({
        ports: [
          { containerPort: 1, hostPort: 5 },
          { containerPort: 2, hostPort: 5 },
        ],
      }),
      want: at('ports[1].hostPort', 'Duplicate value: "TCP//5"'),
    },
    {
      name: 'a request above its limit',
      given: container({ resources: { limits: { cpu: '1' }, requests: { cpu: '2' } } }),
      want: at('resources.requests', 'Invalid value: "2": must be less than or equal to cpu limit of 1'),
    },
    {
      name: 'an unknown resource',
      given: container({ resources: { requests: { foo: '1' } } }),
      want: [
        ...at('resources.requests[foo]', 'Invalid value: "foo": must be a standard resource type or fully qualified'),
        ...at('resources.requests[foo]', 'Invalid value: "foo": must be a standard resource for containers'),
      ],
    },
    {
      name: 'huge pages alone',
      given: container({ resources: { limits: { 'hugepages-2Mi': '3Mi' } } }),
      want: [
        ...at('resources.limits[hugepages-2Mi]', 'Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi'),
        ...at('resources.requests[hugepages-2Mi]', 'Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi'),
        ...at('resources', 'Forbidden: HugePages require cpu or memory'),
      ],
    },
    {
      name: 'a mount of an unknown volume',
      given: container({ volumeMounts: [{ name: 'v', mountPath: '/a' }] }),
      want: at('volumeMounts[0].name', 'Not found: "v"'),
    },
    {
      name: 'two handlers',
      given: container({ livenessProbe: { exec: { command: ['a'] }, tcpSocket: { port: 1 } } }),
      want: at('livenessProbe.tcpSocket', 'Forbidden: may not specify more than 1 handler type'),
    },
    {
      name: 'a privileged container',
      given: container({ securityContext: { privileged: true } }),
      want: at('securityContext.privileged', 'Forbidden: disallowed by cluster policy'),
    },
    {
      name: 'conflicting seccomp profiles',
      given: { spec: { securityContext: { seccompProfile: { type: 'RuntimeDefault', localhostProfile: 'x' } } } },
      want: [
        'spec.securityContext.seccompProfile.localhostProfile: Invalid value: {"Type":"RuntimeDefault","LocalhostProfile":"x"}: can only be set when seccomp type is Localhost',
      ],
    },
    {
      name: 'two sources of a volume',
      given: { spec: { volumes: [{ name: 'v', emptyDir: {}, hostPath: { path: '/a' } }] } },
      want: ['spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type'],
    },
    {
      name: 'a path that leaves the volume',
      given: { spec: { volumes: [{ name: 'v', configMap: { name: 'm', items: [{ key: 'a', path: '../b' }] } }] } },
      want: ['spec.volumes[0].configMap.items[0].path: Invalid value: "../b": must not contain \'..\''],
    },
    {
      name: 'a restart policy',
      given: { spec: { restartPolicy: 'X' } },
      want: ['spec.restartPolicy: Unsupported value: "X": supported values: "Always", "OnFailure", "Never"'],
    },
    {
      name: 'a repeated spread constraint',
      given: {
        spec: { topologySpreadConstraints: [1, 2].map((maxSkew) => ({ maxSkew, topologyKey: 'a', whenUnsatisfiable: 'DoNotSchedule' })) },
      },
      want: ['spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{a, DoNotSchedule}"'],
    },
    {
      name: 'a toleration without a key',
      given: { spec: { tolerations: [{ effect: 'NoExecute' }] } },
      want: [
        'spec.tolerations[0].operator: Invalid value: "": operator must be Exists when `key` is empty, which means "match all values and all keys"',
      ],
    },
    {
      name: 'empty restart rules without a restart policy',
      given: { spec: { initContainers: [{ name: 'e', image: 'i', restartPolicyRules: [] }] } },
      want: [],
    },
    {
      name: 'an ephemeral container',
      given: { spec: { ephemeralContainers: [{ name: 'e', image: 'i' }] } },
      want: ['spec.ephemeralContainers: Forbidden: cannot be set on create'],
    },
    {
      name: 'a mirror pod without a node',
      given: { metadata: { annotations: { 'kubernetes.io/config.mirror': 'a' } } },
      want: [
        'metadata.annotations[kubernetes.io/config.mirror]: Invalid value: "a": must set spec.nodeName if mirror pod annotation is set',
      ],
    },
    {
      name: 'a Windows pod with a user',
      given: { spec: { os: { name: 'windows' }, securityContext: { runAsUser: 1 } } },
      want: ['spec.securityContext.runAsUser: Forbidden: cannot be set for a windows pod'],
    },
  ])('$name', ({ given, want }) => {
    expect(created('pods', given)).toEqual(want);
  });

  it('rejects changes of immutable fields and shows the diff', () => {
    expect(updated('pods', container({ image: 'other' }))).toEqual([]);
    const [message] = updated('pods', container({ workingDir: '/a' }));
    expect(message).toMatch(/^spec: Forbidden: pod updates may not change fields other than .*\n@@ -\d+,7 \+\d+,7 @@\n/);
    expect(message).toContain('\n-   "WorkingDir": "",\n+   "WorkingDir": "/a",\n');
  });

  it.each([
    {
      name: 'more tolerations',
      old: { spec: { tolerations: [{ key: 'a', operator: 'Exists' }] } },
      given: {
        spec: {
          tolerations: [
            { key: 'b', operator: 'Exists' },
            { key: 'a', operator: 'Exists' },
          ],
        },
      },
      want: [],
    },
    {
      name: 'another toleration',
      old: { spec: { tolerations: [{ key: 'a', operator: 'Exists' }] } },
      given: { spec: { tolerations: [{ key: 'b', operator: 'Exists' }] } },
      want: ['spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds'],
    },
    {
      name: 'a later deadline',
      old: { spec: { activeDeadlineSeconds: 5 } },
      given: { spec: { activeDeadlineSeconds: 6 } },
      want: ['spec.activeDeadlineSeconds: Invalid value: 6: must be less than or equal to previous value'],
    },
    {
      name: 'an additional container',
      old: {},
      given: {
        spec: {
          containers: [
            { name: 'c', image: 'i' },
            { name: 'd', image: 'i' },
          ],
        },
      },
      want: ['spec.containers: Forbidden: pod updates may not add or remove containers'],
    },
    {
      name: 'a gated pod that becomes narrower',
      old: { spec: { schedulingGates: [{ name: 'a/b' }] } },
      given: { spec: { nodeSelector: { a: 'b' } } },
      want: [],
    },
    {
      name: 'an additional scheduling gate',
      old: { spec: { schedulingGates: [{ name: 'a/b' }] } },
      given: { spec: { schedulingGates: [{ name: 'a/c' }] } },
      want: ["spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'a/c'"],
    },
  ])('update: $name', ({ old, given, want }) => {
    expect(updated('pods', given, old)).toEqual(want);
  });

  it.each([
    {
      name: 'a resize',
      sub: 'resize',
      old: container({ resources: { requests: { cpu: '1' } } }),
      given: container({ resources: { requests: { cpu: '2' } } }),
      want: [],
    },
    {
      name: 'a resize that changes more than cpu and memory',
      sub: 'resize',
      old: container({ resources: { requests: { cpu: '1' } } }),
      given: container({ image: 'j', resources: { requests: { cpu: '2' } } }),
      want: ['spec: Forbidden: only cpu and memory resources are mutable'],
    },
    {
      name: 'a resize that changes the QoS class',
      sub: 'resize',
      old: {},
      given: container({ resources: { requests: { cpu: '2' } } }),
      want: ['spec: Invalid value: "": Pod QOS Class may not change as a result of resizing'],
    },
    {
      name: 'a resurrection',
      sub: 'status',
      old: { spec: { restartPolicy: 'Never' }, status: { containerStatuses: [{ name: 'c', state: { terminated: { exitCode: 0 } } }] } },
      given: { status: { containerStatuses: [{ name: 'c', state: { running: {} } }] } },
      want: ['status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state'],
    },
    {
      name: 'a changed ephemeral container',
      sub: 'ephemeralcontainers',
      old: {},
      given: { spec: { ephemeralContainers: [{ name: 'c', image: 'i', ports: [{ containerPort: 1 }] }] } },
      want: [
        'spec.ephemeralContainers[0].name: Duplicate value: "c"',
        'spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container',
      ],
    },
  ])('$sub: $name', ({ sub, old, given, want }) => {
    const subresource = pods.subresources[sub];
    const strategy = subresource && 'strategy' in subresource ? subresource.strategy : undefined;
    const errors = strategy?.validateUpdate?.(make('pods', merge(old, given) as object) as never, make('pods', old) as never, context);
    expect(errors?.map(String)).toEqual(want);
  });

  it.each([
    {
      given: { metadata: { name: 'a.b' } },
      want: [
        "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]",
      ],
    },
    {
      given: container({
        env: [
          { name: 'a', value: '1' },
          { name: 'a', value: '2' },
          { name: 'a', value: '$(a)3' },
        ],
      }),
      want: ['spec.containers[0].env[1]: hides previous definition of "a", which may be dropped when using apply'],
    },
    {
      given: container({
        ports: [
          { containerPort: 1, name: 'a' },
          { containerPort: 1, name: 'b' },
        ],
      }),
      want: ['spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]'],
    },
    {
      given: container({ resources: { limits: { memory: '1m' } } }),
      want: [
        'spec.containers[0].resources.limits[memory]: fractional byte value "1m" is invalid, must be an integer',
        'spec.containers[0].resources.requests[memory]: fractional byte value "1m" is invalid, must be an integer',
      ],
    },
    {
      given: { spec: { nodeSelector: { 'beta.kubernetes.io/os': 'a' } } },
      want: ['spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead'],
    },
    {
      given: {
        spec: {
          volumes: [
            {
              name: 'v',
              secret: {
                secretName: 's',
                items: [
                  { key: 'a', path: 'x' },
                  { key: 'b', path: 'x/y' },
                ],
              },
            },
          ],
        },
      },
      want: ['volume "v" (Secret "s"): overlapping paths: "x/y" with "x"'],
    },
  ])('warns about $given', ({ given, want }) => {
    expect(pods.strategy.warningsOnCreate?.(make('pods', given) as never, context)).toEqual(want);
  });
});

describe('other kinds', () => {
  it.each([
    {
      resource: 'services',
      given: {
        spec: {
          ports: [
            { port: 80, name: 'a' },
            { port: 80, name: 'b' },
          ],
        },
      },
      want: ['spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}'],
    },
    { resource: 'services', given: { spec: { type: 'ExternalName' } }, want: ['spec.externalName: Required value'] },
    {
      resource: 'services',
      given: { spec: { externalIPs: ['127.0.0.1', '010.0.0.1'] } },
      want: [
        'spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
        'spec.externalIPs[1]: Invalid value: "010.0.0.1": must not have leading 0s',
      ],
    },
    {
      resource: 'configmaps',
      given: { data: { 'a/b': '', c: '' }, binaryData: { c: '' } },
      want: [
        "data[a/b]: Invalid value: \"a/b\": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
        'data[c]: Invalid value: "c": duplicate of key present in binaryData',
      ],
    },
    { resource: 'secrets', given: { type: 'kubernetes.io/tls', data: { 'tls.crt': '' } }, want: ['data[tls.key]: Required value'] },
    {
      resource: 'secrets',
      given: { type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': 'W10=' } },
      want: [
        'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": json: cannot unmarshal array into Go value of type map[string]interface {}',
      ],
    },
    {
      resource: 'persistentvolumes',
      given: { spec: { hostPath: null, local: { path: '/a' } } },
      want: ['spec.nodeAffinity: Required value: Local volume requires node affinity'],
    },
    {
      resource: 'persistentvolumes',
      given: { spec: { capacity: { storage: null, cpu: '1' } } },
      want: ['spec.capacity: Unsupported value: {"cpu":"1"}: supported values: "storage"'],
    },
    {
      resource: 'persistentvolumeclaims',
      given: { spec: { accessModes: ['ReadWriteOncePod', 'ReadWriteOnce'] } },
      want: ['spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes'],
    },
    {
      resource: 'nodes',
      given: {
        spec: {
          taints: [
            { key: 'a', effect: 'NoSchedule' },
            { key: 'a', effect: 'NoSchedule' },
          ],
        },
      },
      want: [
        'metadata.taints[1]: Duplicate value: {"Key":"a","Value":"","Effect":"NoSchedule","TimeAdded":null}: taints must be unique by key and effect pair',
      ],
    },
    {
      resource: 'limitranges',
      given: { spec: { limits: [{ type: 'Container', max: { cpu: '1' }, min: { cpu: '2' } }] } },
      want: [
        'spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1',
        'spec.limits[0].defaultRequest[cpu]: Invalid value: "1": min value 2 is greater than default request value 1',
        'spec.limits[0].default[cpu]: Invalid value: "2": min value 2 is greater than default value 1',
      ],
    },
    {
      resource: 'resourcequotas',
      given: { spec: { scopes: ['BestEffort', 'NotBestEffort'] } },
      want: ['spec.scopes: Invalid value: ["BestEffort","NotBestEffort"]: conflicting scopes'],
    },
    {
      resource: 'endpoints',
      given: { subsets: [{ addresses: [{ ip: '169.254.1.1' }], ports: [{ port: 1 }] }] },
      want: ['subsets[0].addresses[0].ip: Invalid value: "169.254.1.1": may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
    },
    {
      resource: 'replicationcontrollers',
      given: { spec: { selector: { app: 'y' } } },
      want: ['spec.template.metadata.labels: Invalid value: {"app":"x"}: `selector` does not match template `labels`'],
    },
  ] as const)('$resource $given', ({ resource, given, want }) => {
    expect(created(resource, given)).toEqual(want);
  });

  it.each([
    {
      resource: 'services',
      old: { spec: { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'] } },
      given: { spec: { clusterIP: '10.0.0.2', clusterIPs: ['10.0.0.2'] } },
      want: ['spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: may not change once set'],
    },
    {
      resource: 'nodes',
      old: { spec: { podCIDR: '10.0.0.0/24' } },
      given: { spec: { podCIDR: '10.1.0.0/24' } },
      want: ['spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid'],
    },
    { resource: 'resourcequotas', old: {}, given: { spec: { hard: { pods: '2' } } }, want: [] },
    { resource: 'persistentvolumeclaims', old: {}, given: { spec: { volumeName: 'v' } }, want: [] },
    {
      resource: 'persistentvolumeclaims',
      old: {},
      given: { spec: { accessModes: ['ReadOnlyMany'] } },
      want: [
        'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n@@ -1,6 +1,6 @@\n {\n  "AccessModes": [\n-  "ReadWriteOnce"\n+  "ReadOnlyMany"\n  ],\n  "Selector": null,\n  "Resources": {\n',
      ],
    },
    {
      resource: 'persistentvolumes',
      old: {},
      given: { spec: { hostPath: { path: '/z' } } },
      want: [
        'spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation\n@@ -2,7 +2,7 @@\n  "GCEPersistentDisk": null,\n  "AWSElasticBlockStore": null,\n  "HostPath": {\n-  "Path": "/tmp/x",\n+  "Path": "/z",\n   "Type": ""\n  },\n  "Glusterfs": null,\n',
      ],
    },
  ] as const)('update of $resource from $old to $given', ({ resource, old, given, want }) => {
    expect(updated(resource, given, old)).toEqual(want);
  });

  const required = (key: string): object => ({
    spec: { nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'Exists' }] }] } } },
  });
  it.each([
    { from: 'kubernetes.io/hostname', to: 'other', isImmutable: true },
    { from: 'beta.kubernetes.io/os', to: 'kubernetes.io/os', isImmutable: false },
    { from: 'kubernetes.io/os', to: 'beta.kubernetes.io/os', isImmutable: true },
    // As upstream: an empty key is invalid, but not reported as a change.
    { from: 'kubernetes.io/hostname', to: '', isImmutable: false },
  ])('the affinity of a persistent volume from $from to $to', ({ from, to, isImmutable }) => {
    const errors = updated('persistentvolumes', required(to), required(from));
    expect(errors.some((error) => error.includes('immutable, except for updating from beta label to GA'))).toBe(isImmutable);
  });
});

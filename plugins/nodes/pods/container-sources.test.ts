import type { ConfigMap, Container, Pod, Secret, Volume } from 'kubenest/types/core_v1';
import { describe, expect, it } from 'vitest';
import { UnsupportedScriptError } from '../shell/script.ts';
import type { ClusterSources, ContainerSources } from './cluster-sources.ts';
import { containerSources, environmentProblem, mountProblem } from './container-sources.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

const configMap: ConfigMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'settings', namespace: 'shop' },
  data: { 'log.level': 'debug', greeting: 'good day' },
  binaryData: { logo: base64('<svg/>') },
};
const secret: Secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'login', namespace: 'shop' },
  data: { user: base64('ada'), password: base64('pâss') },
};

const clusterWith = (read: ClusterSources['read']): ClusterSources => ({
  read,
  services: () => ({}),
  apiServer: () => ({}),
  allocatable: () => ({ cpu: '7500m' }),
});
const cluster = clusterWith((resource, namespace, name) =>
  [resource === 'configmaps' ? configMap : secret].find(({ metadata }) => metadata.namespace === namespace && metadata.name === name),
);

const metadata = {
  name: 'web',
  namespace: 'shop',
  labels: { 'app-kind': 'x', app: 'web' },
  annotations: { note: 'a "b"' },
};

function podWith(container: Partial<Container>, volumes: Volume[] = []): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: { containers: [{ name: 'main', ...container }], volumes },
    status: { podIP: '10.244.0.7' },
  };
}

function sources(container: Partial<Container>, volumes: Volume[] = []): ContainerSources {
  return containerSources(podWith(container, volumes), { name: 'main', ...container }, cluster);
}

describe('environment of a container', () => {
  const environments: { name: string; container: Partial<Container>; want: Record<string, string> }[] = [
    {
      name: 'has the texts of a config map, but not its binary data',
      container: { envFrom: [{ configMapRef: { name: 'settings' } }] },
      want: { 'log.level': 'debug', greeting: 'good day' },
    },
    {
      name: 'has the decoded values of a secret, with the prefix',
      container: { envFrom: [{ prefix: 'DB_', secretRef: { name: 'login' } }] },
      want: { DB_user: 'ada', DB_password: 'pâss' },
    },
    {
      name: 'has single keys under the names of the variables',
      container: {
        env: [
          { name: 'LEVEL', valueFrom: { configMapKeyRef: { name: 'settings', key: 'log.level' } } },
          { name: 'WHO', valueFrom: { secretKeyRef: { name: 'login', key: 'user' } } },
        ],
      },
      want: { LEVEL: 'debug', WHO: 'ada' },
    },
    {
      name: 'has no key of the binary data',
      container: { env: [{ name: 'LOGO', valueFrom: { configMapKeyRef: { name: 'settings', key: 'logo', optional: true } } }] },
      want: {},
    },
    {
      name: 'has nothing for sources and keys that do not exist',
      container: {
        envFrom: [{ configMapRef: { name: 'other', optional: true } }],
        env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'login', key: 'no', optional: true } } }],
      },
      want: {},
    },
    {
      name: 'prefers a single key to all keys, and later sources to earlier ones',
      container: {
        envFrom: [{ secretRef: { name: 'login' } }, { configMapRef: { name: 'settings' } }],
        env: [{ name: 'greeting', valueFrom: { secretKeyRef: { name: 'login', key: 'user' } } }],
      },
      want: { user: 'ada', password: 'pâss', 'log.level': 'debug', greeting: 'ada' },
    },
    {
      name: 'has requests and limits in units of the divisor, rounded up, and what the node can allocate for a limit that is not set',
      container: {
        resources: { requests: { cpu: '1200m' }, limits: { memory: '100Mi' } },
        env: [
          { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'requests.cpu' } } },
          { name: 'MILLI', valueFrom: { resourceFieldRef: { resource: 'requests.cpu', divisor: '1m' } } },
          { name: 'MEMORY', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '1M' } } },
          { name: 'LIMIT', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
          { name: 'NONE', valueFrom: { resourceFieldRef: { resource: 'requests.memory' } } },
        ],
      },
      want: { CPU: '2', MILLI: '1200', MEMORY: '105', LIMIT: '8', NONE: '0' },
    },
    { name: 'leaves plain values to others', container: { env: [{ name: 'A', value: '1' }] }, want: {} },
  ];
  it.each(environments)('$name', ({ container, want }) => expect(sources(container).env).toEqual(want));
});

describe('mounted files of a container', () => {
  const at = (mountPath: string): Partial<Container> => ({ volumeMounts: [{ name: 'v', mountPath }] });
  const mounts: { name: string; volume: Volume; want: Record<string, string>; unknown?: string[] }[] = [
    {
      name: 'are all keys of a config map, also of its binary data',
      volume: { name: 'v', configMap: { name: 'settings' } },
      want: { '/data/log.level': 'debug', '/data/greeting': 'good day', '/data/logo': '<svg/>' },
    },
    {
      name: 'are the listed keys under their paths',
      volume: { name: 'v', configMap: { name: 'settings', items: [{ key: 'greeting', path: 'texts/hello' }] } },
      want: { '/data/texts/hello': 'good day' },
    },
    {
      name: 'are the decoded values of a secret',
      volume: { name: 'v', secret: { secretName: 'login' } },
      want: { '/data/user': 'ada', '/data/password': 'pâss' },
    },
    { name: 'are none for a secret that does not exist', volume: { name: 'v', secret: { secretName: 'no', optional: true } }, want: {} },
    {
      name: 'are fields of the pod, with the labels in the order of their keys',
      volume: {
        name: 'v',
        downwardAPI: {
          items: [
            { path: 'name', fieldRef: { fieldPath: 'metadata.name' } },
            { path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } },
            { path: 'notes', fieldRef: { fieldPath: 'metadata.annotations' } },
          ],
        },
      },
      want: { '/data/name': 'web', '/data/labels': 'app="web"\napp-kind="x"', '/data/notes': 'note="a \\"b\\""' },
    },
    {
      name: 'of unknown content are named as such',
      volume: { name: 'v', downwardAPI: { items: [{ path: 'cpu', resourceFieldRef: { resource: 'limits.cpu' } }] } },
      want: {},
      unknown: ['/data/cpu'],
    },
    {
      name: 'come from all sources of a projected volume',
      volume: {
        name: 'v',
        projected: {
          sources: [
            { secret: { name: 'login', items: [{ key: 'user', path: 'user' }] } },
            { configMap: { name: 'settings', items: [{ key: 'greeting', path: 'greeting' }] } },
            { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
            { serviceAccountToken: { path: 'token' } },
          ],
        },
      },
      want: { '/data/user': 'ada', '/data/greeting': 'good day', '/data/namespace': 'shop' },
      unknown: ['/data/token'],
    },
  ];
  it.each(mounts)('$name', ({ volume, want, unknown = [] }) => {
    const { mounted } = sources(at('/data/'), [volume]);
    expect(mounted).toEqual({ texts: want, volumes: new Set(['v']), unknown });
  });

  it('are not those of volumes with content of their own, or of paths in a volume', () => {
    const volumes: Volume[] = [
      { name: 'v', emptyDir: {} },
      { name: 'c', configMap: { name: 'settings' } },
    ];
    const volumeMounts = [
      { name: 'v', mountPath: '/scratch' },
      { name: 'c', mountPath: '/etc/greeting', subPath: 'greeting' },
    ];
    expect(sources({ volumeMounts }, volumes).mounted).toEqual({ texts: {}, volumes: new Set(), unknown: [] });
  });

  it('are those of the namespace of the pod', () => {
    const pod = podWith(at('/data'), [{ name: 'v', secret: { secretName: 'login' } }]);
    const other = { ...pod, metadata: { ...metadata, namespace: 'other' } };
    expect(containerSources(other, pod.spec?.containers?.[0] as Container, cluster).mounted.texts).toEqual({});
  });
});

describe('the sources of a container', () => {
  const mebibyte = 1_048_576;
  const pod = (volumes: readonly Partial<Volume>[] = [], annotations: Record<string, string> = {}): Pod =>
    ({
      metadata: { name: 'a', namespace: 'team', annotations },
      spec: { volumes: volumes.map((one, i) => ({ name: `v${i}`, ...one })) },
    }) as Pod;
  const container = (more: Partial<Container>): Container => ({ name: 'c', ...more });
  const mounts = { volumeMounts: [{ name: 'v0', mountPath: '/v' }] };

  /** Reads objects of one long text, and records what was read. */
  function reader(length: number): { readonly read: ClusterSources['read']; readonly names: string[] } {
    const names: string[] = [];
    const read: ClusterSources['read'] = (resource, namespace, name) => {
      names.push(`${resource} ${namespace}/${name}`);
      return { apiVersion: 'v1', kind: 'Secret', metadata: { name }, data: { key: 'x'.repeat(length) } };
    };
    return { read, names };
  }

  it.each(['other/secret', '../other/secret', 'secret'])('are read in the namespace of the pod: %s', (name) => {
    const { read, names } = reader(1);
    const env = [{ name: 'A', valueFrom: { secretKeyRef: { name, key: 'key' } } }];
    containerSources(pod([{ secret: { secretName: name } }]), container({ env, ...mounts }), clusterWith(read));
    expect(names).toEqual([`secrets team/${name}`, `secrets team/${name}`]);
  });

  const repeated = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);
  it.each<{ name: string; of: Pod; container: Container; length: number }>([
    {
      name: 'variables of many large objects',
      of: pod(),
      container: container({ envFrom: repeated(10_000, { configMapRef: { name: 'm' } }) }),
      length: mebibyte,
    },
    {
      name: 'a volume of one large object many times',
      of: pod([{ projected: { sources: repeated(10_000, { configMap: { name: 'm' } }) } }]),
      container: container(mounts),
      length: mebibyte,
    },
    {
      name: 'very many small objects',
      of: pod(),
      container: container({ envFrom: repeated(100_000, { secretRef: { name: 's' } }) }),
      length: 1,
    },
    {
      name: 'all annotations in many files',
      of: pod([{ downwardAPI: { items: repeated(100_000, { path: 'x', fieldRef: { fieldPath: 'metadata.annotations' } }) } }], {
        a: 'x'.repeat(200_000),
      }),
      container: container(mounts),
      length: 1,
    },
  ])('are refused before they fill the memory: $name', ({ of, container: one, length }) => {
    const { read, names } = reader(length);
    expect(() => containerSources(of, one, clusterWith(read))).toThrow(UnsupportedScriptError);
    expect(names.length).toBeLessThan(2_100);
  });
});

describe('a missing source', () => {
  const variable = (valueFrom: object): Partial<Container> => ({ env: [{ name: 'A', valueFrom }] });
  it.each<{ container: Partial<Container>; want: string | undefined }>([
    { container: { envFrom: [{ configMapRef: { name: 'no' } }] }, want: 'configmap "no" not found' },
    { container: { envFrom: [{ secretRef: { name: 'no', optional: true } }] }, want: undefined },
    { container: variable({ secretKeyRef: { name: 'no', key: 'k' } }), want: 'secret "no" not found' },
    { container: variable({ configMapKeyRef: { name: 'settings', key: 'no' } }), want: "couldn't find key no in ConfigMap shop/settings" },
    {
      container: variable({ configMapKeyRef: { name: 'settings', key: 'logo' } }),
      want: "couldn't find key logo in ConfigMap shop/settings",
    },
    { container: variable({ secretKeyRef: { name: 'login', key: 'no' } }), want: "couldn't find key no in Secret shop/login" },
    { container: variable({ secretKeyRef: { name: 'login', key: 'no', optional: true } }), want: undefined },
    { container: variable({ secretKeyRef: { name: 'login', key: 'user' } }), want: undefined },
  ])('in the environment is $want', ({ container, want }) => {
    expect(environmentProblem(podWith(container), { name: 'main', ...container }, cluster)).toBe(want);
  });

  const failed = 'MountVolume.SetUp failed for volume "v" :';
  it.each<{ volume: Partial<Volume>; want: string | undefined }>([
    { volume: { configMap: { name: 'no' } }, want: `${failed} configmap "no" not found` },
    { volume: { configMap: { name: 'no', optional: true } }, want: undefined },
    { volume: { secret: { secretName: 'no' } }, want: `${failed} secret "no" not found` },
    {
      volume: { configMap: { name: 'settings', items: [{ key: 'no', path: 'x' }] } },
      want: `${failed} references non-existent config key: no`,
    },
    {
      volume: { projected: { sources: [{ secret: { name: 'login', items: [{ key: 'no', path: 'x' }] } }] } },
      want: `${failed} references non-existent secret key: no`,
    },
    { volume: { configMap: { name: 'settings', items: [{ key: 'logo', path: 'x' }] } }, want: undefined },
  ])('in a volume is $want', ({ volume, want }) => {
    const volumes = [{ name: 'v', ...volume }];
    expect(mountProblem(podWith({ volumeMounts: [{ name: 'v', mountPath: '/v' }] }, volumes), cluster)).toBe(want);
    expect(mountProblem(podWith({}, volumes), cluster)).toBeUndefined();
  });
});

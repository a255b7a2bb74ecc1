import { describe, expect, it } from 'vitest';
import endpoints from './endpoints.ts';
import limitranges from './limitranges.ts';
import namespaces from './namespaces.ts';
import nodes from './nodes.ts';
import persistentvolumes from './persistentvolumes.ts';
import pods from './pods.ts';
import replicationcontrollers from './replicationcontrollers.ts';
import services from './services.ts';

const definitions = { endpoints, limitranges, namespaces, nodes, persistentvolumes, pods, replicationcontrollers, services };

function defaulted(resource: keyof typeof definitions, given: object): Record<string, unknown> {
  const object = { apiVersion: 'v1', kind: 'X', metadata: {}, ...structuredClone(given) };
  definitions[resource].defaults?.(object);
  return object;
}
const pod = (spec: object) => defaulted('pods', { spec })['spec'] as Record<string, unknown>;
const container = (given: object) => (pod({ containers: [given] })['containers'] as object[])[0];
const volume = (given: object) => (pod({ volumes: [{ name: 'v', ...given }] })['volumes'] as object[])[0];

describe('containers', () => {
  it.each([
    ['nginx', 'Always'],
    ['nginx:latest', 'Always'],
    ['nginx:1.2', 'IfNotPresent'],
    ['localhost:5000/a/b', 'Always'],
    ['localhost:5000/a/b:1', 'IfNotPresent'],
    ['nginx@sha256:' + 'a'.repeat(64), 'IfNotPresent'],
    ['nginx:latest@sha256:' + 'a'.repeat(64), 'Always'],
    ['nginx:latest@sha256:bad', 'IfNotPresent'],
    ['Nginx', 'IfNotPresent'],
    ['Reg/nginx', 'Always'],
    ['', 'IfNotPresent'],
    ['a'.repeat(64), 'IfNotPresent'],
    ['g'.repeat(64), 'Always'],
    ['x'.repeat(300), 'IfNotPresent'],
    ['a//b', 'IfNotPresent'],
    ['a__b', 'Always'],
    ['a___b', 'IfNotPresent'],
    ['a:', 'IfNotPresent'],
    ['[::1]:80/x', 'Always'],
  ])('image %s gets pull policy %s', (image, imagePullPolicy) => {
    expect(container({ image })).toEqual({
      image,
      imagePullPolicy,
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
    });
  });

  it.each([
    { name: 'ports', given: { ports: [{ containerPort: 1 }] }, want: { ports: [{ containerPort: 1, protocol: 'TCP' }] } },
    {
      name: 'env',
      given: {
        env: [
          { name: 'a', valueFrom: { fieldRef: { fieldPath: 'x' } } },
          { name: 'b', valueFrom: { fileKeyRef: { key: 'k' } } },
        ],
      },
      want: {
        env: [
          { name: 'a', valueFrom: { fieldRef: { fieldPath: 'x', apiVersion: 'v1' } } },
          { name: 'b', valueFrom: { fileKeyRef: { key: 'k', optional: false } } },
        ],
      },
    },
    {
      name: 'probes',
      given: { livenessProbe: { httpGet: { port: 1 } }, startupProbe: { grpc: { port: 1 }, timeoutSeconds: 5 } },
      want: {
        livenessProbe: {
          httpGet: { port: 1, path: '/', scheme: 'HTTP' },
          timeoutSeconds: 1,
          periodSeconds: 10,
          successThreshold: 1,
          failureThreshold: 3,
        },
        startupProbe: { grpc: { port: 1, service: '' }, timeoutSeconds: 5, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 },
      },
    },
    {
      name: 'lifecycle',
      given: { lifecycle: { preStop: { httpGet: { port: 1 } } } },
      want: { lifecycle: { preStop: { httpGet: { port: 1, path: '/', scheme: 'HTTP' } } } },
    },
    {
      name: 'limits',
      given: { resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '100m' } } },
      want: { resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '100m', memory: '1Gi' } } },
    },
    {
      name: 'fine amounts',
      given: { resources: { requests: { cpu: '100u', memory: '1.5', 'a.b/c': '1n', 'd.e/f': '-5u' } } },
      want: { resources: { requests: { cpu: '1m', memory: '1.5', 'a.b/c': '1m', 'd.e/f': '-1m' } } },
    },
  ])('defaults $name', ({ given, want }) => {
    expect(container(given)).toMatchObject(want);
  });
});

describe('pods', () => {
  it.each([
    {
      name: 'without a spec',
      given: {},
      want: {
        restartPolicy: 'Always',
        dnsPolicy: 'ClusterFirst',
        terminationGracePeriodSeconds: 30,
        schedulerName: 'default-scheduler',
        securityContext: {},
        enableServiceLinks: true,
      },
    },
    { name: 'with a negative grace period', given: { terminationGracePeriodSeconds: -5 }, want: { terminationGracePeriodSeconds: 1 } },
    {
      name: 'with the old name of the service account',
      given: { serviceAccount: 'x' },
      want: { serviceAccountName: 'x', serviceAccount: 'x' },
    },
    {
      name: 'with both names',
      given: { serviceAccount: 'x', serviceAccountName: 'y' },
      want: { serviceAccountName: 'y', serviceAccount: 'y' },
    },
    {
      name: 'in the host network',
      given: { hostNetwork: true, containers: [{ ports: [{ containerPort: 80 }, { containerPort: 81, hostPort: 1 }] }] },
      want: { containers: [{ ports: [{ hostPort: 80 }, { hostPort: 1 }] }] },
    },
    {
      name: 'with limits of its own',
      given: {
        resources: { limits: { cpu: '2', memory: '1Gi' } },
        containers: [{ resources: { requests: { cpu: '1' } } }, { resources: { requests: { cpu: '500m' } } }],
        initContainers: [{ resources: { requests: { cpu: '1' } } }],
      },
      want: { resources: { limits: { cpu: '2', memory: '1Gi' }, requests: { cpu: '1500m', memory: '1Gi' } } },
    },
    {
      name: 'with huge pages in containers',
      given: { resources: { requests: { cpu: '1' } }, containers: [{ resources: { limits: { 'hugepages-2Mi': '4Mi' } } }] },
      want: { resources: { requests: { cpu: '1', 'hugepages-2Mi': '4Mi' }, limits: { 'hugepages-2Mi': '4Mi' } } },
    },
  ])('$name', ({ given, want }) => {
    expect(pod(given)).toMatchObject(want);
  });

  it.each([
    { given: { podIP: '1.1.1.1' }, want: { podIP: '1.1.1.1', podIPs: [{ ip: '1.1.1.1' }] } },
    { given: { podIPs: [{ ip: '1.1.1.1' }, { ip: '::1' }] }, want: { podIP: '1.1.1.1', podIPs: [{ ip: '1.1.1.1' }, { ip: '::1' }] } },
    { given: { podIP: '2.2.2.2', podIPs: [{ ip: '1.1.1.1' }] }, want: { podIP: '2.2.2.2', podIPs: [{ ip: '2.2.2.2' }] } },
  ])('defaults status $given', ({ given, want }) => {
    expect(defaulted('pods', { status: given })['status']).toEqual(want);
  });

  it('accepts amounts of any name', () => {
    const limits = JSON.parse('{"__proto__":"1u"}') as object;
    expect(JSON.stringify(container({ resources: { limits } }))).toContain(
      '"resources":{"limits":{"__proto__":"1m"},"requests":{"__proto__":"1m"}}',
    );
  });
});

describe('volumes', () => {
  it.each([
    { given: {}, want: { emptyDir: {} } },
    { given: { hostPath: { path: '/' } }, want: { hostPath: { path: '/', type: '' } } },
    { given: { secret: { secretName: 'x', defaultMode: 0 } }, want: { secret: { secretName: 'x', defaultMode: 0 } } },
    { given: { configMap: {} }, want: { configMap: { defaultMode: 420 } } },
    {
      given: { downwardAPI: { items: [{ path: 'a', fieldRef: { fieldPath: 'b' } }] } },
      want: { downwardAPI: { defaultMode: 420, items: [{ path: 'a', fieldRef: { fieldPath: 'b', apiVersion: 'v1' } }] } },
    },
    {
      given: { projected: { sources: [{ serviceAccountToken: { path: 'a' } }, { downwardAPI: { items: [{ fieldRef: {} }] } }] } },
      want: {
        projected: {
          defaultMode: 420,
          sources: [
            { serviceAccountToken: { path: 'a', expirationSeconds: 3600 } },
            { downwardAPI: { items: [{ fieldRef: { apiVersion: 'v1' } }] } },
          ],
        },
      },
    },
    {
      given: { ephemeral: { volumeClaimTemplate: {} } },
      want: { ephemeral: { volumeClaimTemplate: { spec: { volumeMode: 'Filesystem' } } } },
    },
    { given: { image: { reference: 'a:1' } }, want: { image: { reference: 'a:1', pullPolicy: 'IfNotPresent' } } },
    { given: { iscsi: {} }, want: { iscsi: { iscsiInterface: 'default' } } },
  ])('$given', ({ given, want }) => {
    expect(volume(given)).toEqual({ name: 'v', ...want });
  });
});

describe('other kinds', () => {
  it.each([
    {
      resource: 'services',
      given: { spec: { ports: [{ port: 80 }, { port: 81, targetPort: 'x', protocol: 'UDP' }] } },
      want: {
        spec: {
          sessionAffinity: 'None',
          type: 'ClusterIP',
          internalTrafficPolicy: 'Cluster',
          ports: [
            { port: 80, protocol: 'TCP', targetPort: 80 },
            { port: 81, targetPort: 'x', protocol: 'UDP' },
          ],
        },
      },
    },
    {
      resource: 'services',
      given: {
        spec: { type: 'LoadBalancer', sessionAffinity: 'ClientIP' },
        status: { loadBalancer: { ingress: [{ ip: '1.1.1.1' }, { hostname: 'x' }] } },
      },
      want: {
        spec: {
          type: 'LoadBalancer',
          sessionAffinity: 'ClientIP',
          sessionAffinityConfig: { clientIP: { timeoutSeconds: 10800 } },
          internalTrafficPolicy: 'Cluster',
          externalTrafficPolicy: 'Cluster',
          allocateLoadBalancerNodePorts: true,
        },
        status: { loadBalancer: { ingress: [{ ip: '1.1.1.1', ipMode: 'VIP' }, { hostname: 'x' }] } },
      },
    },
    { resource: 'services', given: { spec: { type: 'ExternalName' } }, want: { spec: { type: 'ExternalName', sessionAffinity: 'None' } } },
    {
      resource: 'endpoints',
      given: { subsets: [{ ports: [{ port: 1 }] }] },
      want: { subsets: [{ ports: [{ port: 1, protocol: 'TCP' }] }] },
    },
    {
      resource: 'limitranges',
      given: {
        spec: {
          limits: [
            { type: 'Container', max: { cpu: '2' }, min: { cpu: '1', memory: '1Gi' } },
            { type: 'Pod', max: { cpu: '2' } },
          ],
        },
      },
      want: {
        spec: {
          limits: [
            {
              type: 'Container',
              max: { cpu: '2' },
              min: { cpu: '1', memory: '1Gi' },
              default: { cpu: '2' },
              defaultRequest: { cpu: '2', memory: '1Gi' },
            },
            { type: 'Pod', max: { cpu: '2' } },
          ],
        },
      },
    },
    {
      resource: 'namespaces',
      given: { metadata: { name: 'x' } },
      want: { metadata: { name: 'x', labels: { 'kubernetes.io/metadata.name': 'x' } }, status: { phase: 'Active' } },
    },
    {
      resource: 'nodes',
      given: { spec: { podCIDR: 'a' }, status: { capacity: { cpu: '1u' } } },
      want: { spec: { podCIDR: 'a', podCIDRs: ['a'] }, status: { capacity: { cpu: '1m' }, allocatable: { cpu: '1m' } } },
    },
    {
      resource: 'replicationcontrollers',
      given: { spec: { template: { metadata: { labels: { a: 'b' } } } } },
      want: { metadata: { labels: { a: 'b' } }, spec: { replicas: 1, selector: { a: 'b' } } },
    },
    {
      resource: 'persistentvolumes',
      given: { spec: { azureDisk: {}, scaleIO: {}, rbd: {} } },
      want: {
        spec: {
          persistentVolumeReclaimPolicy: 'Retain',
          volumeMode: 'Filesystem',
          azureDisk: { cachingMode: 'ReadWrite', fsType: 'ext4', readOnly: false, kind: 'Shared' },
          scaleIO: { storageMode: 'ThinProvisioned', fsType: 'xfs' },
          rbd: { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' },
        },
      },
    },
  ] as const)('$resource $given', ({ resource, given, want }) => {
    expect(defaulted(resource, given)).toMatchObject(want);
  });
});

import { describe, expect, it } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import type { Strategy, StrategyContext } from '#apiserver/registry/resource-definition';
import { podQosClass } from '#kubernetes/apis/core/pod-qos';
import { groups } from '#kubernetes/apis/groups';

const context: StrategyContext = {
  namespace: 'ns',
  user: { name: 'alice', uid: 'u', groups: ['devs'] },
  dryRun: false,
  now: '2026-11-21T12:00:00Z',
};
const resources = new Map(
  groups.flatMap((group) => group.resources).map((resource) => [`${resource.group || 'core'}/${resource.resource}`, resource]),
);

function strategyOf(path: string): Strategy {
  const [group, resource, subresource] = path.split('/');
  const definition = resources.get(`${group}/${resource}`)!;
  return subresource === undefined ? definition.strategy : (definition.subresources[subresource] as { strategy: Strategy }).strategy;
}
const object = ({ metadata, ...rest }: { metadata?: object; [field: string]: unknown }): KubeObject => ({
  apiVersion: '',
  kind: '',
  metadata: { name: 'x', ...metadata },
  ...rest,
});

function created(path: string, given: object): KubeObject {
  const result = object(given as { metadata?: object });
  strategyOf(path).prepareForCreate?.(result, context);
  strategyOf(path).canonicalize?.(result, context);
  return result;
}
function updated(path: string, given: object, old: object): KubeObject {
  const result = object(given as { metadata?: object });
  strategyOf(path).prepareForUpdate?.(result, object(old as { metadata?: object }), context);
  return result;
}

describe('prepareForCreate', () => {
  it.each([
    {
      path: 'core/pods',
      given: { spec: {}, status: { phase: 'Running' } },
      want: { metadata: { generation: 1 }, status: { phase: 'Pending', qosClass: 'BestEffort' } },
    },
    {
      path: 'core/pods',
      given: { spec: { schedulingGates: [{ name: 'g' }] } },
      want: {
        status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated', lastTransitionTime: context.now }] },
      },
    },
    {
      path: 'core/pods',
      given: {
        metadata: { labels: { app: 'a' } },
        spec: { topologySpreadConstraints: [{ labelSelector: {}, matchLabelKeys: ['app', 'none'] }] },
      },
      want: {
        spec: { topologySpreadConstraints: [{ labelSelector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['a'] }] } }] },
      },
    },
    {
      path: 'core/namespaces',
      given: { spec: { finalizers: ['own'] }, status: { phase: 'x' } },
      want: {
        metadata: { labels: { 'kubernetes.io/metadata.name': 'x' } },
        spec: { finalizers: ['own', 'kubernetes'] },
        status: { phase: 'Active' },
      },
    },
    {
      path: 'core/persistentvolumes',
      given: { status: { phase: 'Bound' } },
      want: { status: { phase: 'Pending', lastPhaseTransitionTime: context.now } },
    },
    {
      path: 'core/persistentvolumeclaims',
      given: { spec: { dataSource: { kind: 'PersistentVolumeClaim', name: 'p' } } },
      want: { spec: { dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'p' } }, status: {} },
    },
    {
      path: 'core/services',
      given: { status: { loadBalancer: { ingress: [{ ip: '1.1.1.1' }] } } },
      want: { status: { loadBalancer: {} } },
    },
    { path: 'core/serviceaccounts', given: { secrets: [{ name: 's', kind: 'Secret' }] }, want: { secrets: [{ name: 's' }] } },
    { path: 'apps/deployments', given: { status: { replicas: 3 } }, want: { metadata: { generation: 1 }, status: {} } },
    {
      path: 'batch/jobs',
      given: { metadata: { uid: 'u' }, spec: { template: {} } },
      want: {
        spec: {
          selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'u' } },
          template: {
            metadata: {
              labels: {
                'job-name': 'x',
                'batch.kubernetes.io/job-name': 'x',
                'controller-uid': 'u',
                'batch.kubernetes.io/controller-uid': 'u',
              },
            },
          },
        },
      },
    },
    {
      path: 'certificates.k8s.io/certificatesigningrequests',
      given: { spec: { username: 'root', groups: ['system:masters'], extra: { a: ['b'] } }, status: { certificate: 'AA==' } },
      want: { spec: { username: 'alice', uid: 'u', groups: ['devs'] }, status: {} },
    },
  ])('$path $given', ({ path, given, want }) => {
    expect(created(path, given)).toMatchObject(want);
  });

  it("ignores the client's values for the user fields of a signing request", () => {
    expect(created('certificates.k8s.io/certificatesigningrequests', { spec: { extra: { a: ['b'] } } }).spec).not.toHaveProperty('extra');
  });
});

describe('prepareForUpdate', () => {
  it.each([
    {
      path: 'core/pods',
      given: { spec: { a: 1 }, status: { phase: 'Failed' }, metadata: { generation: 4 } },
      old: { spec: { a: 2 }, status: { phase: 'Running' } },
      want: { status: { phase: 'Running' }, metadata: { generation: 5 } },
    },
    {
      path: 'core/pods',
      given: { spec: { tolerations: [] }, metadata: { generation: 4 } },
      old: { spec: {} },
      want: { metadata: { generation: 4 } },
    },
    {
      path: 'core/pods/status',
      given: { spec: { a: 1 }, status: { phase: 'Failed' }, metadata: { ownerReferences: [], deletionTimestamp: 't' } },
      old: { spec: { a: 2 }, status: { qosClass: 'Burstable' } },
      want: { spec: { a: 2 }, status: { phase: 'Failed', qosClass: 'Burstable' } },
    },
    {
      path: 'core/pods/ephemeralcontainers',
      given: { spec: { nodeName: 'evil', ephemeralContainers: [{ name: 'e' }] } },
      old: { spec: { nodeName: 'n' } },
      want: { spec: { nodeName: 'n', ephemeralContainers: [{ name: 'e' }] } },
    },
    {
      path: 'core/pods/resize',
      given: { spec: { nodeName: 'evil', containers: [{ name: 'c', image: 'evil', resources: { limits: { cpu: '2' } } }] } },
      old: { spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] } },
      want: { spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i', resources: { limits: { cpu: '2' } } }] } },
    },
    {
      path: 'core/namespaces',
      given: { spec: { finalizers: [] } },
      old: { spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } },
      want: { spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } },
    },
    {
      path: 'core/namespaces/finalize',
      given: { spec: { finalizers: [] }, status: { phase: 'x' } },
      old: { spec: { finalizers: ['kubernetes'] }, status: { phase: 'Terminating' } },
      want: { spec: { finalizers: [] }, status: { phase: 'Terminating' } },
    },
    {
      path: 'core/services',
      given: { spec: { type: 'ClusterIP', clusterIP: '10.0.0.1', ports: [{ port: 80, nodePort: 30080 }] } },
      old: { spec: { type: 'NodePort', clusterIP: '10.0.0.1', ports: [{ port: 80, nodePort: 30080 }] } },
      want: { spec: { clusterIP: '10.0.0.1', ports: [{ port: 80 }] } },
    },
    {
      path: 'core/persistentvolumes/status',
      given: { status: { phase: 'Bound' } },
      old: { status: { phase: 'Available', lastPhaseTransitionTime: 'a' } },
      want: { status: { lastPhaseTransitionTime: context.now } },
    },
    {
      path: 'core/persistentvolumes/status',
      given: { status: { phase: 'Bound' } },
      old: { status: { phase: 'Bound', lastPhaseTransitionTime: 'a' } },
      want: { status: { lastPhaseTransitionTime: 'a' } },
    },
    {
      path: 'apps/deployments',
      given: { metadata: { annotations: { a: 'b' } }, spec: {} },
      old: { metadata: { generation: 2 }, spec: {} },
      want: { metadata: { generation: 3 } },
    },
    {
      path: 'apps/deployments/status',
      given: { metadata: { labels: { a: 'b' } }, status: { replicas: 1 } },
      old: { metadata: { labels: { a: 'c' } }, spec: { replicas: 1 } },
      want: { metadata: { labels: { a: 'c' } }, spec: { replicas: 1 }, status: { replicas: 1 } },
    },
    {
      path: 'admissionregistration.k8s.io/validatingwebhookconfigurations',
      given: { webhooks: [{ name: 'a' }] },
      old: { metadata: { generation: 1 } },
      want: { metadata: { generation: 2 } },
    },
    {
      path: 'certificates.k8s.io/certificatesigningrequests/approval',
      given: { spec: { request: 'evil' }, status: { certificate: 'evil', conditions: [{ type: 'Approved', status: 'True' }] } },
      old: { spec: { request: 'r' }, status: {} },
      want: {
        spec: { request: 'r' },
        status: { conditions: [{ type: 'Approved', lastUpdateTime: context.now, lastTransitionTime: context.now }] },
      },
    },
  ])('$path $given', ({ path, given, old, want }) => {
    expect(updated(path, given, old)).toMatchObject(want);
  });

  it('does not let a signer approve', () => {
    const path = 'certificates.k8s.io/certificatesigningrequests/status';
    const denied = { type: 'Denied', status: 'True', reason: 'no', lastUpdateTime: 'a', lastTransitionTime: 'a' };
    const { status } = updated(
      path,
      { status: { conditions: [{ type: 'Denied', status: 'True', reason: 'changed' }] } },
      { status: { conditions: [denied] } },
    );
    expect(status).toEqual({ conditions: [denied] });
    expect(
      updated('certificates.k8s.io/certificatesigningrequests/approval', { status: { certificate: 'evil' } }, { status: {} }).status,
    ).toEqual({});
  });
});

describe('secrets and config maps', () => {
  const secrets = resources.get('core/secrets')!;

  it('converts stringData to data, for any key', () => {
    const secret = object(JSON.parse('{"data":{"a":"eA==","b":"eA=="},"stringData":{"a":"y","__proto__":"z"}}'));
    secrets.defaults?.(secret);
    expect(JSON.parse(JSON.stringify(secret))).toEqual(
      JSON.parse('{"apiVersion":"","kind":"","metadata":{"name":"x"},"type":"Opaque","data":{"a":"eQ==","b":"eA==","__proto__":"eg=="}}'),
    );
  });

  it.each([
    {
      path: 'core/secrets',
      given: { type: 'Opaque', immutable: true, data: { a: 'eA==' } },
      old: { type: 'Opaque', immutable: true, data: { a: 'eA==' } },
      want: [],
    },
    { path: 'core/secrets', given: { type: 'Other' }, old: { type: 'Opaque' }, want: ['type: Invalid value: "Other": field is immutable'] },
    {
      path: 'core/secrets',
      given: { type: 'Opaque' },
      old: { type: 'Opaque', immutable: true, data: { a: 'eA==' } },
      want: [
        'immutable: Forbidden: field is immutable when `immutable` is set',
        'data: Forbidden: field is immutable when `immutable` is set',
      ],
    },
    {
      path: 'core/configmaps',
      given: { immutable: true, binaryData: { a: 'eA==' } },
      old: { immutable: true },
      want: ['binaryData: Forbidden: field is immutable when `immutable` is set'],
    },
  ])('$path from $old to $given', ({ path, given, old, want }) => {
    const metadata = { name: 'x', namespace: 'n' };
    expect(
      strategyOf(path)
        .validateUpdate?.(object({ ...given, metadata }), object({ ...old, metadata }), context)
        .map(String),
    ).toEqual(want);
  });
});

describe('graceful deletion of pods', () => {
  it.each([
    { name: 'takes the grace period of the pod', spec: { nodeName: 'n', terminationGracePeriodSeconds: 30 }, asked: undefined, want: 30 },
    { name: 'as asked', spec: { nodeName: 'n', terminationGracePeriodSeconds: 30 }, asked: 5, want: 5 },
    { name: 'takes a requested grace period of zero', spec: { nodeName: 'n', terminationGracePeriodSeconds: 30 }, asked: 0, want: 0 },
    { name: 'a negative time is one second', spec: { nodeName: 'n' }, asked: -1, want: 1 },
    { name: 'no node', spec: { terminationGracePeriodSeconds: 30 }, asked: undefined, want: 0 },
    { name: 'ended', spec: { nodeName: 'n', terminationGracePeriodSeconds: 30 }, status: { phase: 'Failed' }, asked: undefined, want: 0 },
  ])('$name', ({ spec, status, asked, want }) => {
    expect(strategyOf('core/pods').gracefulDeletion?.(object({ spec, status }), asked)).toEqual({ gracePeriodSeconds: want });
  });
});

describe('podQosClass', () => {
  const container = (requests?: Record<string, string>, limits?: Record<string, string>) => ({
    resources: { ...(requests && { requests }), ...(limits && { limits }) },
  });
  const full = { cpu: '1', memory: '1Gi' };
  it.each([
    { name: 'nothing', spec: { containers: [{}] }, want: 'BestEffort' },
    { name: 'ignores zero amounts', spec: { containers: [container({ cpu: '0' })] }, want: 'BestEffort' },
    { name: 'compares amounts by value', spec: { containers: [container({ cpu: '1000m', memory: '1024Mi' }, full)] }, want: 'Guaranteed' },
    { name: 'requires requests beside limits', spec: { containers: [container(undefined, full)] }, want: 'Burstable' },
    { name: 'requires resources of every container', spec: { containers: [container(full, full), {}] }, want: 'Burstable' },
    {
      name: 'includes init containers',
      spec: { containers: [container(full, full)], initContainers: [container({ cpu: '1' })] },
      want: 'Burstable',
    },
    { name: 'ignores other resources', spec: { containers: [container({ 'example.com/gpu': '1' })] }, want: 'BestEffort' },
    { name: 'uses pod-level resources', spec: { resources: { requests: full, limits: full }, containers: [{}] }, want: 'Guaranteed' },
  ])('$name: $want', ({ spec, want }) => {
    expect(podQosClass({ apiVersion: 'v1', kind: 'Pod', metadata: {}, spec })).toBe(want);
  });
});

describe('warnings', () => {
  const master = { 'node-role.kubernetes.io/master': 'x' };
  const useControlPlane = 'use "node-role.kubernetes.io/control-plane" instead';
  it.each([
    {
      path: 'networking.k8s.io/ingresses',
      given: { metadata: { annotations: { 'kubernetes.io/ingress.class': 'nginx' } }, spec: {} },
      want: ['annotation "kubernetes.io/ingress.class" is deprecated, please use \'spec.ingressClassName\' instead'],
    },
    {
      path: 'networking.k8s.io/ingresses',
      given: { metadata: { annotations: { 'kubernetes.io/ingress.class': 'nginx' } }, spec: { ingressClassName: 'nginx' } },
      want: [],
    },
    {
      path: 'networking.k8s.io/networkpolicies',
      given: {
        spec: {
          ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.1/8', except: ['10.0.0.2/16'] } }] }],
          egress: [{}, { to: [{}, { ipBlock: { cidr: '10.0.0.3/8' } }] }],
        },
      },
      want: [
        'spec.ingress[0].from[0].ipBlock.cidr: CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)',
        'spec.ingress[0].from[0].ipBlock.except[0]: CIDR value "10.0.0.2/16" is ambiguous in this context (should be "10.0.0.0/16" or "10.0.0.2/32"?)',
        'spec.egress[1].to[1].ipBlock.cidr: CIDR value "10.0.0.3/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.3/32"?)',
      ],
    },
    {
      path: 'node.k8s.io/runtimeclasses',
      given: { scheduling: { nodeSelector: { ...master, a: 'b' } } },
      want: [`scheduling.nodeSelector: ${useControlPlane}`],
    },
    {
      path: 'storage.k8s.io/storageclasses',
      given: { allowedTopologies: [{ matchLabelExpressions: [{ key: 'a' }, { key: 'beta.kubernetes.io/os' }] }] },
      want: ['allowedTopologies[0].matchLabelExpressions[1].key: deprecated since v1.14; use "kubernetes.io/os" instead'],
    },
    {
      path: 'storage.k8s.io/csistoragecapacities',
      given: {
        nodeTopology: { matchLabels: master, matchExpressions: [{ key: 'beta.kubernetes.io/os', operator: 'Exists' }] },
      },
      want: [
        'nodeTopology.matchExpressions[0].key: beta.kubernetes.io/os is deprecated since v1.14; use "kubernetes.io/os" instead',
        `nodeTopology.matchLabels.node-role.kubernetes.io/master: ${useControlPlane}`,
      ],
    },
    {
      path: 'resource.k8s.io/resourceslices',
      given: { spec: { driver: 'Gpu.example.com' } },
      want: ['spec.driver: driver names should be lowercase; "Gpu.example.com" contains uppercase characters'],
    },
  ])('$path warns about $given on create', ({ path, given, want }) => {
    expect(strategyOf(path).warningsOnCreate?.(object(given), context)).toEqual(want);
  });

  it.each(['core/services/status', 'networking.k8s.io/ingresses/status'])('%s warns about non-canonical addresses', (path) => {
    const given = object({ status: { loadBalancer: { ingress: [{ hostname: 'a' }, { ip: '::0' }] } } });
    expect(strategyOf(path).warningsOnUpdate?.(given, given, context)).toEqual([
      'status.loadBalancer.ingress[1]: IPv6 address "::0" should be in RFC 5952 canonical format ("::")',
    ]);
  });

  const podsStay = [expect.stringMatching(/^child pods are preserved by default when jobs are deleted; /)];
  it.each([
    { options: {}, want: podsStay },
    { options: { gracePeriodSeconds: 0 }, want: podsStay },
    { options: { propagationPolicy: 'Background' }, want: [] },
    { options: { orphanDependents: true }, want: [] },
  ])('warns about the deletion of jobs with $options, unless it has a propagation policy', ({ options, want }) => {
    expect(strategyOf('batch/jobs').warningsOnDelete?.(options)).toEqual(want);
  });
});

import { type KubeObject, newForbidden } from 'kubenest/sdk';
import { admissionTable, fakeAuthorizer, fakeClient, fakeInformers } from 'kubenest/sdk/testing';
import { AlwaysPullImages } from './always-pull-images.ts';
import { DenyEscalatingExec, DenyExecOnPrivileged } from './deny-exec.ts';
import { EventRateLimit } from './event-rate-limit.ts';
import { ExtendedResourceToleration } from './extended-resource-toleration.ts';
import { LimitPodHardAntiAffinityTopology } from './limit-pod-hard-anti-affinity-topology.ts';
import { NamespaceAutoProvision } from './namespace-auto-provision.ts';
import { NamespaceExists } from './namespace-exists.ts';
import { OwnerReferencesPermissionEnforcement } from './owner-references-permission-enforcement.ts';
import { PodNodeSelector } from './pod-node-selector.ts';
import { PodTolerationRestriction } from './pod-toleration-restriction.ts';
import { SecurityContextDeny } from './security-context-deny.ts';
import { namespace, object, pod } from './test-objects.ts';

const main = { name: 'main', image: 'image' };
const always = { ...main, imagePullPolicy: 'Always' };
admissionTable(AlwaysPullImages, [
  {
    name: 'containers of all kinds, and image volumes',
    object: pod({ initContainers: [main], volumes: [{ name: 'v', image: { reference: 'r' } }] }),
    want: {
      spec: { containers: [always], initContainers: [always], volumes: [{ name: 'v', image: { reference: 'r', pullPolicy: 'Always' } }] },
    },
  },
  { name: 'an update with the same images', object: pod(), oldObject: pod() },
  {
    name: 'an update with another image',
    object: pod({ containers: [{ ...main, image: 'new' }] }),
    oldObject: pod(),
    want: { spec: { containers: [{ ...always, image: 'new' }] } },
  },
]);

/** Simulates a webhook that changed the policy after the mutating phase. */
const onlyValidating = Object.create(AlwaysPullImages.prototype, { admit: { value: undefined } }) as AlwaysPullImages;
admissionTable(onlyValidating, [
  {
    name: 'policies changed after mutation',
    object: pod({ containers: [main, always, { ...main, name: 'other' }] }),
    fails:
      /^\[pods "x" is forbidden: spec.containers\[0\].imagePullPolicy: Unsupported value: "": supported values: "Always", pods "x" is forbidden: spec.containers\[2\]/,
  },
]);

const affinity = (topologyKey: string) => ({
  affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey }] } },
});
admissionTable(LimitPodHardAntiAffinityTopology, [
  { name: 'topology key hostname', object: pod(affinity('kubernetes.io/hostname')) },
  {
    name: 'topology key zone',
    object: pod(affinity('zone')),
    denied: /has TopologyKey zone but only key kubernetes.io\/hostname is allowed/,
  },
]);

const created: string[] = [];
const client = fakeClient({
  async create(_target, made: KubeObject) {
    created.push(made.metadata.name ?? '');
    return made;
  },
});
const informers = fakeInformers({ namespaces: [namespace('ns')] });
const configMap = (inNamespace: string) => object('v1', 'ConfigMap', {}, { namespace: inNamespace });
admissionTable(
  NamespaceAutoProvision,
  [
    { name: 'an existing namespace', object: configMap('ns') },
    { name: 'a missing namespace is created', object: configMap('new') },
    { name: 'a dry run creates nothing', object: configMap('other'), dryRun: true },
  ],
  { informers, client },
);
admissionTable(
  NamespaceAutoProvision,
  [{ name: 'a namespace that cannot be created', object: configMap('secret'), denied: /^namespaces "secret" is forbidden: nobody may$/ }],
  {
    informers,
    client: fakeClient({ create: () => Promise.reject(newForbidden({ group: '', resource: 'namespaces' }, 'secret', 'nobody may')) }),
  },
);
admissionTable(
  PodNodeSelector,
  [{ name: 'a missing namespace', object: pod(), denied: /^Internal error occurred: namespace ns does not exist$/ }],
  {
    informers: fakeInformers({ namespaces: [] }),
    configuration: { podNodeSelectorPluginConfig: {} },
  },
);
admissionTable(
  NamespaceExists,
  [
    { name: 'an existing namespace', object: configMap('ns') },
    { name: 'a namespace that the informer has not received', object: configMap('just-made') },
    { name: 'a missing namespace', object: configMap('new'), denied: /namespaces "new" not found/ },
    { name: 'a namespace object', object: namespace('new') },
  ],
  { informers, client: fakeClient({ get: async (_, __, name) => (name === 'just-made' ? namespace(name) : undefined) }) },
);

const asking = (requests: object) => ({ containers: [{ ...main, resources: { requests } }] });
admissionTable(ExtendedResourceToleration, [
  { name: 'native resources', object: pod(asking({ cpu: '1', 'hugepages-2Mi': '2Mi' })) },
  {
    name: 'extended resources',
    object: pod(asking({ 'example.com/gpu': '1' })),
    want: {
      spec: { ...asking({ 'example.com/gpu': '1' }), tolerations: [{ key: 'example.com/gpu', operator: 'Exists', effect: 'NoSchedule' }] },
    },
  },
]);

const selected = { 'scheduler.alpha.kubernetes.io/node-selector': 'pool=blue' };
const annotated = (annotations: Record<string, string>) => ({
  informers: fakeInformers({ namespaces: [object('v1', 'Namespace', {}, { name: 'ns', annotations })] }),
});
admissionTable(
  PodNodeSelector,
  [
    {
      name: 'the selector of the namespace',
      object: pod({ nodeSelector: { disk: 'ssd' } }),
      want: { spec: { containers: [main], nodeSelector: { disk: 'ssd', pool: 'blue' } } },
    },
    {
      name: 'a conflicting selector',
      object: pod({ nodeSelector: { pool: 'red' } }),
      denied: /pod node label selector conflicts with its namespace node label selector/,
    },
    {
      name: "a selector outside of the cluster's whitelist",
      object: pod({ nodeSelector: { gpu: 'yes' } }),
      denied: /conflict with its namespace whitelist/,
    },
  ],
  { ...annotated(selected), configuration: { podNodeSelectorPluginConfig: { ns: 'pool=blue,disk=ssd' } } },
);
admissionTable(
  PodNodeSelector,
  [{ name: "the cluster's default tolerations", object: pod(), want: { spec: { containers: [main], nodeSelector: { pool: 'all' } } } }],
  { informers, configuration: { podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: 'pool=all' } } },
);

const toleration = { key: 'team', operator: 'Equal', value: 'a', effect: 'NoSchedule' };
const guaranteed = { containers: [{ ...main, resources: { requests: { cpu: '1' } } }] };
const memoryPressure = { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' };
admissionTable(
  PodTolerationRestriction,
  [
    { name: "the namespace's tolerations", object: pod(), want: { spec: { containers: [main], tolerations: [toleration] } } },
    {
      name: 'the memory pressure toleration of pods with requests',
      object: pod(guaranteed),
      want: { spec: { ...guaranteed, tolerations: [toleration, memoryPressure] } },
    },
  ],
  annotated({ 'scheduler.alpha.kubernetes.io/defaultTolerations': JSON.stringify([toleration]) }),
);

admissionTable(
  PodTolerationRestriction,
  [
    { name: 'the configured tolerations', object: pod(), want: { spec: { containers: [main], tolerations: [toleration] } } },
    {
      name: 'a toleration outside of the configured whitelist',
      object: pod({ tolerations: [{ operator: 'Exists' }] }),
      fails: /cluster whitelist$/,
    },
  ],
  { informers, configuration: { default: [toleration], whitelist: [toleration] } },
);

const withTolerations = pod({ tolerations: [toleration] });
for (const [text, fails] of [
  ['x', /^invalid character 'x' looking for beginning of value$/],
  ['{}', /^json: cannot unmarshal object into Go value of type \[\]v1.Toleration$/],
  ['[1]', /^json: cannot unmarshal number into Go value of type v1.Toleration$/],
  ['[{"Operator":1}]', /^json: cannot unmarshal number into Go struct field Toleration.operator of type v1.TolerationOperator$/],
  ['[{"tolerationSeconds":1.5}]', /^json: cannot unmarshal number 1.5 into Go struct field Toleration.tolerationSeconds of type int64$/],
  ['[null]', /conflict with its namespace whitelist$/],
] as const) {
  admissionTable(
    PodTolerationRestriction,
    [
      { name: `a whitelist of ${text}`, object: withTolerations, fails },
      { name: `a whitelist of ${text}, without tolerations`, object: pod() },
    ],
    annotated({ 'scheduler.alpha.kubernetes.io/tolerationsWhitelist': text }),
  );
}
for (const annotation of ['defaultTolerations', 'tolerationsWhitelist'])
  admissionTable(
    PodTolerationRestriction,
    [{ name: `${annotation} of null`, object: withTolerations }],
    annotated({ [`scheduler.alpha.kubernetes.io/${annotation}`]: 'null' }),
  );

for (const [text, fails] of [
  ['a', /^invalid selector: \[a\]$/],
  ['a=b=c', /^invalid selector: \[a b c\]$/],
  ['-a=b', /^<nil>: Invalid value: "-a": name part must consist of/],
  ['a=-b', /^\[a\]: Invalid value: "-b": a valid label must be/],
] as const)
  admissionTable(
    PodNodeSelector,
    [{ name: `a selector of ${text}`, object: pod(), fails }],
    annotated({ 'scheduler.alpha.kubernetes.io/node-selector': text }),
  );

const limits = { configuration: { limits: [{ type: 'User', qps: 1, burst: 2, cacheSize: 1 }] } };
const event = object('v1', 'Event', {}, { namespace: 'ns' });
let time = 0;
const clock = { now: () => time, wallTime: () => time, after: () => () => {}, every: () => () => {} };
admissionTable(
  EventRateLimit,
  [
    { name: 'the first event', object: event },
    { name: 'a dry run consumes no token', object: event, dryRun: true },
    { name: 'the second event', object: event },
    { name: 'an event beyond the limit', object: event, denied: /^Too many requests: limit reached on type User for key jane$/ },
    { name: 'an event of events.k8s.io is not limited', object: object('events.k8s.io/v1', 'Event', {}, { namespace: 'ns' }) },
    { name: 'an event of another user', object: event, user: { name: 'joe', groups: [] } },
    { name: 'a user whose bucket was evicted', object: event },
  ],
  { ...limits, clock: { ...clock, now: () => (time += 1) } },
);

const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: '1' };
const owned = (...ownerReferences: object[]) =>
  object('v1', 'ConfigMap', {}, { namespace: 'ns', ownerReferences: ownerReferences as never });
const restMapper = {
  resourcesOf: ({ kind }: { kind: string }) =>
    kind === 'ReplicaSet' ? [{ resource: { group: 'apps', version: 'v1', resource: 'replicasets' }, namespaced: true }] : [],
};
admissionTable(
  OwnerReferencesPermissionEnforcement,
  [
    { name: 'an owner on create', object: owned(owner) },
    {
      name: 'an owner with blockOwnerDeletion',
      object: owned({ ...owner, blockOwnerDeletion: true }),
      denied: /refers to a resource you can't set finalizers on/,
    },
    {
      name: 'an owner of an unknown kind',
      object: owned({ ...owner, kind: 'None', blockOwnerDeletion: true }),
      denied: /cannot find RESTMapping for APIVersion apps\/v1 Kind None/,
    },
    { name: 'a changed owner', object: owned(owner), oldObject: owned(), denied: /cannot set an ownerRef on a resource you can't delete/ },
    { name: 'an unchanged owner', object: owned(owner), oldObject: owned(owner) },
  ],
  { restMapper },
);
admissionTable(
  OwnerReferencesPermissionEnforcement,
  [
    { name: 'a user with permission to set finalizers', object: owned({ ...owner, blockOwnerDeletion: true }) },
    { name: 'a user with permission to delete', object: owned(owner), oldObject: owned() },
  ],
  { restMapper, authorizer: fakeAuthorizer(({ verb, subresource }) => verb === 'delete' || subresource === 'finalizers') },
);

const privileged = { containers: [{ ...main, securityContext: { privileged: true } }] };
const inPod = (spec: object) => ({ informers: fakeInformers({ pods: [pod(spec as never)] }) });
const exec = {
  operation: 'CONNECT',
  resource: { group: '', resource: 'pods' },
  subresource: 'exec',
  object: object('v1', 'PodExecOptions', {}, { namespace: 'ns' }),
} as const;
admissionTable(DenyExecOnPrivileged, [{ name: 'a plain pod', ...exec }], inPod({}));
admissionTable(
  DenyExecOnPrivileged,
  [{ name: 'a privileged pod', ...exec, denied: /cannot exec into or attach to a privileged container/ }],
  inPod(privileged),
);
admissionTable(DenyExecOnPrivileged, [{ name: "the host's PID namespace", ...exec }], inPod({ hostPID: true }));
admissionTable(DenyEscalatingExec, [{ name: "the host's PID namespace", ...exec, denied: /using host pid/ }], inPod({ hostPID: true }));
admissionTable(DenyEscalatingExec, [{ name: 'a missing pod', ...exec, denied: /pods "x" not found/ }]);

admissionTable(SecurityContextDeny, [
  { name: 'a pod without a security context', object: pod({ securityContext: { runAsNonRoot: true } }) },
  {
    name: 'runAsUser of the pod',
    object: pod({ securityContext: { runAsUser: 1 } }),
    denied: /pod.Spec.SecurityContext.RunAsUser is forbidden/,
  },
  {
    name: 'runAsUser of an init container',
    object: pod({ initContainers: [{ ...main, securityContext: { runAsUser: 1 } }] }),
    denied: /SecurityContext.RunAsUser is forbidden/,
  },
]);

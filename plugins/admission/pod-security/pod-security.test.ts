import { type AdmissionRow, admissionTable, fakeClient, fakeInformers } from 'kubenest/sdk/testing';
import { namespace, object, pod } from '../test-objects.ts';
import { PodSecurity } from './pod-security.ts';

const label = (mode: string) => `pod-security.kubernetes.io/${mode}`;
const inNamespace = (labels: Record<string, string>) => ({ informers: fakeInformers({ namespaces: [namespace('ns', labels)], pods: [] }) });
const container = (securityContext: object, rest: object = {}) =>
  pod({ containers: [{ name: 'main', image: 'image', securityContext, ...rest }] });
const good = {
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
};

const baseline: readonly AdmissionRow[] = [
  { name: 'a plain pod', object: pod() },
  {
    name: 'host namespaces',
    object: pod({ hostNetwork: true, hostPID: true }),
    denied: /^pods "x" is forbidden: violates PodSecurity "baseline:latest": host namespaces \(hostNetwork=true, hostPID=true\)$/,
  },
  {
    name: 'two violations, sorted by check',
    object: container({ privileged: true, capabilities: { add: ['SYS_ADMIN', 'KILL', 'NET_ADMIN'] } }),
    denied:
      /non-default capabilities \(container "main" must not include "NET_ADMIN", "SYS_ADMIN" in securityContext.capabilities.add\), privileged \(container "main" must not set securityContext.privileged=true\)/,
  },
  { name: 'a host path', object: pod({ volumes: [{ name: 'v', hostPath: { path: '/' } }] }), denied: /hostPath volumes \(volume "v"\)/ },
  {
    name: 'host ports',
    object: container({}, { ports: [{ hostPort: 80 }, { hostPort: 443 }] }),
    denied: /hostPort \(container "main" uses hostPorts 443, 80\)/,
  },
  {
    name: 'the host of a probe',
    object: container({}, { livenessProbe: { httpGet: { host: '10.0.0.1' } } }),
    denied: /probe or lifecycle host \(container "main" uses probe or lifecycle host "10.0.0.1"\)/,
  },
  { name: 'a proc mount', object: container({ procMount: 'Unmasked' }), denied: /must not set securityContext.procMount to "Unmasked"/ },
  {
    name: 'a proc mount with a user namespace',
    object: pod({ hostUsers: false, containers: [{ name: 'a', securityContext: { procMount: 'Unmasked' } }] }),
  },
  {
    name: 'SELinux options',
    object: pod({ securityContext: { seLinuxOptions: { type: 'super_t', user: 'u' } } }),
    denied: /pod set forbidden securityContext.seLinuxOptions: type "super_t"; user may not be set/,
  },
  {
    name: 'an unconfined seccomp profile',
    object: container({ seccompProfile: { type: 'Unconfined' } }),
    denied: /seccompProfile \(container "main" must not set securityContext.seccompProfile.type to "Unconfined"\)/,
  },
  {
    name: 'a sysctl',
    object: pod({ securityContext: { sysctls: [{ name: 'kernel.msgmax' }] } }),
    denied: /forbidden sysctls \(kernel.msgmax\)/,
  },
  {
    name: 'a host process',
    object: pod({ securityContext: { windowsOptions: { hostProcess: true } } }),
    denied: /hostProcess \(pod must not set/,
  },
  {
    name: 'an AppArmor annotation',
    object: pod({}, { annotations: { 'container.apparmor.security.beta.kubernetes.io/main': 'unconfined' } }),
    denied: /forbidden AppArmor profile \(annotation must not set AppArmor profile type to "container.apparmor[^ ]+main="unconfined""\)/,
  },
  {
    name: 'an init container',
    object: pod({ initContainers: [{ name: 'init', securityContext: { privileged: true } }] }),
    denied: /container "init" must not set securityContext.privileged/,
  },
  {
    name: 'an ephemeral container',
    subresource: 'ephemeralcontainers',
    oldObject: pod(),
    object: pod({ ephemeralContainers: [{ name: 'debug', securityContext: { privileged: true } }] }),
    denied: /container "debug" must not set/,
  },
  { name: 'an update without a changed image', object: container({ privileged: true }), oldObject: container({ privileged: true }) },
  {
    name: 'an update with a changed image',
    object: container({ privileged: true }, { image: 'other' }),
    oldObject: container({ privileged: true }),
    denied: /privileged/,
  },
  {
    name: 'templates are not enforced',
    object: object('apps/v1', 'Deployment', { spec: { template: { spec: { hostNetwork: true } } } }, { namespace: 'ns' }),
    warnings: [expect('host namespaces (hostNetwork=true)')],
  },
];

function expect(violation: string): string {
  return `would violate PodSecurity "baseline:latest": ${violation}`;
}

admissionTable(PodSecurity, baseline, inNamespace({ [label('enforce')]: 'baseline' }));

admissionTable(
  PodSecurity,
  [
    { name: 'a compliant pod', object: container(good) },
    {
      name: 'a plain pod',
      object: pod(),
      denied:
        /allowPrivilegeEscalation != false \(.*\), unrestricted capabilities \(container "main" must set securityContext.capabilities.drop=\["ALL"\]\), runAsNonRoot != true \(pod or container "main" must set securityContext.runAsNonRoot=true\), seccompProfile \(pod or container "main" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"\)/,
    },
    { name: 'root', object: container({ ...good, runAsUser: 0 }), denied: /runAsUser=0 \(container "main" must not set runAsUser=0\)/ },
    {
      name: 'a volume of another type',
      object: pod({ securityContext: good, containers: [{ name: 'a', securityContext: good }], volumes: [{ name: 'v', nfs: {} }] }),
      denied: /restricted volume types \(volume "v" uses restricted volume type "nfs"\)/,
    },
  ],
  inNamespace({ [label('enforce')]: 'restricted' }),
);
admissionTable(
  PodSecurity,
  [{ name: 'a version before the check existed', object: container({ ...good, runAsUser: 0 }) }],
  inNamespace({ [label('enforce')]: 'restricted', [label('enforce-version')]: 'v1.22' }),
);
admissionTable(
  PodSecurity,
  [{ name: 'an invalid level fails closed', object: pod(), denied: /violates PodSecurity "restricted:latest"/ }],
  inNamespace({ [label('enforce')]: 'extreme' }),
);

const exempt = { exemptions: { usernames: ['root'], namespaces: ['ns'], runtimeClasses: ['kata'] } };
const strict = inNamespace({ [label('enforce')]: 'restricted' });
admissionTable(PodSecurity, [{ name: 'an exempt namespace', object: pod() }], { ...strict, configuration: exempt });
admissionTable(
  PodSecurity,
  [
    { name: 'an exempt user', object: pod(), user: { name: 'root', groups: [] } },
    { name: 'an exempt runtime', object: pod({ runtimeClassName: 'kata' }) },
    { name: 'a user without an exemption', object: pod(), denied: /restricted/ },
  ],
  { ...strict, configuration: { exemptions: { ...exempt.exemptions, namespaces: [] } } },
);
admissionTable(PodSecurity, [{ name: 'the configured default', object: pod({ hostIPC: true }), denied: /baseline:v1.30.*hostIPC=true/ }], {
  ...inNamespace({}),
  configuration: { defaults: { enforce: 'baseline', enforceVersion: 'v1.30' } },
});

const present = [pod({ hostNetwork: true }, { name: 'b' }), pod({ hostNetwork: true }, { name: 'a' }), pod({}, { name: 'c' })];
admissionTable(
  PodSecurity,
  [
    {
      name: 'a stricter level warns about existing pods',
      object: namespace('ns', { [label('enforce')]: 'baseline' }),
      oldObject: namespace('ns'),
      warnings: [
        'existing pods in namespace "ns" violate the new PodSecurity enforce level "baseline:latest"',
        'a (and 1 other pod): host namespaces',
      ],
    },
    { name: 'a less strict level does not warn', object: namespace('ns'), oldObject: namespace('ns', { [label('enforce')]: 'baseline' }) },
    {
      name: 'an invalid label',
      object: namespace('ns', { [label('warn-version')]: '1.30' }),
      denied:
        /Namespace "ns" is invalid: metadata.labels\[pod-security.kubernetes.io\/warn-version\]: Invalid value: "1.30": must be "latest" or "v1.x"/,
    },
    {
      name: 'a label that was already invalid',
      object: namespace('ns', { [label('warn')]: 'much', other: 'x' }),
      oldObject: namespace('ns', { [label('warn')]: 'much' }),
    },
  ],
  { informers: fakeInformers({}), client: fakeClient({ list: async () => present }) },
);

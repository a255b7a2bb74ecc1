import { admissionTable, fakeAuthorizer, fakeInformers } from 'kubenest/sdk/testing';
import { object, pod } from '../test-objects.ts';
import { PodSecurityPolicy } from './pod-security-policy.ts';

const any = { rule: 'RunAsAny' };
const open = { seLinux: any, runAsUser: any, supplementalGroups: any, fsGroup: any, allowPrivilegeEscalation: true, volumes: ['*'] };
const ranges = [{ min: 5, max: 9 }];
const policy = (name: string, spec: object, annotations: Record<string, string> = {}) =>
  object('policy/v1beta1', 'PodSecurityPolicy', { spec: { ...open, ...spec } }, { name, annotations });
const under = (...policies: ReturnType<typeof policy>[]) => ({
  informers: fakeInformers({ 'podsecuritypolicies.policy': policies }),
  authorizer: fakeAuthorizer(({ verb, resource }) => verb === 'use' && resource === 'podsecuritypolicies'),
});
const main = { name: 'main', image: 'image' };
const container = (securityContext: object, more: object = {}) => pod({ containers: [{ ...main, ...more, securityContext }] });
const metadata = (name: string, more: object = {}) => ({ name: 'x', namespace: 'ns', annotations: { 'kubernetes.io/psp': name, ...more } });
const secured = (securityContext: object, spec: object = {}) => ({ containers: [{ ...main, securityContext }], ...spec });

admissionTable(
  PodSecurityPolicy,
  [{ name: 'no policies', object: pod(), denied: /^pods "x" is forbidden: PodSecurityPolicy: no providers available/ }],
  under(),
);

admissionTable(
  PodSecurityPolicy,
  [{ name: 'policies without ranges allow nothing', object: pod(), denied: /no providers available to validate pod request/ }],
  under(policy('p', { runAsUser: { rule: 'MustRunAs' } }), policy('q', { seLinux: { rule: 'MustRunAs' } })),
);

admissionTable(
  PodSecurityPolicy,
  [
    {
      name: 'the first policy by name that changes nothing takes precedence over mutating ones',
      object: pod(),
      want: { metadata: metadata('b') },
      annotations: { 'podsecuritypolicy.policy.k8s.io/admit-policy': 'b', 'podsecuritypolicy.policy.k8s.io/validate-policy': 'b' },
    },
    {
      name: 'an update is not mutated',
      object: container({ privileged: true }),
      oldObject: pod(),
      denied:
        /unable to validate pod: \[spec.containers\[0\].securityContext.privileged: Invalid value: true: Privileged containers are not allowed/,
    },
    {
      name: 'owner references and finalizers can be changed without a policy',
      object: pod({ hostPID: true }, { finalizers: ['a/b'] }),
      oldObject: pod({ hostPID: true }),
    },
    { name: 'subresources are not checked', object: pod({ hostPID: true }), oldObject: pod(), subresource: 'status' },
  ],
  under(policy('c', {}), policy('b', {}), policy('a', { readOnlyRootFilesystem: true })),
);

admissionTable(
  PodSecurityPolicy,
  [
    {
      name: 'unset fields get defaults',
      object: pod({ initContainers: [main] }),
      want: {
        metadata: metadata('strict'),
        spec: {
          initContainers: [
            {
              ...main,
              securityContext: {
                runAsUser: 5,
                runAsGroup: 5,
                capabilities: { add: ['A'], drop: ['D'] },
                readOnlyRootFilesystem: true,
                allowPrivilegeEscalation: false,
              },
            },
          ],
          ...secured({
            runAsUser: 5,
            runAsGroup: 5,
            capabilities: { add: ['A'], drop: ['D'] },
            readOnlyRootFilesystem: true,
            allowPrivilegeEscalation: false,
          }),
          securityContext: { supplementalGroups: [5], fsGroup: 5, seLinuxOptions: { level: 's0:c0,c1' } },
          runtimeClassName: 'gvisor',
        },
      },
    },
    {
      name: 'set fields are not overwritten',
      object: pod({ ...secured({ runAsUser: 1 }), securityContext: { fsGroup: 6 } }),
      denied: /securityContext.runAsUser: Invalid value: 1: must be in the ranges: \[\{5 9\}\]/,
    },
    {
      name: 'groups',
      object: pod({ securityContext: { fsGroup: 1 } }),
      denied: /fsGroup: Invalid value: \[1\]: group 1 must be in the ranges/,
    },
    { name: 'a runtime class', object: pod({ runtimeClassName: 'x' }), denied: /spec.runtimeClassName: Invalid value: "x"/ },
    {
      name: 'SELinux',
      object: pod({ securityContext: { seLinuxOptions: { level: 's1', user: 'u' } } }),
      denied: /seLinuxOptions.level: Invalid value: "s1": must be s0:c0,c1 .*seLinuxOptions.user: Invalid value: "u": must be/,
    },
    {
      name: 'a dropped capability',
      object: container({ capabilities: { add: ['X'] } }),
      denied: /add: Invalid value: "X": capability may not be added/,
    },
    {
      name: 'a writable root file system',
      object: container({ readOnlyRootFilesystem: false }),
      denied: /readOnlyRootFilesystem: Invalid value: false: ReadOnlyRootFilesystem must be set to true/,
    },
    {
      name: 'privilege escalation',
      object: container({ allowPrivilegeEscalation: true }),
      denied: /allowPrivilegeEscalation: Invalid value: true: Allowing privilege escalation for containers is not allowed/,
    },
  ],
  under(
    policy('strict', {
      runAsUser: { rule: 'MustRunAs', ranges },
      runAsGroup: { rule: 'MustRunAs', ranges },
      supplementalGroups: { rule: 'MustRunAs', ranges },
      fsGroup: { rule: 'MustRunAs', ranges },
      seLinux: { rule: 'MustRunAs', seLinuxOptions: { level: 's0:c0,c1' } },
      defaultAddCapabilities: ['A'],
      requiredDropCapabilities: ['D'],
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      runtimeClass: { allowedRuntimeClassNames: ['gvisor'], defaultRuntimeClassName: 'gvisor' },
    }),
  ),
);

const volumes = (...list: object[]) => pod({ volumes: list.map((source, i) => ({ name: `v${i}`, ...source })) });
const token = { sources: [{ serviceAccountToken: { path: 'token' } }, { configMap: { name: 'kube-root-ca.crt' } }] };
admissionTable(
  PodSecurityPolicy,
  [
    {
      name: 'host network',
      object: pod({ hostNetwork: true }),
      denied: /spec.securityContext.hostNetwork: Invalid value: true: Host network is not/,
    },
    {
      name: 'host PID and IPC namespaces',
      object: pod({ hostPID: true, hostIPC: true }),
      denied: /Host PID is not allowed to be used .*Host IPC is not/,
    },
    {
      name: 'root',
      object: container({ runAsUser: 0 }),
      denied: /runAsUser: Invalid value: 0: running with the root UID is forbidden/,
    },
    {
      name: 'runAsNonRoot false',
      object: container({ runAsNonRoot: false }),
      denied: /runAsNonRoot: Invalid value: false: must be true/,
    },
    {
      name: 'runAsNonRoot is required unless runAsUser is set',
      object: pod(),
      want: { metadata: metadata('p'), spec: secured({ runAsNonRoot: true }) },
    },
    {
      name: 'a host port',
      object: container({ runAsUser: 1 }, { ports: [{ hostPort: 80 }] }),
      denied: /hostPort: Invalid value: 80: Host port 80 is not allowed to be used. Allowed ports: \[443,8000-8080\]/,
    },
    {
      name: 'a proc mount',
      object: container({ runAsUser: 1, procMount: 'Unmasked' }),
      denied: /procMount: Invalid value: "Unmasked": ProcMountType is not allowed/,
    },
    {
      name: 'sysctls',
      object: pod({
        securityContext: { sysctls: [{ name: 'kernel.shm_rmid_forced' }, { name: 'kernel.msgmax' }, { name: 'net.x' }, { name: 'y' }] },
      }),
      denied:
        /sysctls\[2\]: Forbidden: sysctl "net.x" is not allowed pod.spec.securityContext.sysctls\[3\]: Forbidden: unsafe sysctl "y" is/,
    },
    {
      name: 'a volume type',
      object: volumes({ nfs: {} }),
      denied: /spec.volumes\[0\]: Invalid value: "nfs": nfs volumes are not allowed to be used/,
    },
    { name: 'an unknown volume type', object: volumes({ image: {} }), denied: /unknown volume type for volume: v0/ },
    {
      name: 'a host path',
      object: volumes({ hostPath: { path: '/food' } }),
      denied: /volumes\[0\].hostPath.pathPrefix: Invalid value: "\/food"/,
    },
    {
      name: 'a host path that must be read-only',
      object: pod({ volumes: [{ name: 'v', hostPath: { path: '/foo/x' } }], containers: [{ ...main, volumeMounts: [{ name: 'v' }] }] }),
      denied: /containers\[0\].volumeMounts\[0\].readOnly: Invalid value: false: must be read-only/,
    },
    {
      name: 'a driver',
      object: volumes({ csi: { driver: 'b' } }),
      denied: /csi.driver: Invalid value: "b": Inline CSI driver is not allowed to be used/,
    },
    {
      name: 'a projected service account token counts as a secret',
      object: volumes({ projected: token }, { csi: { driver: 'a' } }),
      want: {
        metadata: metadata('p'),
        spec: {
          ...secured({ runAsNonRoot: true }),
          volumes: [
            { name: 'v0', projected: token },
            { name: 'v1', csi: { driver: 'a' } },
          ],
        },
      },
    },
    {
      name: 'another projected volume does not count as a secret',
      object: volumes({ projected: { sources: [{ secret: { name: 's' } }] } }),
      denied: /projected volumes are not/,
    },
    {
      name: 'a seccomp profile without permitted profiles',
      object: pod({ securityContext: { seccompProfile: { type: 'RuntimeDefault' } } }),
      denied: /pod\]: Forbidden: seccomp may not be set/,
    },
  ],
  under(
    policy('p', {
      runAsUser: { rule: 'MustRunAsNonRoot' },
      hostPorts: [
        { min: 443, max: 443 },
        { min: 8000, max: 8080 },
      ],
      allowedUnsafeSysctls: ['kernel.msg*'],
      forbiddenSysctls: ['net.*'],
      volumes: ['secret', 'hostPath', 'csi'],
      allowedHostPaths: [{ pathPrefix: '/foo/', readOnly: true }],
      allowedCSIDrivers: [{ name: 'a' }],
    }),
  ),
);

const seccomp = 'seccomp.security.alpha.kubernetes.io/';
const appArmor = 'apparmor.security.beta.kubernetes.io/';
admissionTable(
  PodSecurityPolicy,
  [
    {
      name: 'profiles',
      object: pod(),
      want: {
        metadata: metadata('p', { [`${seccomp}pod`]: 'runtime/default', [`container.${appArmor}main`]: 'localhost/a' }),
        spec: { containers: [main], securityContext: { seccompProfile: { type: 'RuntimeDefault' } } },
      },
    },
    {
      name: 'a seccomp profile that is not permitted',
      object: container({ seccompProfile: { type: 'Unconfined' } }),
      denied: /main\]: Forbidden: unconfined is not an allowed seccomp profile. Valid values are docker\/default/,
    },
    {
      name: 'an AppArmor profile in the field that is not permitted',
      object: container({ appArmorProfile: { type: 'Unconfined' } }),
      denied: /main\]: Forbidden: unconfined is not an allowed profile. Allowed values: "localhost\/a"/,
    },
  ],
  under(
    policy(
      'p',
      {},
      {
        [`${seccomp}defaultProfileName`]: 'runtime/default',
        [`${seccomp}allowedProfileNames`]: 'docker/default',
        [`${appArmor}defaultProfileName`]: 'localhost/a',
        [`${appArmor}allowedProfileNames`]: 'localhost/a',
      },
    ),
  ),
);

const byAccount = fakeAuthorizer(({ user, apiGroup, namespace, name }) => {
  if (namespace !== 'ns') return false;
  return user.name === 'system:serviceaccount:ns:default'
    ? name === 'account' && apiGroup === 'policy'
    : name === 'user' && apiGroup === 'extensions';
});
const three = {
  ...under(policy('account', {}), policy('secret', { hostPID: true }), policy('user', { hostIPC: true })),
  authorizer: byAccount,
};
admissionTable(
  PodSecurityPolicy,
  [
    {
      name: 'a policy that the service account may use',
      object: pod({ serviceAccountName: 'default' }),
      want: { metadata: metadata('account') },
    },
    {
      name: 'a policy that the user may use, by a rule for the group extensions',
      object: pod({ serviceAccountName: 'default', hostIPC: true }),
      want: { metadata: metadata('user') },
    },
    {
      name: 'a policy that neither may use is ignored',
      object: pod({ hostPID: true }),
      denied: /unable to admit pod: \[spec.securityContext.hostPID: Invalid value: true: Host PID is not allowed to be used\]$/,
    },
  ],
  three,
);

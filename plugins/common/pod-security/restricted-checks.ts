/** Checks that the restricted level adds to the baseline. Upstream: pod-security-admission/policy. */
import type { Container, Volume } from '../pod-walker.ts';
import { procMount, seccompProfile } from './baseline-checks.ts';
import {
  badContainers,
  type Check,
  type CheckedPod,
  checkedContainers,
  containersText,
  hasOwnUsers,
  isWindows,
  joinQuoted,
  pluralize,
  podContext,
  settersText,
  type Violation,
} from './check.ts';

type CheckPod = (pod: CheckedPod) => Violation | undefined;
const exceptWindows =
  (check: CheckPod): CheckPod =>
  (pod) =>
    isWindows(pod.spec) ? undefined : check(pod);
const exceptOwnUsers =
  (check: CheckPod): CheckPod =>
  (pod) =>
    hasOwnUsers(pod.spec) ? undefined : check(pod);

function allowPrivilegeEscalation({ spec }: CheckedPod): Violation | undefined {
  const names = badContainers(spec, ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false);
  if (names.length === 0) return undefined;
  return {
    reason: 'allowPrivilegeEscalation != false',
    detail: `${containersText(names)} must set securityContext.allowPrivilegeEscalation=false`,
  };
}

function capabilities({ spec }: CheckedPod): Violation | undefined {
  const added = ({ securityContext }: Container): readonly string[] =>
    (securityContext?.capabilities?.add ?? []).filter((name) => name !== 'NET_BIND_SERVICE');
  const keeping = badContainers(spec, ({ securityContext }) => !securityContext?.capabilities?.drop?.includes('ALL'));
  const adding = badContainers(spec, (container) => added(container).length > 0);
  const details: string[] = [];
  if (keeping.length > 0) details.push(`${containersText(keeping)} must set securityContext.capabilities.drop=["ALL"]`);
  if (adding.length > 0) {
    const forbidden = [...new Set(checkedContainers(spec).flatMap(added))].sort();
    details.push(`${containersText(adding)} must not include ${joinQuoted(forbidden)} in securityContext.capabilities.add`);
  }
  return details.length === 0 ? undefined : { reason: 'unrestricted capabilities', detail: details.join('; ') };
}

const allowedVolumes: readonly (keyof Volume)[] = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
];
const restrictedVolumes: readonly (keyof Volume)[] = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'gitRepo',
  'nfs',
  'iscsi',
  'glusterfs',
  'rbd',
  'flexVolume',
  'cinder',
  'cephfs',
  'flocker',
  'fc',
  'azureFile',
  'vsphereVolume',
  'quobyte',
  'azureDisk',
  'photonPersistentDisk',
  'portworxVolume',
  'scaleIO',
  'storageos',
];

function volumes({ spec }: CheckedPod): Violation | undefined {
  const bad = (spec.volumes ?? []).filter((volume) => !allowedVolumes.some((type) => volume[type]));
  if (bad.length === 0) return undefined;
  const typeOf = (volume: Volume): string => restrictedVolumes.find((type) => volume[type]) ?? 'unknown';
  const types = [...new Set(bad.map(typeOf))].sort();
  const names = `${pluralize('volume', 'volumes', bad.length)} ${joinQuoted(bad.map(({ name }) => name))}`;
  const what = pluralize('restricted volume type', 'restricted volume types', types.length);
  return {
    reason: 'restricted volume types',
    detail: `${names} ${pluralize('uses', 'use', bad.length)} ${what} ${joinQuoted(types)}`,
  };
}

function runAsNonRoot({ spec }: CheckedPod): Violation | undefined {
  const reason = 'runAsNonRoot != true';
  const pod = podContext(spec)?.runAsNonRoot;
  const setters = settersText(
    pod === false,
    badContainers(spec, ({ securityContext }) => securityContext?.runAsNonRoot === false),
  );
  if (setters !== '') return { reason, detail: `${setters} must not set securityContext.runAsNonRoot=false` };
  const silent = pod ? [] : badContainers(spec, ({ securityContext }) => securityContext?.runAsNonRoot === undefined);
  if (silent.length === 0) return undefined;
  return { reason, detail: `pod or ${containersText(silent)} must set securityContext.runAsNonRoot=true` };
}

function runAsUser({ spec }: CheckedPod): Violation | undefined {
  const pod = podContext(spec)?.runAsUser === 0;
  const setters = settersText(
    pod,
    badContainers(spec, ({ securityContext }) => securityContext?.runAsUser === 0),
  );
  return setters === '' ? undefined : { reason: 'runAsUser=0', detail: `${setters} must not set runAsUser=0` };
}

function seccomp(pod: CheckedPod): Violation | undefined {
  const wrong = seccompProfile(pod);
  if (wrong) return wrong;
  const silent = podContext(pod.spec)?.seccompProfile
    ? []
    : badContainers(pod.spec, ({ securityContext }) => securityContext?.seccompProfile === undefined);
  if (silent.length === 0) return undefined;
  return {
    reason: 'seccompProfile',
    detail: `pod or ${containersText(silent)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
  };
}

export const restrictedChecks: readonly Check[] = [
  {
    id: 'allowPrivilegeEscalation',
    level: 'restricted',
    versions: [
      { since: 8, check: allowPrivilegeEscalation },
      { since: 25, check: exceptWindows(allowPrivilegeEscalation) },
    ],
  },
  {
    id: 'capabilities_restricted',
    level: 'restricted',
    overrides: ['capabilities_baseline'],
    versions: [
      { since: 22, check: capabilities },
      { since: 25, check: exceptWindows(capabilities) },
    ],
  },
  { id: 'procMount_restricted', level: 'restricted', overrides: ['procMount'], versions: [{ since: 35, check: procMount }] },
  { id: 'restrictedVolumes', level: 'restricted', overrides: ['hostPathVolumes'], versions: [{ since: 0, check: volumes }] },
  {
    id: 'runAsNonRoot',
    level: 'restricted',
    versions: [
      { since: 0, check: runAsNonRoot },
      { since: 35, check: exceptOwnUsers(runAsNonRoot) },
    ],
  },
  {
    id: 'runAsUser',
    level: 'restricted',
    versions: [
      { since: 23, check: runAsUser },
      { since: 35, check: exceptOwnUsers(runAsUser) },
    ],
  },
  {
    id: 'seccompProfile_restricted',
    level: 'restricted',
    overrides: ['seccompProfile_baseline'],
    versions: [
      { since: 19, check: seccomp },
      { since: 25, check: exceptWindows(seccomp) },
    ],
  },
];

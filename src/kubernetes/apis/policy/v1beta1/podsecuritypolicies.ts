import { defineResource } from '#apiserver/registry/resource-definition';
import { nameColumn } from '#apiserver/registry/table-columns';
import { describe, stringColumn } from '#kubernetes/apis/columns';
import { validatePodSecurityPolicy } from '#kubernetes/apis/policy/validation/pod-security-policy';
import type { PodSecurityPolicy, PodSecurityPolicySpec } from '#kubernetes/schema/policy_v1beta1.gen';

const column = (name: string, field: keyof PodSecurityPolicySpec, value: (spec: PodSecurityPolicySpec) => string | boolean) =>
  stringColumn<PodSecurityPolicy>(name, describe('policy_v1beta1.PodSecurityPolicySpec', field), ({ spec = {} }) => value(spec));

/** Served if the admission plugin PodSecurityPolicy is on. Upstream until 1.25. */
export default defineResource<PodSecurityPolicy>({
  group: 'policy',
  version: 'v1beta1',
  kind: 'PodSecurityPolicy',
  resource: 'podsecuritypolicies',
  namespaced: false,
  shortNames: ['psp'],
  storageVersionHash: 'khBLobUXkqA=',
  schema: 'policy_v1beta1.PodSecurityPolicy',
  storagePath: 'podsecuritypolicy',
  deprecationWarning: 'policy/v1beta1 PodSecurityPolicy is deprecated in v1.21+, unavailable in v1.25+',
  removedRelease: '1.25',
  servedByDefault: true,
  defaults({ spec }) {
    // Compatible with policies that are older than the field.
    if (spec) spec.allowPrivilegeEscalation ??= true;
  },
  strategy: { validate: validatePodSecurityPolicy, validateUpdate: validatePodSecurityPolicy },
  columns: [
    nameColumn,
    column('Priv', 'privileged', ({ privileged }) => String(privileged ?? false)),
    column('Caps', 'allowedCapabilities', ({ allowedCapabilities = [] }) => allowedCapabilities.join()),
    column('SELinux', 'seLinux', ({ seLinux }) => seLinux?.rule ?? ''),
    column('RunAsUser', 'runAsUser', ({ runAsUser }) => runAsUser?.rule ?? ''),
    column('FsGroup', 'fsGroup', ({ fsGroup }) => fsGroup?.rule ?? ''),
    column('SupGroup', 'supplementalGroups', ({ supplementalGroups }) => supplementalGroups?.rule ?? ''),
    column('ReadOnlyRootFs', 'readOnlyRootFilesystem', ({ readOnlyRootFilesystem }) => readOnlyRootFilesystem ?? false),
    column('Volumes', 'volumes', ({ volumes = [] }) => volumes.join()),
  ],
});

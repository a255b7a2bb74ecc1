import {
  type AdmissionMatch,
  AdmissionPlugin,
  type AdmissionPluginClass,
  type Attributes,
  changedPodTemplate,
  deny,
  type KubeObject,
  podTemplateOf,
  type PodTemplate,
  workloads,
} from 'kubenest/sdk';
import { isBinding, podBindings } from '../../common/pod-bindings.ts';
import { baselineChecks } from '../../../common/pod-security/baseline-checks.ts';
import type { CheckedPod } from '../../../common/pod-security/check.ts';
import { restrictedChecks } from '../../../common/pod-security/restricted-checks.ts';

/** Checks by id, each as of its newest version. */
const checks = new Map([...baselineChecks, ...restrictedChecks].map(({ id, versions }) => [id, versions.at(-1)?.check]));

/** Prefix of the annotations of a pod that set AppArmor profiles, beside the fields. */
const appArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/';

/** Returns the pod template if a request changes its AppArmor profiles by annotations alone. Those of a binding become those of its pod. */
function annotatedPodTemplate({ object, oldObject }: Attributes): PodTemplate | undefined {
  if (isBinding(object)) return { metadata: object.metadata, spec: { containers: [] }, path: '' };
  return profilesOf(object) === profilesOf(oldObject) ? undefined : podTemplateOf(object);
}

function profilesOf(object: KubeObject | undefined): string {
  const annotations = Object.entries(podTemplateOf(object)?.metadata.annotations ?? {});
  const profiles = annotations.filter(([key]) => key.startsWith(appArmorPrefix));
  return JSON.stringify(profiles.toSorted());
}

/**
 * Returns a plugin of one control of the Pod Security Standards, for pods and for the templates of pods. In contrast to the labels of
 * namespaces, a control that is a plugin can be in force alone, and has a mode, a scope and exceptions.
 */
function control(name: string, id: string, match: readonly AdmissionMatch[] = workloads): AdmissionPluginClass {
  const check = checks.get(id);
  if (!check) throw new Error(`unknown check ${id}`);
  class Control {
    validate(request: Attributes): void {
      const template = changedPodTemplate(request) ?? annotatedPodTemplate(request);
      const violation = template && check?.(template as unknown as CheckedPod);
      if (violation) deny(request, violation.detail === '' ? violation.reason : `${violation.reason} (${violation.detail})`);
    }
  }
  AdmissionPlugin({ name, match })(Control);
  return Control;
}

/** The controls of the level baseline. Its control of `procMount` is missing, because the API server rejects those pods in any case. */
export const baseline = [
  control('DisallowCapabilities', 'capabilities_baseline'),
  control('DisallowHostNamespaces', 'hostNamespaces'),
  control('DisallowHostPath', 'hostPathVolumes'),
  control('DisallowHostPorts', 'hostPorts'),
  control('DisallowHostProbes', 'hostProbesAndHostLifecycle'),
  control('DisallowHostProcess', 'windowsHostProcess'),
  control('DisallowPrivilegedContainers', 'privileged'),
  control('DisallowSELinuxOptions', 'seLinuxOptions'),
  control('RestrictAppArmorProfiles', 'appArmorProfile', [...workloads, ...podBindings]),
  control('RestrictSeccomp', 'seccompProfile_baseline'),
  control('RestrictSysctls', 'sysctls'),
];

/** The controls that the level restricted adds or makes stricter. */
export const restricted = [
  control('DisallowCapabilitiesStrict', 'capabilities_restricted'),
  control('DisallowPrivilegeEscalation', 'allowPrivilegeEscalation'),
  control('DisallowProcMount', 'procMount_restricted'),
  control('RequireRunAsNonRoot', 'runAsNonRoot'),
  control('RequireRunAsNonRootUser', 'runAsUser'),
  control('RestrictSeccompStrict', 'seccompProfile_restricted'),
  control('RestrictVolumeTypes', 'restrictedVolumes'),
];

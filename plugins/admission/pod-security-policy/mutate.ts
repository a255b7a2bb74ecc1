import { type Container, type ContainerSecurityContext, containersOf, type Pod } from '../../common/pod-walker.ts';
import type { Capabilities, IdStrategy, Policy, PolicySpec } from './policy.ts';
import { defaultAppArmor, defaultSeccomp } from './profiles.ts';

/**
 * Sets the policy's defaults in a pod, in place. Upstream until 1.25: MutatePod in
 * kubernetes/pkg/security/podsecuritypolicy/provider.go.
 */
export function mutatePod(pod: Pod, policy: Policy): void {
  const { spec } = policy;
  const own = { ...pod.spec.securityContext };
  const groups = firstOf(spec.supplementalGroups);
  if (own.supplementalGroups === undefined && groups !== undefined) own.supplementalGroups = [groups];
  const fsGroup = firstOf(spec.fsGroup);
  if (own.fsGroup === undefined && fsGroup !== undefined) own.fsGroup = fsGroup;
  const seLinux = seLinuxOf(spec);
  if (own.seLinuxOptions === undefined && seLinux !== undefined) own.seLinuxOptions = { ...seLinux };
  if (Object.keys(own).length > 0) pod.spec.securityContext = own;
  defaultSeccomp(pod, policy);
  const runtimeClass = spec.runtimeClass?.defaultRuntimeClassName;
  if (pod.spec.runtimeClassName === undefined && runtimeClass !== undefined) pod.spec.runtimeClassName = runtimeClass;
  for (const { container } of containersOf(pod.spec)) mutateContainer(pod, container, policy);
}

function mutateContainer(pod: Pod, container: Container, policy: Policy): void {
  const { spec } = policy;
  const ofPod = pod.spec.securityContext ?? {};
  const own: ContainerSecurityContext = { ...container.securityContext };
  const user = firstOf(spec.runAsUser);
  if ((own.runAsUser ?? ofPod.runAsUser) === undefined && user !== undefined) own.runAsUser = user;
  const group = spec.runAsGroup && firstOf(spec.runAsGroup);
  if ((own.runAsGroup ?? ofPod.runAsGroup) === undefined && group !== undefined) own.runAsGroup = group;
  defaultAppArmor(pod, container, policy);
  const isUserOpen = (own.runAsNonRoot ?? ofPod.runAsNonRoot) === undefined && (own.runAsUser ?? ofPod.runAsUser) === undefined;
  if (isUserOpen && spec.runAsUser.rule === 'MustRunAsNonRoot') own.runAsNonRoot = true;
  const capabilities = capabilitiesOf(own.capabilities, spec);
  if (capabilities) own.capabilities = capabilities;
  if (spec.readOnlyRootFilesystem) own.readOnlyRootFilesystem ??= true;
  const escalation = spec.defaultAllowPrivilegeEscalation ?? (spec.allowPrivilegeEscalation ? undefined : false);
  if (own.allowPrivilegeEscalation === undefined && escalation !== undefined) own.allowPrivilegeEscalation = escalation;
  if (Object.keys(own).length > 0) container.securityContext = own;
}

function firstOf({ rule, ranges }: IdStrategy): number | undefined {
  return rule === 'MustRunAs' ? ranges?.[0]?.min : undefined;
}

function seLinuxOf({ seLinux }: PolicySpec): object | undefined {
  return seLinux.rule === 'MustRunAs' ? seLinux.seLinuxOptions : undefined;
}

/**
 * Returns the container's capabilities merged with the policy's, sorted if the policy adds any; capabilities that the
 * container drops are not added.
 */
function capabilitiesOf(own: Capabilities | undefined, spec: PolicySpec): Capabilities | undefined {
  const { defaultAddCapabilities = [], requiredDropCapabilities = [] } = spec;
  const dropped = new Set(own?.drop);
  const added = new Set(own?.add);
  const add = new Set([...added, ...defaultAddCapabilities.filter((capability) => !dropped.has(capability))]);
  const drop = new Set([...dropped, ...requiredDropCapabilities]);
  if (add.size === added.size && drop.size === dropped.size) return own;
  return { ...(add.size > 0 && { add: [...add].sort() }), ...(drop.size > 0 && { drop: [...drop].sort() }) };
}

import { type FieldError, fieldForbidden, fieldPath, fieldRequired, invalid, quote } from 'kubenest/sdk';
import type { Container, Pod, SELinuxOptions } from '../../common/pod-walker.ts';
import { containersWithPaths, type Path } from './containers-with-paths.ts';
import type { IdRange, IdStrategy, Policy, PolicySpec } from './policy.ts';
import { validateAppArmor, validateContainerSeccomp, validatePodSeccomp } from './profiles.ts';
import { validateVolumes } from './volumes.ts';

const contextPath = fieldPath('spec', 'securityContext');
const sysctlsPath = fieldPath('pod', 'spec', 'securityContext', 'sysctls');
const safeSysctls = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
];

/**
 * Returns the violations of a policy by a pod. Upstream until 1.25: ValidatePod in
 * kubernetes/pkg/security/podsecuritypolicy/provider.go.
 */
export function validatePod(pod: Pod, policy: Policy): FieldError[] {
  const { spec } = policy;
  const { securityContext: context = {}, runtimeClassName } = pod.spec;
  const errors = [
    ...groupErrors(contextPath.child('fsGroup'), spec.fsGroup, context.fsGroup === undefined ? [] : [context.fsGroup]),
    ...groupErrors(contextPath.child('supplementalGroups'), spec.supplementalGroups, context.supplementalGroups ?? []),
    ...validatePodSeccomp(pod, policy),
    ...seLinuxErrors(contextPath.child('seLinuxOptions'), spec, context.seLinuxOptions),
  ];
  for (const [field, title] of [
    ['hostNetwork', 'network'],
    ['hostPID', 'PID'],
    ['hostIPC', 'IPC'],
  ] as const) {
    if (pod.spec[field] && !spec[field]) errors.push(invalid(contextPath.child(field), true, `Host ${title} is not allowed to be used`));
  }
  for (const error of [...sysctlErrors(pod, spec), ...validateVolumes(pod, spec)]) errors.push(error);
  const runtimeClasses = spec.runtimeClass && (spec.runtimeClass.allowedRuntimeClassNames ?? []);
  if (runtimeClassName !== undefined && runtimeClasses && !runtimeClasses.some((name) => name === '*' || name === runtimeClassName))
    errors.push(invalid(fieldPath('spec', 'runtimeClassName'), runtimeClassName, ''));
  for (const { container, path } of containersWithPaths(pod))
    for (const error of containerErrors(pod, container, policy, path)) errors.push(error);
  return errors;
}

function containerErrors(pod: Pod, container: Container, policy: Policy, path: Path): FieldError[] {
  const { spec } = policy;
  const at = path.child('securityContext');
  const ofPod = pod.spec.securityContext ?? {};
  const context = container.securityContext ?? {};
  const group = context.runAsGroup ?? ofPod.runAsGroup;
  const errors = [
    ...userErrors(at, spec.runAsUser, context.runAsNonRoot ?? ofPod.runAsNonRoot, context.runAsUser ?? ofPod.runAsUser),
    ...(spec.runAsGroup ? groupErrors(at, spec.runAsGroup, group === undefined ? [] : [group]) : []),
    ...seLinuxErrors(at.child('seLinuxOptions'), spec, context.seLinuxOptions ?? ofPod.seLinuxOptions),
    ...validateAppArmor(pod, container, policy),
    ...validateContainerSeccomp(pod, container, policy),
  ];
  if (context.privileged && !spec.privileged) errors.push(invalid(at.child('privileged'), true, 'Privileged containers are not allowed'));
  const procMounts = spec.allowedProcMountTypes?.length ? spec.allowedProcMountTypes : ['Default'];
  const procMount = context.procMount ?? 'Default';
  if (!procMounts.includes(procMount)) errors.push(invalid(at.child('procMount'), procMount, 'ProcMountType is not allowed'));
  const ofLists = [
    ...capabilityErrors(at.child('capabilities'), spec, container),
    ...hostPortErrors(path.child('hostPort'), spec, container),
  ];
  for (const error of ofLists) errors.push(error);
  if (spec.readOnlyRootFilesystem && !context.readOnlyRootFilesystem) {
    const must = context.readOnlyRootFilesystem === undefined ? 'may not be nil and must be set to true' : 'must be set to true';
    errors.push(invalid(at.child('readOnlyRootFilesystem'), context.readOnlyRootFilesystem, `ReadOnlyRootFilesystem ${must}`));
  }
  if (!spec.allowPrivilegeEscalation && context.allowPrivilegeEscalation !== false) {
    const denied = 'Allowing privilege escalation for containers is not allowed';
    errors.push(invalid(at.child('allowPrivilegeEscalation'), context.allowPrivilegeEscalation, denied));
  }
  return errors;
}

function userErrors(path: Path, { rule, ranges = [] }: IdStrategy, nonRoot: boolean | undefined, user: number | undefined): FieldError[] {
  const at = path.child('runAsUser');
  if (rule === 'MustRunAs') {
    if (user === undefined) return [fieldRequired(at, '')];
    return isInRanges(user, ranges) ? [] : [invalid(at, user, `must be in the ranges: ${rangesText(ranges)}`)];
  }
  if (rule !== 'MustRunAsNonRoot') return [];
  if (nonRoot === undefined && user === undefined) return [fieldRequired(path.child('runAsNonRoot'), 'must be true')];
  if (nonRoot === false) return [invalid(path.child('runAsNonRoot'), false, 'must be true')];
  return user === 0 ? [invalid(at, user, 'running with the root UID is forbidden')] : [];
}

function groupErrors(path: Path, { rule, ranges = [] }: IdStrategy, groups: readonly number[]): FieldError[] {
  if (rule === 'RunAsAny') return [];
  if (rule === 'MustRunAs' && groups.length === 0)
    return [invalid(path, groups, 'unable to validate empty groups against required ranges')];
  return groups
    .filter((group) => !isInRanges(group, ranges))
    .map((group) => invalid(path, groups, `group ${group} must be in the ranges: ${rangesText(ranges)}`));
}

function isInRanges(id: number, ranges: readonly IdRange[]): boolean {
  return ranges.some(({ min, max }) => id >= min && id <= max);
}

/** Formats ranges like Go: `[{1 2} {4 4}]`. */
function rangesText(ranges: readonly IdRange[]): string {
  return `[${ranges.map(({ min, max }) => `{${min} ${max}}`).join(' ')}]`;
}

function seLinuxErrors(path: Path, { seLinux }: PolicySpec, options: SELinuxOptions | undefined): FieldError[] {
  if (seLinux.rule !== 'MustRunAs') return [];
  if (!options) return [fieldRequired(path, '')];
  const must = seLinux.seLinuxOptions ?? {};
  return (['level', 'role', 'type', 'user'] as const)
    .filter((field) => !(field === 'level' ? isSameLevel : isSame)(must[field] ?? '', options[field] ?? ''))
    .map((field) => invalid(path.child(field), options[field] ?? '', `must be ${must[field] ?? ''}`));
}

function isSame(a: string, b: string): boolean {
  return a === b;
}

/** True for equal SELinux levels in any category order: `s0:c1,c0` and `s0:c0,c1`. */
function isSameLevel(a: string, b: string): boolean {
  return normalizedLevel(a) === normalizedLevel(b);
}

function normalizedLevel(level: string): string {
  const colon = level.indexOf(':');
  if (colon < 0) return level;
  const categories = level
    .slice(colon + 1)
    .split(',')
    .sort();
  return `${level.slice(0, colon)}:${categories.join()}`;
}

function sysctlErrors({ spec: { securityContext } }: Pod, spec: PolicySpec): FieldError[] {
  const { forbiddenSysctls = [], allowedUnsafeSysctls = [] } = spec;
  return (securityContext?.sysctls ?? []).flatMap(({ name }, i) => {
    if (matchesAny(name, forbiddenSysctls)) return [fieldForbidden(sysctlsPath.index(i), `sysctl ${quote(name)} is not allowed`)];
    if (safeSysctls.includes(name) || matchesAny(name, allowedUnsafeSysctls)) return [];
    return [fieldForbidden(sysctlsPath.index(i), `unsafe sysctl ${quote(name)} is not allowed`)];
  });
}

function matchesAny(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern));
}

function capabilityErrors(path: Path, spec: PolicySpec, { securityContext }: Container): FieldError[] {
  const { defaultAddCapabilities = [], requiredDropCapabilities = [], allowedCapabilities = [] } = spec;
  const capabilities = securityContext?.capabilities;
  if (!capabilities) {
    const isOpen = defaultAddCapabilities.length === 0 && requiredDropCapabilities.length === 0;
    return isOpen ? [] : [invalid(path, undefined, 'required capabilities are not set on the securityContext')];
  }
  if (allowedCapabilities.includes('*')) return [];
  const { add = [], drop = [] } = capabilities;
  return [
    ...add
      .filter((capability) => !defaultAddCapabilities.includes(capability) && !allowedCapabilities.includes(capability))
      .map((capability) => invalid(path.child('add'), capability, 'capability may not be added')),
    ...requiredDropCapabilities
      .filter((capability) => !drop.includes(capability))
      .map((capability) => invalid(path.child('drop'), drop, `${capability} is required to be dropped but was not found`)),
  ];
}

function hostPortErrors(path: Path, { hostPorts = [] }: PolicySpec, { ports = [] }: Container): FieldError[] {
  const allowed = hostPorts.map(({ min, max }) => (min === max ? `${min}` : `${min}-${max}`)).join();
  return ports
    .map(({ hostPort = 0 }) => hostPort)
    .filter((port) => port > 0 && !isInRanges(port, hostPorts))
    .map((port) => invalid(path, port, `Host port ${port} is not allowed to be used. Allowed ports: [${allowed}]`));
}

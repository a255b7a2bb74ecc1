/** The checks of the baseline level. Upstream: pod-security-admission/policy. */
import { quote } from 'kubenest/sdk';
import type { Container, SELinuxOptions } from '../pod-walker.ts';
import {
  badContainers,
  type Check,
  type CheckedPod,
  checkedContainers,
  containersText,
  hasOwnUsers,
  joinQuoted,
  pluralize,
  podContext,
  settersText,
  type Violation,
} from './check.ts';

const appArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/';
const seccompPodAnnotation = 'seccomp.security.alpha.kubernetes.io/pod';
const seccompContainerPrefix = 'container.seccomp.security.alpha.kubernetes.io/';

const isAllowedProfile = (type: string | undefined): boolean => type === 'RuntimeDefault' || type === 'Localhost';
const isAllowedAppArmorAnnotation = (value: string): boolean =>
  value === '' || value === 'runtime/default' || value.startsWith('localhost/');
const isAllowedSeccompAnnotation = (value: string): boolean =>
  value === 'runtime/default' || value === 'docker/default' || value.startsWith('localhost/');

function appArmorProfile({ metadata, spec }: CheckedPod): Violation | undefined {
  const values = new Set<string>();
  const isBad = (profile: { readonly type?: string } | undefined): boolean => {
    if (!profile || isAllowedProfile(profile.type)) return false;
    values.add(profile.type ?? '');
    return true;
  };
  const pod = isBad(podContext(spec)?.appArmorProfile);
  const setters = settersText(
    pod,
    badContainers(spec, ({ securityContext }) => isBad(securityContext?.appArmorProfile)),
  );
  const annotations = Object.entries(metadata.annotations ?? {})
    .filter(([key, value]) => key.startsWith(appArmorPrefix) && !isAllowedAppArmorAnnotation(value))
    .map(([key, value]) => `${key}=${quote(value)}`)
    .sort();
  const all = [...[...values].sort(), ...annotations];
  const who = [setters, annotations.length > 0 ? pluralize('annotation', 'annotations', annotations.length) : ''].filter(
    (text) => text !== '',
  );
  if (who.length === 0) return undefined;
  return {
    reason: pluralize('forbidden AppArmor profile', 'forbidden AppArmor profiles', all.length),
    detail: `${who.join(' and ')} must not set AppArmor profile type to ${joinQuoted(all)}`,
  };
}

const defaultCapabilities = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
]);

function capabilities({ spec }: CheckedPod): Violation | undefined {
  const added = ({ securityContext }: Container): readonly string[] =>
    (securityContext?.capabilities?.add ?? []).filter((name) => !defaultCapabilities.has(name));
  const names = badContainers(spec, (container) => added(container).length > 0);
  if (names.length === 0) return undefined;
  const forbidden = [...new Set(checkedContainers(spec).flatMap(added))].sort();
  return {
    reason: 'non-default capabilities',
    detail: `${containersText(names)} must not include ${joinQuoted(forbidden)} in securityContext.capabilities.add`,
  };
}

function hostNamespaces({ spec }: CheckedPod): Violation | undefined {
  const set = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((name) => spec[name]).map((name) => `${name}=true`);
  return set.length === 0 ? undefined : { reason: 'host namespaces', detail: set.join(', ') };
}

function hostPathVolumes({ spec }: CheckedPod): Violation | undefined {
  const names = (spec.volumes ?? []).filter((volume) => volume.hostPath).map(({ name }) => name);
  if (names.length === 0) return undefined;
  return { reason: 'hostPath volumes', detail: `${pluralize('volume', 'volumes', names.length)} ${joinQuoted(names)}` };
}

function hostPorts({ spec }: CheckedPod): Violation | undefined {
  const portsOf = ({ ports }: Container): string[] =>
    (ports ?? []).filter(({ hostPort }) => hostPort).map(({ hostPort }) => String(hostPort));
  const names = badContainers(spec, (container) => portsOf(container).length > 0);
  if (names.length === 0) return undefined;
  const ports = [...new Set(checkedContainers(spec).flatMap(portsOf))].sort();
  const uses = `${pluralize('uses', 'use', names.length)} ${pluralize('hostPort', 'hostPorts', ports.length)}`;
  return { reason: 'hostPort', detail: `${containersText(names)} ${uses} ${ports.join(', ')}` };
}

function hostProbesAndHostLifecycle({ spec }: CheckedPod): Violation | undefined {
  const hostsOf = ({ livenessProbe, readinessProbe, startupProbe, lifecycle }: Container): string[] =>
    [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop].flatMap((handler) =>
      [handler?.httpGet?.host, handler?.tcpSocket?.host].filter((host): host is string => Boolean(host)),
    );
  const names = [...new Set(badContainers(spec, (container) => hostsOf(container).length > 0))].sort();
  if (names.length === 0) return undefined;
  const hosts = [...new Set(checkedContainers(spec).flatMap(hostsOf))].sort();
  const what = pluralize('probe or lifecycle host', 'probe or lifecycle hosts', hosts.length);
  return {
    reason: 'probe or lifecycle host',
    detail: `${containersText(names)} ${pluralize('uses', 'use', names.length)} ${what} ${joinQuoted(hosts)}`,
  };
}

function privileged({ spec }: CheckedPod): Violation | undefined {
  const names = badContainers(spec, ({ securityContext }) => securityContext?.privileged === true);
  if (names.length === 0) return undefined;
  return { reason: 'privileged', detail: `${containersText(names)} must not set securityContext.privileged=true` };
}

export function procMount({ spec }: CheckedPod): Violation | undefined {
  const typeOf = ({ securityContext }: Container): string => securityContext?.procMount ?? 'Default';
  const names = badContainers(spec, (container) => typeOf(container) !== 'Default');
  if (names.length === 0) return undefined;
  const types = [...new Set(checkedContainers(spec).map(typeOf))].filter((type) => type !== 'Default').sort();
  return { reason: 'procMount', detail: `${containersText(names)} must not set securityContext.procMount to ${joinQuoted(types)}` };
}

function seLinuxOptions(allowedTypes: readonly string[]): (pod: CheckedPod) => Violation | undefined {
  return ({ spec }) => {
    const types = new Set<string>();
    let user = false;
    let role = false;
    const isBad = (options: SELinuxOptions | undefined): boolean => {
      if (!options) return false;
      const badType = !allowedTypes.includes(options.type ?? '');
      if (badType) types.add(options.type ?? '');
      if (options.user) user = true;
      if (options.role) role = true;
      return badType || Boolean(options.user) || Boolean(options.role);
    };
    const pod = isBad(podContext(spec)?.seLinuxOptions);
    const setters = settersText(
      pod,
      badContainers(spec, ({ securityContext }) => isBad(securityContext?.seLinuxOptions)),
    );
    if (setters === '') return undefined;
    const data = [
      ...(types.size > 0 ? [`${pluralize('type', 'types', types.size)} ${joinQuoted([...types].sort())}`] : []),
      ...(user ? ['user may not be set'] : []),
      ...(role ? ['role may not be set'] : []),
    ];
    return { reason: 'seLinuxOptions', detail: `${setters} set forbidden securityContext.seLinuxOptions: ${data.join('; ')}` };
  };
}

function seccompAnnotations({ metadata, spec }: CheckedPod): Violation | undefined {
  const keys = [seccompPodAnnotation, ...checkedContainers(spec).map(({ name }) => seccompContainerPrefix + name)];
  const forbidden = [...new Set(keys)].flatMap((key) => {
    const value = metadata.annotations?.[key];
    return value === undefined || isAllowedSeccompAnnotation(value) ? [] : [`${key}=${quote(value)}`];
  });
  if (forbidden.length === 0) return undefined;
  const what = pluralize('annotation', 'annotations', forbidden.length);
  return { reason: 'seccompProfile', detail: `forbidden ${what} ${forbidden.sort().join(', ')}` };
}

/** Checks for seccomp profiles of a type that is not permitted. */
export function seccompProfile({ spec }: CheckedPod): Violation | undefined {
  const values = new Set<string>();
  const isBad = (profile: { readonly type?: string } | undefined): boolean => {
    if (!profile || isAllowedProfile(profile.type)) return false;
    values.add(profile.type ?? '');
    return true;
  };
  const pod = isBad(podContext(spec)?.seccompProfile);
  const setters = settersText(
    pod,
    badContainers(spec, ({ securityContext }) => isBad(securityContext?.seccompProfile)),
  );
  if (setters === '') return undefined;
  return {
    reason: 'seccompProfile',
    detail: `${setters} must not set securityContext.seccompProfile.type to ${joinQuoted([...values].sort())}`,
  };
}

const sysctls1_0 = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
];
const sysctls1_27 = [...sysctls1_0, 'net.ipv4.ip_local_reserved_ports'];
const sysctls1_29 = [
  ...sysctls1_27,
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
];
const sysctls1_32 = [...sysctls1_29, 'net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem'];

function sysctls(allowed: readonly string[]): (pod: CheckedPod) => Violation | undefined {
  return ({ spec }) => {
    const names = (podContext(spec)?.sysctls ?? []).map(({ name }) => name).filter((name) => !allowed.includes(name));
    return names.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: names.join(', ') };
  };
}

function windowsHostProcess({ spec }: CheckedPod): Violation | undefined {
  const pod = podContext(spec)?.windowsOptions?.hostProcess === true;
  const setters = settersText(
    pod,
    badContainers(spec, ({ securityContext }) => securityContext?.windowsOptions?.hostProcess === true),
  );
  if (setters === '') return undefined;
  return { reason: 'hostProcess', detail: `${setters} must not set securityContext.windowsOptions.hostProcess=true` };
}

const seLinuxTypes = ['', 'container_t', 'container_init_t', 'container_kvm_t'];

export const baselineChecks: readonly Check[] = [
  { id: 'appArmorProfile', level: 'baseline', versions: [{ since: 0, check: appArmorProfile }] },
  { id: 'capabilities_baseline', level: 'baseline', versions: [{ since: 0, check: capabilities }] },
  { id: 'hostNamespaces', level: 'baseline', versions: [{ since: 0, check: hostNamespaces }] },
  { id: 'hostPathVolumes', level: 'baseline', versions: [{ since: 0, check: hostPathVolumes }] },
  { id: 'hostPorts', level: 'baseline', versions: [{ since: 0, check: hostPorts }] },
  { id: 'hostProbesAndHostLifecycle', level: 'baseline', versions: [{ since: 34, check: hostProbesAndHostLifecycle }] },
  { id: 'privileged', level: 'baseline', versions: [{ since: 0, check: privileged }] },
  {
    id: 'procMount',
    level: 'baseline',
    versions: [
      { since: 0, check: procMount },
      { since: 35, check: (pod) => (hasOwnUsers(pod.spec) ? undefined : procMount(pod)) },
    ],
  },
  {
    id: 'seLinuxOptions',
    level: 'baseline',
    versions: [
      { since: 0, check: seLinuxOptions(seLinuxTypes) },
      { since: 31, check: seLinuxOptions([...seLinuxTypes, 'container_engine_t']) },
    ],
  },
  {
    id: 'seccompProfile_baseline',
    level: 'baseline',
    versions: [
      { since: 0, check: seccompAnnotations },
      { since: 19, check: seccompProfile },
    ],
  },
  {
    id: 'sysctls',
    level: 'baseline',
    versions: [
      { since: 0, check: sysctls(sysctls1_0) },
      { since: 27, check: sysctls(sysctls1_27) },
      { since: 29, check: sysctls(sysctls1_29) },
      { since: 32, check: sysctls(sysctls1_32) },
    ],
  },
  { id: 'windowsHostProcess', level: 'baseline', versions: [{ since: 0, check: windowsHostProcess }] },
];

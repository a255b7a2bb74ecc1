/** Warnings about valid but questionable fields of pods and templates. Upstream: pkg/api/pod/warnings.go. */
import type { ObjectMeta } from '#apimachinery/meta/types';
import { isEmptyObject } from '#apimachinery/patch/own-property';
import { quote } from '#apimachinery/runtime/quote';
import { keysOf } from '#apimachinery/runtime/wide-objects';
import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import { type Path, fieldPath } from '#apimachinery/validation/field';
import { getWarningsForIP } from '#apimachinery/validation/ip';
import { isDNS1123Label } from '#apimachinery/validation/names';
import { checkEach } from '#apimachinery/validation/pausing';
import type { Container, ContainerPort, Pod, PodSpec, PodTemplateSpec, Volume, VolumeProjection } from '#kubernetes/schema/core_v1.gen';
import { appArmorDeprecation, appArmorProfileOf } from '../app-armor.ts';
import { type VolumeFile, overlappingPaths } from './overlapping-paths.ts';
import { nodeLabelDeprecation, warnNodeSelectorTerm, warnNodeSelectorTerms } from './node-labels.ts';
import { warnClaimSpec } from './persistent-volume-claim.ts';
import { appArmorPrefix, containerAnnotations, seccompContainerPrefix, seccompPod } from './pod-annotations.ts';
import { warnFractionalBytes } from './resources.ts';
import { eachContainer } from './visit-containers.ts';

/** Warns about a pod name that is not a valid DNS label. */
export function hostnameWarning(name: string | undefined, what: string): string[] {
  const wrong = isDNS1123Label(name ?? '');
  return wrong.length === 0
    ? []
    : [`metadata.name: this is used in ${what}, which can result in surprising behavior; a DNS label is recommended: [${wrong.join(' ')}]`];
}

export function podWarnings({ metadata, spec = {} }: Pod): string[] {
  const warnings = hostnameWarning(metadata.name, "the Pod's hostname");
  warnPodSpec(warnings, spec, metadata, undefined);
  return warnings;
}

/** Warnings about the template at `path`. */
export function podTemplateWarnings(template: PodTemplateSpec | undefined, path: Path): string[] {
  const warnings: string[] = [];
  if (template) warnPodSpec(warnings, template.spec ?? {}, template.metadata ?? {}, path);
  return warnings;
}

const deprecatedAnnotations = [
  ['scheduler.alpha.kubernetes.io/critical-pod', 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ['security.alpha.kubernetes.io/sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
  ['security.alpha.kubernetes.io/unsafe-sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
] as const;

function warnPodSpec(warnings: string[], spec: PodSpec, meta: ObjectMeta, template: Path | undefined): void {
  const path = template?.child('spec') ?? fieldPath('spec');
  const annotation = (key: string): string =>
    (template?.child('metadata', 'annotations') ?? fieldPath('metadata', 'annotations')).key(key).toString();
  warnPlacement(warnings, spec, path);
  const { annotations } = meta;
  if (annotations)
    for (const [key, text] of deprecatedAnnotations) if (annotations[key] !== undefined) warnings.push(`${annotation(key)}: ${text}`);
  if (spec.volumes) {
    warnVolumes(warnings, spec.volumes, path.child('volumes'));
    for (const volume of spec.volumes) warnOverlappingPaths(warnings, volume);
  }
  warnRepeated(
    warnings,
    spec.hostAliases?.map(({ ip = '' }) => ip),
    'ip',
    path.child('hostAliases'),
  );
  warnRepeated(
    warnings,
    spec.imagePullSecrets?.map(({ name = '' }) => name),
    'name',
    path.child('imagePullSecrets'),
  );
  for (const [i, { name }] of (spec.imagePullSecrets ?? []).entries())
    if (!name) warnings.push(`${path.child('imagePullSecrets').index(i).child('name').toString()}: invalid empty name ""`);
  warnFractionalBytes(warnings, spec.overhead, 'memory', () => path.child('overhead'));
  warnFractionalBytes(warnings, spec.overhead, 'ephemeral-storage', () => path.child('overhead'));
  const useSeccompField = 'non-functional in v1.27+; use the "seccompProfile" field instead';
  if (!spec.securityContext?.seccompProfile && annotations?.[seccompPod] !== undefined)
    warnings.push(`${annotation(seccompPod)}: ${useSeccompField}`);
  const seccomp = containerAnnotations(annotations, seccompContainerPrefix);
  const appArmor = containerAnnotations(annotations, appArmorPrefix);
  eachContainer(spec, path, (container, at) => {
    const { name = '', securityContext, resources, env } = container;
    if (!securityContext?.seccompProfile && seccomp.has(name)) {
      warnings.push(`${annotation(seccompContainerPrefix + name)}: ${useSeccompField}`);
    }
    // For pods, the strategy warns and copies the annotation to the field.
    const profile = template && !securityContext?.appArmorProfile ? appArmor.get(name) : undefined;
    const ofPod = spec.securityContext?.appArmorProfile;
    if (profile !== undefined && (!ofPod || !semanticDeepEqual(ofPod, appArmorProfileOf(profile)))) {
      warnings.push(appArmorDeprecation(annotation(appArmorPrefix + name)));
    }
    for (const resource of ['memory', 'ephemeral-storage']) {
      warnFractionalBytes(warnings, resources?.limits, resource, () => at().child('resources', 'limits'));
      warnFractionalBytes(warnings, resources?.requests, resource, () => at().child('resources', 'requests'));
    }
    if (env && env.length > 1) warnHiddenVariables(warnings, container, at);
  });
  warnPorts(warnings, spec, path);
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0) {
    warnings.push(
      `${path.child('terminationGracePeriodSeconds').toString()}: must be >= 0; negative values are invalid and will be treated as 1`,
    );
  }
  warnPodAffinity(warnings, spec, path);
  for (const [i, ip] of (spec.dnsConfig?.nameservers ?? []).entries())
    warnings.push(...getWarningsForIP(path.child('dnsConfig', 'nameservers').index(i), ip));
  for (const [i, { ip = '' }] of (spec.hostAliases ?? []).entries())
    warnings.push(...getWarningsForIP(path.child('hostAliases').index(i).child('ip'), ip));
}

const nullSelector = 'a null labelSelector results in matching no pod';

function warnPlacement(warnings: string[], spec: PodSpec, path: Path): void {
  for (const label of keysOf(spec.nodeSelector ?? {})) {
    const text = nodeLabelDeprecation(label);
    if (text !== undefined) warnings.push(`${path.child('nodeSelector').key(label).toString()}: ${text}`);
  }
  const affinity = spec.affinity?.nodeAffinity;
  if (affinity) {
    const hard = () => path.child('affinity', 'nodeAffinity', 'requiredDuringSchedulingIgnoredDuringExecution', 'nodeSelectorTerms');
    const soft = () => path.child('affinity', 'nodeAffinity', 'preferredDuringSchedulingIgnoredDuringExecution');
    warnNodeSelectorTerms(warnings, affinity.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms, hard);
    for (const [i, { preference = {} }] of (affinity.preferredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
      warnNodeSelectorTerm(warnings, preference, () => soft().index(i).child('preference'), true);
    }
  }
  for (const [i, { topologyKey = '', labelSelector }] of (spec.topologySpreadConstraints ?? []).entries()) {
    const at = path.child('topologySpreadConstraints').index(i);
    const text = nodeLabelDeprecation(topologyKey);
    if (text !== undefined) warnings.push(`${at.child('topologyKey').toString()}: ${topologyKey} is ${text}`);
    if (!labelSelector) warnings.push(`${at.child('labelSelector').toString()}: ${nullSelector}`);
  }
}

function warnPodAffinity(warnings: string[], { affinity }: PodSpec, path: Path): void {
  for (const field of ['podAffinity', 'podAntiAffinity'] as const) {
    const rules = affinity?.[field];
    for (const [i, { labelSelector }] of (rules?.requiredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
      if (!labelSelector)
        warnings.push(
          `${path.child('affinity', field, 'requiredDuringSchedulingIgnoredDuringExecution').index(i).child('labelSelector').toString()}: ${nullSelector}`,
        );
    }
    for (const [i, { podAffinityTerm }] of (rules?.preferredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
      if (podAffinityTerm?.labelSelector) continue;
      warnings.push(
        `${path.child('affinity', field, 'preferredDuringSchedulingIgnoredDuringExecution').index(i).child('podAffinityTerm', 'labelSelector').toString()}: ${nullSelector}`,
      );
    }
  }
}

/** Volume sources that no kubelet mounts any more, with their names in warnings. */
const deprecatedVolumes = [
  ['photonPersistentDisk', 'photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
] as const;
const deprecatedLater = [
  ['cephfs', 'cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'rbd', 'deprecated in v1.28, non-functional in v1.31+'],
] as const;

function warnVolumes(warnings: string[], volumes: readonly Volume[], path: Path): void {
  for (const [i, volume] of volumes.entries()) {
    const warn = (list: readonly (readonly [keyof Volume, string, string])[]): void => {
      for (const [field, name, text] of list) if (volume[field]) warnings.push(`${path.index(i).child(name).toString()}: ${text}`);
    };
    warn(deprecatedVolumes);
    const claim = volume.ephemeral?.volumeClaimTemplate?.spec;
    if (claim) warnClaimSpec(warnings, claim, path.index(i).child('ephemeral', 'volumeClaimTemplate', 'spec'));
    warn(deprecatedLater);
  }
}

/** Warns about files of one volume that are equal or contain each other. */
function warnOverlappingPaths(warnings: string[], { name = '', configMap, secret, downwardAPI, projected }: Volume): void {
  const warn = (description: string, files: readonly VolumeFile[]): void => {
    for (const overlap of overlappingPaths(files)) warnings.push(`volume ${quote(name)} (${description}): overlapping paths: ${overlap}`);
  };
  if (configMap?.items) warn(`ConfigMap ${quote(configMap.name ?? '')}`, filesOf(configMap.items));
  if (secret?.items) warn(`Secret ${quote(secret.secretName ?? '')}`, filesOf(secret.items));
  if (downwardAPI?.items) warn('DownwardAPI', filesOf(downwardAPI.items));
  if (!projected?.sources) return;
  const { sources } = projected;
  const newFound = (): { isAnyEmpty: boolean; readonly files: VolumeFile[] } => ({ isAnyEmpty: false, files: [] });
  const { state } = checkEach(sources, warnOverlappingPaths, sources, newFound, (_errors, source, _i, found) => {
    if (isEmptyObject(source)) found.isAnyEmpty = true;
    else for (const file of projectedFiles(source)) found.files.push(file);
  });
  // Repeated warnings are sent once.
  if (state.isAnyEmpty) warnings.push(`volume ${quote(name)} (Projected) has no sources provided`);
  warn('Projected', state.files);
}

function filesOf(items: readonly { path?: string }[], source = ''): VolumeFile[] {
  return items.map(({ path = '' }) => ({ path, source }));
}

function projectedFiles({
  configMap,
  secret,
  downwardAPI,
  serviceAccountToken,
  clusterTrustBundle,
  podCertificate,
}: VolumeProjection): VolumeFile[] {
  if (configMap?.items) return filesOf(configMap.items, `ConfigMap ${quote(configMap.name ?? '')}`);
  if (secret?.items) return filesOf(secret.items, `Secret ${quote(secret.name ?? '')}`);
  if (downwardAPI?.items) return filesOf(downwardAPI.items, 'DownwardAPI');
  if (serviceAccountToken) return filesOf([serviceAccountToken], 'ServiceAccountToken');
  if (clusterTrustBundle)
    return filesOf([clusterTrustBundle], `ClusterTrustBundle ${quote(clusterTrustBundle.name ?? clusterTrustBundle.signerName ?? '')}`);
  const { certificateChainPath, keyPath, credentialBundlePath } = podCertificate ?? {};
  return (
    [
      ['PodCertificate chain', certificateChainPath],
      ['PodCertificate key', keyPath],
      ['PodCertificate credential bundle', credentialBundlePath],
    ] as const
  ).flatMap(([source, path]) => (path ? [{ path, source }] : []));
}

function warnRepeated(warnings: string[], values: readonly string[] | undefined, field: string, path: Path): void {
  const seen = new Set<string>();
  for (const [i, value] of (values ?? []).entries()) {
    if (seen.has(value)) warnings.push(`${path.index(i).child(field).toString()}: duplicate ${field} ${quote(value)}`);
    seen.add(value);
  }
}

/** Warns about repeated variables, unless the later one extends the earlier one. */
function warnHiddenVariables(warnings: string[], { env = [] }: Container, at: () => Path): void {
  const seen = new Set<string>();
  for (let i = 0; i < env.length; i++) {
    const { name = '', value = '', valueFrom } = env[i]!;
    if (!seen.has(name)) {
      seen.add(name);
      continue;
    }
    const reference = `$(${name})`;
    if (!valueFrom && value !== reference && value.includes(reference)) continue;
    warnings.push(
      `${at().child('env').index(i).toString()}: hides previous definition of ${quote(name)}, which may be dropped when using apply`,
    );
  }
}

interface UsedPort {
  readonly at: () => string;
  readonly port: ContainerPort;
}

function warnPorts(warnings: string[], spec: PodSpec, path: Path): void {
  const used = new Map<string, UsedPort[]>();
  eachContainer(spec, path, ({ ports }, container) => {
    if (!ports) return;
    for (let i = 0; i < ports.length; i++) {
      const port = ports[i]!;
      const at = (): string => container().child('ports').index(i).toString();
      if (port.hostIP && !port.hostPort) warnings.push(`${at()}: hostIP set without hostPort: ${portText(port)}`);
      const key = `${port.containerPort ?? 0}/${port.protocol ?? ''}`;
      const others = used.get(key);
      if (!others) {
        used.set(key, [{ at, port }]);
        continue;
      }
      for (const other of others) {
        const conflict = portConflict(port, other.port);
        if (conflict !== undefined) warnings.push(`${at()}: ${conflict} port definition with ${other.at()}`);
      }
      others.push({ at, port });
    }
  });
  const names = new Map<string, () => string>();
  eachContainer(spec, path, ({ ports }, container) => {
    if (!ports) return;
    for (let i = 0; i < ports.length; i++) {
      const { name } = ports[i]!;
      if (!name) continue;
      const at = (): string => container().child('ports').index(i).toString();
      const other = names.get(name)?.();
      if (other === undefined) names.set(name, at);
      else
        warnings.push(
          `${at()}: duplicate port name ${quote(name)} with ${other}, services and probes that select ports by name will use ${other}`,
        );
    }
  });
}

/** Returns the conflict of two definitions of the same container port. */
function portConflict(a: ContainerPort, b: ContainerPort): string | undefined {
  const { hostIP: ip = '', hostPort: port = 0 } = a;
  const { hostIP: otherIp = '', hostPort: otherPort = 0 } = b;
  if (ip === otherIp && port === otherPort) return 'duplicate';
  if (port === 0 || otherPort === 0) return 'overlapping';
  return port === otherPort && (ip === '') !== (otherIp === '') ? 'dangerously ambiguous' : undefined;
}

/** Formats the port as Go prints the struct. */
function portText({ name = '', hostPort = 0, containerPort = 0, protocol = '', hostIP = '' }: ContainerPort): string {
  return `{Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`;
}

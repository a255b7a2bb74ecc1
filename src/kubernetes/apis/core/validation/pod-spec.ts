/** Validation of the spec of pods and templates. Upstream: pkg/apis/core/validation, ValidatePodSpec. */
import type { ObjectMeta } from '#apimachinery/meta/types';
import type { ServerTraits } from '#apiserver/registry/resource-definition';
import {
  addErrors,
  type FieldError,
  type Path,
  duplicate,
  fieldPath,
  forbidden,
  invalid,
  notFound,
  notSupported,
  required,
  tooLong,
} from '#apimachinery/validation/field';
import {
  isDNS1123Subdomain,
  isDNS1123SubdomainWithUnderscore,
  isQualifiedName,
  nameIsDNSSubdomain,
  validateServiceAccountName,
} from '#apimachinery/validation/names';
import { validateAnnotations, validateLabels } from '#apimachinery/validation/object-meta';
import { aggregateContainers, isHugePageResourceName } from '#kubernetes/apis/core/resource-list';
import type {
  PodDNSConfig,
  PodResourceClaim,
  PodSpec,
  PodTemplateSpec,
  ResourceRequirements,
  Volume,
} from '#kubernetes/schema/core_v1.gen';
import { validateAffinity, validateTolerations, validateTopologySpreadConstraints } from './affinity.ts';
import {
  byteLength,
  check,
  quantityOf,
  validateDNS1123Label,
  validateDNS1123Subdomain,
  validateIP,
  validateQualifiedName,
  validateRequiredEnum,
} from './checks.ts';
import { type PodContext, validateContainers, validateEphemeralContainers, validateInitContainers } from './containers.ts';
import { internalValue } from './internal.ts';
import { mirrorPod, validatePodSpecificAnnotations, validateProfilesMatchAnnotations } from './pod-annotations.ts';
import type { PodOptions } from './pod-options.ts';
import { validateContainerResourceRequirements, validatePodResourceRequirements } from './resources.ts';
import { validatePodSecurityContext, validateWindowsContainer, validateWindowsPod } from './security-context.ts';
import { eachContainer } from './visit-containers.ts';
import { validateVolumes } from './volumes.ts';

const none: ReadonlySet<string> = new Set();
const noVolumes: readonly Volume[] = [];
const maxInt32 = 2 ** 31 - 1;

/** Validates a spec. `meta` is the pod's metadata; undefined for templates. */
export function validatePodSpec(errors: FieldError[], spec: PodSpec, meta: ObjectMeta | undefined, path: Path, options: PodOptions): void {
  if (spec.terminationGracePeriodSeconds === undefined) errors.push(required(path.child('terminationGracePeriodSeconds')));
  const volumes = validateVolumes(errors, spec.volumes ?? noVolumes, meta, path.child('volumes'), options);
  const claims = spec.resourceClaims ? new Set(spec.resourceClaims.flatMap(({ name }) => name || [])) : none;
  if (spec.resourceClaims) validatePodResourceClaims(errors, spec.resourceClaims, meta, path.child('resourceClaims'));
  const pod: PodContext = { spec, volumes, claims, options, hostUsers: spec.hostUsers !== false };
  validateContainers(errors, pod, path.child('containers'));
  if (spec.initContainers) validateInitContainers(errors, pod, path.child('initContainers'));
  if (spec.ephemeralContainers) validateEphemeralContainers(errors, pod, path.child('ephemeralContainers'));
  if (spec.resources) validatePodResources(errors, spec, spec.resources, claims, path, options);
  if (spec.hostNetwork) validateHostNetworkPorts(errors, spec, path, options);
  validateRequiredEnum(errors, spec.restartPolicy, ['Always', 'OnFailure', 'Never'], path, 'restartPolicy');
  validateRequiredEnum(errors, spec.dnsPolicy, ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'], path, 'dnsPolicy');
  if (spec.nodeSelector) addErrors(errors, validateLabels(spec.nodeSelector, path.child('nodeSelector')));
  validatePodSecurityContext(errors, spec, path, options);
  if (spec.affinity) validateAffinity(errors, spec.affinity, path.child('affinity'), options);
  if (spec.dnsConfig || spec.dnsPolicy === 'None')
    validatePodDnsConfig(errors, spec.dnsConfig, spec.dnsPolicy, path.child('dnsConfig'), options.server);
  for (const [i, { conditionType = '' }] of (spec.readinessGates ?? []).entries()) {
    check(errors, isQualifiedName(conditionType), conditionType, path.child('readinessGates').index(i).child('conditionType'));
  }
  if (spec.schedulingGates) validateSchedulingGates(errors, spec.schedulingGates, path.child('schedulingGates'));
  if (spec.topologySpreadConstraints)
    validateTopologySpreadConstraints(errors, spec.topologySpreadConstraints, path.child('topologySpreadConstraints'), options);
  validateWindowsHostProcess(errors, spec, path, options);
  if (spec.hostUsers === false) validateUserNamespace(errors, spec, path, options);
  if (spec.hostnameOverride !== undefined) validateHostnameOverride(errors, spec, spec.hostnameOverride, path);
  validateNames(errors, spec, path, options);
  if (spec.os) validateOs(errors, spec, path);
  if (spec.schedulingGroup) {
    const { podGroupName } = spec.schedulingGroup;
    if (podGroupName === undefined)
      errors.push(invalid(path.child('schedulingGroup', 'podGroupName'), undefined, 'must specify one of: `podGroupName`'));
    else check(errors, nameIsDNSSubdomain(podGroupName, false), podGroupName, path.child('schedulingGroup'), 'podGroupName');
  }
  validateFileKeyRefVolumes(errors, spec, path);
}

function validateNames(errors: FieldError[], spec: PodSpec, path: Path, options: PodOptions): void {
  const { serviceAccountName, nodeName, activeDeadlineSeconds: deadline, priorityClassName, runtimeClassName, preemptionPolicy } = spec;
  if (serviceAccountName)
    check(errors, validateServiceAccountName(serviceAccountName, false), serviceAccountName, path, 'serviceAccountName');
  if (nodeName) check(errors, nameIsDNSSubdomain(nodeName, false), nodeName, path, 'nodeName');
  if (deadline !== undefined && (deadline < 1 || deadline > maxInt32)) {
    errors.push(invalid(path.child('activeDeadlineSeconds'), deadline, `must be between 1 and ${maxInt32}, inclusive`));
  }
  if (spec.hostname) validateDNS1123Label(errors, spec.hostname, path, 'hostname');
  if (spec.subdomain) validateDNS1123Label(errors, spec.subdomain, path, 'subdomain');
  if (spec.tolerations) validateTolerations(errors, spec.tolerations, path.child('tolerations'), options);
  for (const [i, { ip, hostnames = [] }] of (spec.hostAliases ?? []).entries()) {
    const at = path.child('hostAliases').index(i);
    validateIP(errors, ip, at.child('ip'), options.server);
    for (const [j, hostname] of hostnames.entries()) validateDNS1123Subdomain(errors, hostname, at.child('hostnames').index(j));
  }
  if (priorityClassName) check(errors, nameIsDNSSubdomain(priorityClassName, false), priorityClassName, path, 'priorityClassName');
  if (runtimeClassName !== undefined)
    check(errors, nameIsDNSSubdomain(runtimeClassName, false), runtimeClassName, path, 'runtimeClassName');
  if (preemptionPolicy !== undefined)
    validateRequiredEnum(errors, preemptionPolicy, ['PreemptLowerPriority', 'Never'], path, 'preemptionPolicy');
  if (spec.overhead) validateContainerResourceRequirements(errors, { limits: spec.overhead }, none, path.child('overhead'), options);
}

function validatePodResourceClaims(
  errors: FieldError[],
  claims: readonly PodResourceClaim[],
  meta: ObjectMeta | undefined,
  path: Path,
): void {
  const names = new Set<string>();
  for (const [i, claim] of claims.entries()) {
    if (meta?.annotations?.[mirrorPod] !== undefined) {
      errors.push(forbidden(fieldPath(''), 'static pods do not support resource claims'));
      continue;
    }
    const at = path.index(i);
    const { name = '', resourceClaimName, resourceClaimTemplateName } = claim;
    if (name === '') errors.push(required(at.child('name')));
    else if (names.has(name)) errors.push(duplicate(at.child('name'), name));
    else {
      validateDNS1123Label(errors, name, at, 'name');
      names.add(name);
    }
    const sources = Number(resourceClaimName !== undefined) + Number(resourceClaimTemplateName !== undefined);
    if (sources > 1)
      errors.push(
        invalid(
          at,
          internalValue('PodResourceClaim', claim),
          'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
        ),
      );
    if (sources === 0)
      errors.push(
        invalid(at, internalValue('PodResourceClaim', claim), 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`'),
      );
    if (resourceClaimName !== undefined)
      check(errors, nameIsDNSSubdomain(resourceClaimName, false), resourceClaimName, at, 'resourceClaimName');
    if (resourceClaimTemplateName !== undefined)
      check(errors, nameIsDNSSubdomain(resourceClaimTemplateName, false), resourceClaimTemplateName, at, 'resourceClaimTemplateName');
  }
}

function validatePodResources(
  errors: FieldError[],
  spec: PodSpec,
  resources: ResourceRequirements,
  claims: ReadonlySet<string>,
  parent: Path,
  options: PodOptions,
): void {
  const path = parent.child('resources');
  if (spec.os?.name === 'windows') {
    errors.push(forbidden(path, 'may not be set for a windows pod'));
    return;
  }
  if (resources.claims) errors.push(forbidden(path.child('claims'), 'claims may not be set for Resources at pod-level'));
  validatePodResourceRequirements(errors, resources, claims, path, options);
  const { requests, limits } = resources;
  for (const [name, needed] of aggregateContainers(spec, 'requests')) {
    const amount = requests && Object.hasOwn(requests, name) ? quantityOf(requests[name]!) : undefined;
    if (amount && needed.compare(amount) > 0) {
      errors.push(
        invalid(
          path.child('requests').key(name),
          amount.toString(),
          `must be greater than or equal to aggregate container requests of ${needed.toString()}`,
        ),
      );
    }
  }
  for (const [name, needed] of aggregateContainers(spec, 'limits')) {
    const amount = isHugePageResourceName(name) && limits && Object.hasOwn(limits, name) ? quantityOf(limits[name]!) : undefined;
    if (amount && needed.compare(amount) > 0) {
      errors.push(
        invalid(
          path.child('limits').key(name),
          amount.toString(),
          `must be greater than or equal to aggregate container limits of ${needed.toString()}`,
        ),
      );
    }
  }
  for (const [i, container] of (spec.containers ?? []).entries()) {
    for (const [name, amount] of Object.entries(container.resources?.limits ?? {})) {
      if (!limits || !Object.hasOwn(limits, name) || quantityOf(amount).compare(quantityOf(limits[name]!)) <= 0) continue;
      errors.push(
        invalid(
          path.child('containers').index(i).key(name).child('limits'),
          amount,
          `must be less than or equal to pod limits of ${limits[name]}`,
        ),
      );
    }
  }
}

function validateHostNetworkPorts(errors: FieldError[], spec: PodSpec, path: Path, options: PodOptions): void {
  for (const [i, { ports = [] }] of (spec.containers ?? []).entries()) {
    for (const [j, { hostPort = 0, containerPort = 0 }] of ports.entries()) {
      if ((!options.resourceIsPod && hostPort === 0) || hostPort === containerPort) continue;
      errors.push(
        invalid(
          path.child('containers').index(i).child('ports').index(j).child('hostPort'),
          hostPort,
          'must match `containerPort` when `hostNetwork` is true',
        ),
      );
    }
  }
}

const maxNameservers = 3;
const maxSearchPaths = 32;
const maxSearchCharacters = 2048;

function validatePodDnsConfig(
  errors: FieldError[],
  config: PodDNSConfig | undefined,
  policy: string | undefined,
  path: Path,
  server: ServerTraits,
): void {
  if (!config) {
    errors.push(required(path, 'must provide `dnsConfig` when `dnsPolicy` is None'));
    return;
  }
  const { nameservers = [], searches = [], options = [] } = config;
  if (policy === 'None' && nameservers.length === 0) {
    errors.push(required(path.child('nameservers'), 'must provide at least one DNS nameserver when `dnsPolicy` is None'));
    return;
  }
  if (nameservers.length > maxNameservers)
    errors.push(invalid(path.child('nameservers'), nameservers, `must not have more than ${maxNameservers} nameservers`));
  for (const [i, nameserver] of nameservers.entries()) validateIP(errors, nameserver, path.child('nameservers').index(i), server);
  if (searches.length > maxSearchPaths)
    errors.push(invalid(path.child('searches'), searches, `must not have more than ${maxSearchPaths} search paths`));
  if (byteLength(searches.join(' ')) > maxSearchCharacters) {
    errors.push(
      invalid(
        path.child('searches'),
        searches,
        `must not have more than ${maxSearchCharacters} characters (including spaces) in the search list`,
      ),
    );
  }
  for (const [i, search] of searches.entries()) {
    if (search === '.') continue;
    const domain = search.endsWith('.') ? search.slice(0, -1) : search;
    check(errors, isDNS1123SubdomainWithUnderscore(domain), domain, path.child('searches').index(i));
  }
  for (const [i, { name }] of options.entries()) if (!name) errors.push(required(path.child('options').index(i), 'must not be empty'));
}

function validateSchedulingGates(errors: FieldError[], gates: readonly { name?: string }[], path: Path): void {
  const seen = new Set<string>();
  for (const [i, { name = '' }] of gates.entries()) {
    validateQualifiedName(errors, name, path, i);
    if (seen.has(name)) errors.push(duplicate(path.index(i), name));
    seen.add(name);
  }
}

/** Validates Windows host processes: all containers or none, and only with the host's network. */
function validateWindowsHostProcess(errors: FieldError[], spec: PodSpec, path: Path, options: PodOptions): void {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess;
  let containers = 0;
  let hostProcesses = 0;
  eachContainer(spec, path, ({ securityContext }, at) => {
    containers++;
    const own = securityContext?.windowsOptions?.hostProcess;
    if (own !== undefined && ofPod !== undefined && own !== ofPod) {
      errors.push(
        invalid(
          at().child('securityContext', 'windowsOptions', 'hostProcess'),
          own,
          `pod hostProcess value must be identical if both are specified, was ${ofPod}`,
        ),
      );
    }
    if (own ?? ofPod) hostProcesses++;
  });
  if (hostProcesses === 0) return;
  if (hostProcesses !== containers)
    errors.push(invalid(path, '', 'If pod contains any hostProcess containers then all containers must be HostProcess containers'));
  if (!spec.hostNetwork)
    errors.push(invalid(path.child('hostNetwork'), false, 'hostNetwork must be true if pod contains any hostProcess containers'));
  if (!options.allowPrivileged) errors.push(forbidden(path, 'hostProcess containers are disallowed by cluster policy'));
}

/** Validates a pod with its own user namespace, which must not share other host namespaces. */
function validateUserNamespace(errors: FieldError[], spec: PodSpec, path: Path, options: PodOptions): void {
  const detail = 'when `hostUsers` is false';
  if (spec.hostNetwork && !options.allowUserNamespacesHostNetwork) errors.push(forbidden(path.child('hostNetwork'), detail));
  if (spec.hostPID) errors.push(forbidden(path.child('HostPID'), detail));
  if (spec.hostIPC) errors.push(forbidden(path.child('HostIPC'), detail));
  eachContainer(spec, path, ({ volumeDevices }, at) => {
    if (volumeDevices?.length && !options.allowUserNamespacesWithVolumeDevices) errors.push(forbidden(at().child('volumeDevices'), detail));
  });
}

function validateHostnameOverride(errors: FieldError[], spec: PodSpec, hostname: string, parent: Path): void {
  const path = parent.child('hostnameOverride');
  if (spec.setHostnameAsFQDN) errors.push(forbidden(path, 'may not be specified when setHostnameAsFQDN is true'));
  if (spec.hostNetwork) errors.push(forbidden(path, 'may not be specified when hostNetwork is true'));
  if (byteLength(hostname) > 64) errors.push(tooLong(path, '', 64));
  check(errors, isDNS1123Subdomain(hostname), hostname, path);
}

function validateOs(errors: FieldError[], spec: PodSpec, path: Path): void {
  const { name } = spec.os!;
  if (!name) errors.push(required(path.child('os', 'name')));
  else if (name === 'linux') {
    const detail = 'windows options cannot be set for a linux pod';
    if (spec.securityContext?.windowsOptions) errors.push(forbidden(path.child('securityContext', 'windowsOptions'), detail));
    eachContainer(spec, path, ({ securityContext }, at) => {
      if (securityContext?.windowsOptions) errors.push(forbidden(at().child('securityContext', 'windowsOptions'), detail));
    });
  } else if (name === 'windows') {
    validateWindowsPod(errors, spec, path);
    eachContainer(spec, path, ({ securityContext }, at) => validateWindowsContainer(errors, securityContext, at()));
  } else errors.push(notSupported(path.child('os'), name, ['linux', 'windows']));
}

/** Requires an emptyDir as the source of file references. */
function validateFileKeyRefVolumes(errors: FieldError[], spec: PodSpec, path: Path): void {
  eachContainer(spec, path, ({ env }, at) => {
    if (!env) return;
    for (let i = 0; i < env.length; i++) {
      const volumeName = env[i]!.valueFrom?.fileKeyRef === undefined ? undefined : (env[i]!.valueFrom!.fileKeyRef!.volumeName ?? '');
      if (volumeName === undefined) continue;
      const volume = spec.volumes?.findLast(({ name = '' }) => name === volumeName);
      const place = at().child('env').index(i).child('valueFrom', 'fileKeyRef', 'volumeName');
      if (!volume) errors.push(notFound(place, volumeName));
      else if (!volume.emptyDir) errors.push(invalid(place, volumeName, 'referenced volume must be of type emptyDir'));
    }
  });
}

/** Validates a pod template at `path`. Upstream: ValidatePodTemplateSpec. */
export function validatePodTemplateSpec(errors: FieldError[], template: PodTemplateSpec, path: Path, options: PodOptions): void {
  const { metadata = {}, spec = {} } = template;
  if (metadata.labels) addErrors(errors, validateLabels(metadata.labels, path.child('labels')));
  if (metadata.annotations) addErrors(errors, validateAnnotations(metadata.annotations, path.child('annotations')));
  validatePodSpecificAnnotations(errors, metadata.annotations, spec, path.child('annotations'), options);
  const at = path.child('spec');
  validatePodSpec(errors, spec, undefined, at, options);
  validateProfilesMatchAnnotations(errors, metadata, spec, at);
  if (spec.ephemeralContainers?.length)
    errors.push(forbidden(at.child('ephemeralContainers'), 'ephemeral containers not allowed in pod template'));
}

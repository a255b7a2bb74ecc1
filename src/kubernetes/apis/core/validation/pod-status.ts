/** Validation of the status of pods. Upstream: pkg/apis/core/validation (ValidatePodStatusUpdate). */
import type { ServerTraits } from '#apiserver/registry/resource-definition';
import { isOptedOut } from '#kubernetes/apis/core/capabilities';
import { parseIPSloppy } from '#apimachinery/validation/ip';
import {
  type FieldError,
  type Path,
  duplicate,
  fieldPath,
  forbidden,
  invalid,
  internalError,
  required,
  tooLong,
  named,
} from '#apimachinery/validation/field';
import { isValidGroupID, isValidUserID, nameIsDNSSubdomain } from '#apimachinery/validation/names';
import { isNativeResource } from '#kubernetes/apis/core/resource-list';
import type { Container, ContainerStatus, Pod, PodResourceClaimStatus, PodSpec, PodStatus } from '#kubernetes/schema/core_v1.gen';
import { byteLength, check, quantityOf, validateDNS1123Label, validateEnum, validateIP, validateQualifiedName } from './checks.ts';
import { internalValue } from './internal.ts';
import { validatePodSpecificAnnotationUpdates } from './pod-annotations.ts';
import { optionsFor } from './pod.ts';

const annotationsPath = fieldPath('metadata', 'annotations');
const statusPath = fieldPath('status');
const noSpec: PodSpec = {};
const noStatus: PodStatus = {};

export function validatePodStatusUpdate(pod: Pod, old: Pod, server: ServerTraits): FieldError[] {
  const errors: FieldError[] = [];
  const spec = pod.spec ?? noSpec;
  const status = pod.status ?? noStatus;
  const before = old.status ?? noStatus;
  validatePodSpecificAnnotationUpdates(errors, pod, old, annotationsPath, optionsFor(old, server));
  validatePodConditions(errors, status);
  const { nominatedNodeName } = status;
  if (nominatedNodeName && nominatedNodeName !== before.nominatedNodeName) {
    check(errors, nameIsDNSSubdomain(nominatedNodeName, false), nominatedNodeName, statusPath, 'nominatedNodeName');
    if (old.spec?.nodeName && !isOptedOut(server, 'ClearingNominatedNodeNameAfterBinding'))
      errors.push(forbidden(statusPath.child('nominatedNodeName'), 'may not be set on pods that are already bound to a node'));
  }
  if ((status.observedGeneration ?? 0) < 0)
    errors.push(invalid(statusPath.child('observedGeneration'), status.observedGeneration, 'must be a non-negative integer'));
  if ((status.qosClass ?? '') !== (before.qosClass ?? ''))
    errors.push(invalid(statusPath.child('qosClass'), named(status.qosClass ?? ''), 'field is immutable'));
  validateStateTransitions(errors, status, before, old.spec ?? noSpec);
  if (status.resourceClaimStatuses) validateResourceClaimStatuses(errors, status.resourceClaimStatuses, spec);
  if (status.extendedResourceClaimStatus) validateExtendedResourceClaimStatus(errors, status, spec);
  if (status.nodeAllocatableResourceClaimStatuses) validateNodeAllocatableStatuses(errors, status, spec);
  validateStatusIPs(errors, 'podIPs', 'PodIP', status.podIPs, before.podIPs, server);
  if (status.hostIPs) {
    const first = status.hostIPs[0]?.ip ?? '';
    if (first !== (status.hostIP ?? ''))
      errors.push(invalid(statusPath.child('hostIPs').index(0).child('ip'), first, 'must be equal to `hostIP`'));
    validateStatusIPs(errors, 'hostIPs', 'HostIP', status.hostIPs, before.hostIPs, server);
  }
  validateContainerStatuses(errors, status, spec);
  return errors;
}

const systemConditions: ReadonlySet<string> = new Set(['PodScheduled', 'Ready', 'Initialized']);

function validatePodConditions(errors: FieldError[], { conditions = [] }: PodStatus): void {
  for (const [i, { type = '', observedGeneration = 0 }] of conditions.entries()) {
    if (observedGeneration < 0)
      errors.push(
        invalid(statusPath.child('conditions').index(i).child('observedGeneration'), observedGeneration, 'must be a non-negative integer'),
      );
    if (!systemConditions.has(type)) validateQualifiedName(errors, type, statusPath.child('conditions').index(i), 'Type');
  }
}

const statusLists = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const;

/** Returns the first item of each name. */
function firstByName<T extends { name?: string }>(items: readonly T[] = []): ReadonlyMap<string | undefined, T> {
  const byName = new Map<string | undefined, T>();
  for (const item of items) if (!byName.has(item.name)) byName.set(item.name, item);
  return byName;
}

/** Rejects containers that leave a terminated state without being restartable. */
function validateStateTransitions(errors: FieldError[], status: PodStatus, before: PodStatus, spec: PodSpec): void {
  const restartsAll = [...(spec.initContainers ?? []), ...(spec.containers ?? [])].some(({ restartPolicyRules }) =>
    restartPolicyRules?.some(({ action }) => action === 'RestartAllContainers'),
  );
  for (const list of statusLists) {
    if (list !== 'ephemeralContainerStatuses' && restartsAll) continue;
    const containers = list === 'containerStatuses' ? spec.containers : list === 'initContainerStatuses' ? spec.initContainers : undefined;
    const nowByName = firstByName(status[list]);
    const containerByName = firstByName(containers);
    for (const [i, { name, state }] of (before[list] ?? []).entries()) {
      const terminated = state?.terminated;
      if (!terminated) continue;
      const now = nowByName.get(name);
      if (!now || now.state?.terminated) continue;
      const container = containerByName.get(name);
      if (container && shouldRestart(container, spec, terminated.exitCode ?? 0)) continue;
      errors.push(forbidden(statusPath.child(list).index(i).child('state'), 'may not be transitioned to non-terminated state'));
    }
  }
}

/** True if a container restarts after it ended with this code. Upstream: pkg/api/v1/pod, ContainerShouldRestart. */
function shouldRestart(container: Container, spec: PodSpec, exitCode: number): boolean {
  if (container.restartPolicy !== undefined) {
    const rule = container.restartPolicyRules?.find(({ exitCodes }) => {
      const includes = exitCodes?.values?.includes(exitCode) ?? false;
      return exitCodes?.operator === 'In' ? includes : exitCodes?.operator === 'NotIn' && !includes;
    });
    if (rule?.action === 'Restart' || rule?.action === 'RestartAllContainers') return true;
  }
  const policy = ['Always', 'OnFailure', 'Never'].includes(container.restartPolicy ?? '') ? container.restartPolicy : spec.restartPolicy;
  return policy === 'OnFailure' ? exitCode !== 0 : policy !== 'Never';
}

function validateResourceClaimStatuses(errors: FieldError[], statuses: readonly PodResourceClaimStatus[], spec: PodSpec): void {
  const names = new Set<string>();
  const claims = new Set(spec.resourceClaims?.map(({ name }) => name));
  for (const [i, { name = '', resourceClaimName }] of statuses.entries()) {
    const at = statusPath.child('resourceClaimStatuses').index(i);
    if (!claims.has(name)) errors.push(invalid(at.child('name'), name, 'must match the name of an entry in `spec.resourceClaims`'));
    if (names.has(name)) errors.push(duplicate(at.child('name'), name));
    else names.add(name);
    if (resourceClaimName !== undefined)
      check(errors, nameIsDNSSubdomain(resourceClaimName, false), resourceClaimName, at, 'resourceClaimName');
  }
}

function validateExtendedResourceClaimStatus(errors: FieldError[], { extendedResourceClaimStatus }: PodStatus, spec: PodSpec): void {
  const path = statusPath.child('extendedResourceClaimStatus');
  const { requestMappings = [], resourceClaimName } = extendedResourceClaimStatus ?? {};
  const containers = new Map(
    [...(spec.initContainers ?? []), ...(spec.containers ?? [])].map((container) => [container.name ?? '', container]),
  );
  if (requestMappings.length === 0) errors.push(required(path.child('requestMappings'), 'at least one request mapping is required'));
  const seen = new Set<string>();
  for (const [i, { containerName = '', resourceName = '', requestName = '' }] of requestMappings.entries()) {
    const at = path.child('requestMappings').index(i);
    const container = containers.get(containerName);
    if (!container)
      errors.push(
        invalid(
          at.child('containerName'),
          containerName,
          'must match the name of an entry in spec.initContainers.name or spec.containers.name',
        ),
      );
    else if (!Object.hasOwn(container.resources?.requests ?? {}, resourceName)) {
      errors.push(
        invalid(
          at.child('resourceName'),
          resourceName,
          'must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests',
        ),
      );
    }
    validateDNS1123Label(errors, requestName, path, 'requestName');
    const key = JSON.stringify([containerName, resourceName, requestName]);
    if (seen.has(key)) {
      errors.push(
        duplicate(at.child('containerName'), containerName),
        duplicate(at.child('resourceName'), resourceName),
        duplicate(at.child('requestName'), requestName),
      );
    }
    seen.add(key);
  }
  if (!resourceClaimName) errors.push(required(path.child('resourceClaimName')));
  else check(errors, nameIsDNSSubdomain(resourceClaimName, false), resourceClaimName, path, 'resourceClaimName');
}

function validateNodeAllocatableStatuses(errors: FieldError[], status: PodStatus, spec: PodSpec): void {
  const claims = [...(spec.resourceClaims ?? []), ...(status.resourceClaimStatuses ?? [])];
  const known = new Set(claims.map(({ resourceClaimName }) => resourceClaimName));
  for (const [i, { resourceClaimName = '', containers, resources = {} }] of (status.nodeAllocatableResourceClaimStatuses ?? []).entries()) {
    const at = statusPath.child('nodeAllocatableResourceClaimStatuses').index(i);
    if (resourceClaimName === '') errors.push(required(at.child('resourceClaimName'), 'must not be empty'));
    if (!known.has(resourceClaimName))
      errors.push(invalid(at.child('resourceClaimName'), resourceClaimName, 'no mapping found in pod reference'));
    if (!containers?.length) errors.push(required(at.child('containers'), 'must not be empty'));
    if (Object.keys(resources).length === 0) errors.push(required(at.child('resources'), 'must not be empty'));
    for (const [name, amount] of Object.entries(resources)) {
      if (!isNativeResource(name))
        errors.push(invalid(at.child('resources').key(name), named(name), 'must be a node allocatable resource name'));
      if (quantityOf(amount).sign < 0) errors.push(invalid(at.child('resources').key(name), amount, 'must be non-negative'));
    }
  }
}

function validateStatusIPs(
  errors: FieldError[],
  field: 'podIPs' | 'hostIPs',
  type: string,
  ips: readonly { ip?: string }[] | undefined,
  old: readonly { ip?: string }[] | undefined,
  server: ServerTraits,
): void {
  if (!ips?.length) return;
  const path = statusPath.child(field);
  const before = new Set(old?.map(({ ip = '' }) => ip));
  for (const [i, { ip }] of ips.entries()) validateIP(errors, ip, path.index(i), server, before);
  if (ips.length === 1) return;
  const families = ips.map(({ ip = '' }) => parseIPSloppy(ip)?.bytes.length);
  const bad = families.indexOf(undefined);
  const isDual = bad < 0 && new Set(families).size === 2;
  if (bad >= 0) errors.push(internalError(path, new Error(`failed to check for dual stack with error:invalid IP: ${ips[bad]?.ip ?? ''}`)));
  if (!isDual || ips.length > 2)
    errors.push(invalid(path, internalValue(`[]${type}`, ips), 'may specify no more than one IP for each IP family'));
}

/** Validates the container statuses without their states. */
function validateContainerStatuses(errors: FieldError[], status: PodStatus, spec: PodSpec): void {
  for (const list of statusLists) {
    for (const [i, container] of (status[list] ?? []).entries())
      validateStatusUser(errors, container, statusPath.child(list).index(i), spec.os?.name ?? 'linux');
  }
  for (const list of statusLists) {
    const containers = list === 'containerStatuses' ? spec.containers : list === 'initContainerStatuses' ? spec.initContainers : undefined;
    const byName = firstByName(containers);
    for (const [i, container] of (status[list] ?? []).entries()) {
      if (!container.allocatedResourcesStatus) continue;
      const at = statusPath.child(list).index(i).child('allocatedResourcesStatus');
      if (list === 'ephemeralContainerStatuses') errors.push(forbidden(at, 'must not be specified in container status'));
      else validateAllocatedResourcesStatus(errors, container, byName.get(container.name), at);
    }
  }
}

function validateStatusUser(errors: FieldError[], { user }: ContainerStatus, path: Path, os: string): void {
  const linux = user?.linux;
  if (!linux) return;
  const at = path.child('user', 'linux');
  if (os === 'windows') errors.push(forbidden(at, 'cannot be set for a windows pod'));
  if (os !== 'linux') return;
  const { uid = 0, gid = 0, supplementalGroups = [] } = linux;
  check(errors, isValidUserID(uid), uid, at, 'uid');
  check(errors, isValidGroupID(gid), gid, at, 'gid');
  for (const [i, group] of supplementalGroups.entries())
    check(errors, isValidGroupID(group), group, at.child('supplementalGroups').index(i));
}

const maxHealthMessage = 1024;

function validateAllocatedResourcesStatus(
  errors: FieldError[],
  status: ContainerStatus,
  container: Container | undefined,
  path: Path,
): void {
  const ofClaims = new Set(
    container?.resources?.claims?.map((claim) => `claim:${claim.name ?? ''}${claim.request ? `/${claim.request}` : ''}`),
  );
  const ofRequests = new Set(Object.keys(container?.resources?.requests ?? {}));
  for (const [i, { name = '', resources = [] }] of (status.allocatedResourcesStatus ?? []).entries()) {
    const at = path.index(i);
    if (container) {
      const isClaim = name.startsWith('claim:');
      const detail = isClaim
        ? "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty"
        : "must match one of the container's resource requests";
      if (!(isClaim ? ofClaims : ofRequests).has(name)) errors.push(invalid(at.child('name'), name, detail));
    }
    const ids = new Set<string>();
    for (const [j, { resourceID = '', health, message }] of resources.entries()) {
      const place = at.child('resources').index(j);
      validateEnum(errors, health, ['Healthy', 'Unhealthy', 'Unknown'], place, 'health');
      if (message === '') errors.push(required(place.child('message'), 'must be non-empty if specified'));
      else if (message !== undefined && byteLength(message) > maxHealthMessage)
        errors.push(tooLong(place.child('message'), '', maxHealthMessage));
      if (ids.has(resourceID)) errors.push(duplicate(place.child('resourceID'), named(resourceID)));
      else ids.add(resourceID);
    }
  }
}

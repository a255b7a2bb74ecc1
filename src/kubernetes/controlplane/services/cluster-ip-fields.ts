import { newInvalid } from '#apimachinery/api/errors';
import { duplicate, type FieldError, fieldPath, invalid, maxErrors, named, notSupported, required } from '#apimachinery/validation/field';
import { isValidIPForLegacyField } from '#apimachinery/validation/ip';
import { validatesStrictAddresses } from '#kubernetes/apis/core/capabilities';
import type { ServerTraits } from '#apiserver/registry/resource-definition';
import type { Service, ServiceSpec } from '#kubernetes/schema/core_v1.gen';
import { familyOf, type IPFamily } from './address-range.ts';

const serviceKind = { group: '', kind: 'Service' };
const specPath = fieldPath('spec');
const clusterIPsPath = specPath.child('clusterIPs');
const familiesPath = specPath.child('ipFamilies');
const policyPath = specPath.child('ipFamilyPolicy');
const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];
const families = ['IPv4', 'IPv6'];

export const headless = 'None';

export const needsClusterIP = ({ type }: ServiceSpec): boolean => type !== 'ExternalName';
const needsNodePort = (spec: ServiceSpec): boolean =>
  spec.type === 'NodePort' || (spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false);
/** True if a load balancer needs health checks of the nodes. Upstream: api/service/util.go (NeedsHealthCheck). */
export const needsHealthCheckNodePort = ({ type, externalTrafficPolicy }: ServiceSpec): boolean =>
  type === 'LoadBalancer' && externalTrafficPolicy === 'Local';
const isSelectorlessHeadless = ({ clusterIP, selector }: ServiceSpec): boolean =>
  clusterIP === headless && Object.keys(selector ?? {}).length === 0;
const otherFamily = (family: string | undefined): IPFamily => (family === 'IPv4' ? 'IPv6' : 'IPv4');

function isSame(a: readonly string[] | undefined, b: readonly string[] | undefined): boolean {
  return (a?.length ?? 0) === (b?.length ?? 0) && (a ?? []).every((one, at) => one === b?.[at]);
}

/** True if the list is shorter than before and not empty. */
function isReduced(now: readonly string[] | undefined, before: readonly string[] | undefined): boolean {
  return (now?.length ?? 0) > 0 && (now?.length ?? 0) < (before?.length ?? 0);
}

function setOrDelete<K extends keyof ServiceSpec>(spec: ServiceSpec, field: K, value: ServiceSpec[K] | undefined): void {
  if (value === undefined) delete spec[field];
  else spec[field] = value;
}

/**
 * Syncs clusterIP and clusterIPs for clients that set only one of them; contradictions are left to validation. Changes `spec`. Upstream:
 * core/service/storage/storage.go (normalizeClusterIPs).
 */
export function normalizeClusterIPs(spec: ServiceSpec, old: ServiceSpec | undefined): void {
  const { clusterIP = '', clusterIPs = [] } = spec;
  if (!old) {
    if (clusterIP !== '' && clusterIPs.length === 0) spec.clusterIPs = [clusterIP];
    return;
  }
  const { clusterIP: oldIP = '', clusterIPs: oldIPs = [] } = old;
  if (clusterIP === oldIP) {
    if (oldIPs.length > 0 && clusterIPs.length === 0) spec.clusterIPs = [...oldIPs];
  } else if (isSame(clusterIPs, oldIPs)) {
    if (oldIP !== '' && clusterIP === '') delete spec.clusterIPs;
    else spec.clusterIPs = [clusterIP];
  }
}

/**
 * Copies allocated values that the client left out, so that a manifest can be applied again. Changes `spec`. Upstream:
 * core/service/storage/storage.go (patchAllocatedValues).
 */
export function patchAllocatedValues(spec: ServiceSpec, old: ServiceSpec): void {
  if (needsClusterIP(old) && needsClusterIP(spec)) {
    if (!spec.clusterIP) setOrDelete(spec, 'clusterIP', old.clusterIP);
    if (!spec.clusterIPs?.length && old.clusterIPs?.length) spec.clusterIPs = [...old.clusterIPs];
  }
  if (needsNodePort(old) && needsNodePort(spec)) {
    const sent = new Set((spec.ports ?? []).map(({ nodePort }) => nodePort));
    // As upstream, the later of two ports without a name wins.
    const byName = new Map((old.ports ?? []).map(({ name, nodePort }) => [name ?? '', nodePort]));
    for (const port of spec.ports ?? []) {
      const before = port.nodePort ? undefined : byName.get(port.name ?? '');
      if (before && !sent.has(before)) port.nodePort = before;
    }
  }
  if (needsHealthCheckNodePort(old) && needsHealthCheckNodePort(spec) && !spec.healthCheckNodePort)
    setOrDelete(spec, 'healthCheckNodePort', old.healthCheckNodePort);
}

/** True if a PreferDualStack service keeps its addresses although the cluster's families have changed, because its own fields have not. */
export function keepsClusterIPs(spec: ServiceSpec, old: ServiceSpec | undefined): boolean {
  const prefers = 'PreferDualStack';
  return (
    old !== undefined &&
    spec.type === old.type &&
    (spec.type === 'ClusterIP' || spec.type === 'NodePort' || spec.type === 'LoadBalancer') &&
    spec.ipFamilyPolicy === prefers &&
    (old.ipFamilyPolicy ?? prefers) === prefers &&
    isSame(spec.clusterIPs, old.clusterIPs) &&
    isSame(spec.ipFamilies, old.ipFamilies)
  );
}

/**
 * Validates clusterIPs, ipFamilies and ipFamilyPolicy before allocation. `spec` has been normalized. Upstream:
 * core/validation/validation.go (ValidateServiceClusterIPsRelatedFields).
 */
export function validateServiceClusterIPsRelatedFields(
  spec: ServiceSpec,
  old: ServiceSpec | undefined,
  server: ServerTraits,
): FieldError[] {
  if (!needsClusterIP(spec)) return [];
  const { clusterIP = '', clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = spec;
  const errors: FieldError[] = [];
  if (clusterIP !== '') {
    if (clusterIPs.length === 0) errors.push(required(clusterIPsPath));
    else if (clusterIPs[0] !== clusterIP) errors.push(invalid(clusterIPsPath, clusterIPs, 'first value must match `clusterIP`'));
  } else if (clusterIPs.length > 0) {
    errors.push(invalid(clusterIPsPath, clusterIPs, 'must be empty when `clusterIP` is not specified'));
  }
  const seen = new Set<string>();
  for (const [at, family] of ipFamilies.entries()) {
    if (errors.length >= maxErrors) break;
    if (!families.includes(family)) errors.push(notSupported(familiesPath.index(at), family, families));
    if (seen.has(family)) errors.push(duplicate(familiesPath.index(at), named(family)));
    seen.add(family);
  }
  if (ipFamilyPolicy !== undefined && !policies.includes(ipFamilyPolicy)) errors.push(notSupported(policyPath, ipFamilyPolicy, policies));

  const oldIPs = new Set(old?.clusterIPs);
  const wrong = clusterIPs.flatMap((ip, at) => {
    if (at === 0 && ip === headless)
      return clusterIPs.length > 1 ? [invalid(clusterIPsPath, clusterIPs, "'None' must be the first and only value")] : [];
    return isValidIPForLegacyField(clusterIPsPath.index(at), ip, validatesStrictAddresses(server), oldIPs);
  });
  for (const error of wrong.slice(0, maxErrors)) errors.push(error);
  if (clusterIPs.length > 2) errors.push(invalid(clusterIPsPath, clusterIPs, 'may only hold up to 2 values'));
  if (wrong.length > 0) return errors;
  if (clusterIPs.length > 1 && new Set(clusterIPs.map(familyOf)).size < 2) {
    errors.push(invalid(clusterIPsPath, clusterIPs, 'may specify no more than one IP for each IP family'));
  }
  if (clusterIPs[0] !== headless) {
    clusterIPs.slice(0, ipFamilies.length).forEach((ip, at) => {
      const family = ipFamilies[at] as string;
      if (families.includes(family) && familyOf(ip) !== family) {
        errors.push(invalid(clusterIPsPath.index(at), ip, `expected an ${family} value as indicated by \`ipFamilies[${at}]\``));
      }
    });
  }
  return errors;
}

/**
 * Sets ipFamilyPolicy and ipFamilies of a service by its request and the families of the cluster (`configured`, the default one first).
 * Changes the service; throws StatusError 422. Upstream: core/service/storage/alloc.go (initIPFamilyFields).
 */
export function initIPFamilyFields(
  service: Service,
  old: Service | undefined,
  configured: readonly IPFamily[],
  server: ServerTraits,
): void {
  const spec = (service.spec ??= {});
  const before = old?.spec;
  if (!needsClusterIP(spec) || keepsClusterIPs(spec, before)) return;
  const refuse = (errors: readonly FieldError[]): void => {
    if (errors.length > 0) throw newInvalid(serviceKind, service.metadata.name ?? '', errors);
  };
  spec.ipFamilyPolicy ??= before?.ipFamilyPolicy ?? (isSelectorlessHeadless(spec) ? 'RequireDualStack' : 'SingleStack');
  refuse(validateServiceClusterIPsRelatedFields(spec, before, server));

  const errors: FieldError[] = [];
  const policy = spec.ipFamilyPolicy;
  if (before) {
    if (policy === 'SingleStack') {
      if (spec.clusterIPs && spec.clusterIPs.length > 1 && isSame(before.clusterIPs, spec.clusterIPs))
        spec.clusterIPs = spec.clusterIPs.slice(0, 1);
      if (spec.ipFamilies && spec.ipFamilies.length > 1 && isSame(before.ipFamilies, spec.ipFamilies))
        spec.ipFamilies = spec.ipFamilies.slice(0, 1);
    } else {
      if (isReduced(spec.clusterIPs, before.clusterIPs))
        errors.push(invalid(policyPath, policy, "must be 'SingleStack' to release the secondary cluster IP"));
      if (isReduced(spec.ipFamilies, before.ipFamilies))
        errors.push(invalid(policyPath, policy, "must be 'SingleStack' to release the secondary IP family"));
    }
  }
  if (policy === 'SingleStack') {
    const needsDual = "must be 'RequireDualStack' or 'PreferDualStack' when multiple";
    if (spec.clusterIPs?.length === 2) errors.push(invalid(policyPath, policy, `${needsDual} cluster IPs are specified`));
    if (spec.ipFamilies?.length === 2) errors.push(invalid(policyPath, policy, `${needsDual} IP families are specified`));
  }
  for (const [at, ip] of (spec.clusterIPs ?? []).entries()) {
    if (ip === headless) break;
    if (at < (spec.ipFamilies?.length ?? 0)) continue;
    const family = familyOf(ip) as IPFamily;
    if (configured.includes(family)) spec.ipFamilies = [...(spec.ipFamilies ?? []), family];
    else errors.push(invalid(clusterIPsPath.index(at), spec.clusterIPs, `${family} is not configured on this cluster`));
  }
  refuse(errors);

  if (isSelectorlessHeadless(spec)) {
    // Its endpoints are managed by the user, and may have families that the cluster's services do not have.
    if (!spec.ipFamilies?.length) spec.ipFamilies = [configured[0] as string];
    if (spec.ipFamilies.length < 2 && policy !== 'SingleStack') spec.ipFamilies = [...spec.ipFamilies, otherFamily(spec.ipFamilies[0])];
    return;
  }
  if (policy === 'RequireDualStack' && configured.length < 2)
    errors.push(invalid(policyPath, policy, 'this cluster is not configured for dual-stack services'));
  (spec.ipFamilies ?? []).forEach((family, at) => {
    if (!configured.includes(family as IPFamily)) errors.push(invalid(familiesPath.index(at), family, 'not configured on this cluster'));
  });
  refuse(errors);
  if (!spec.ipFamilies?.length) spec.ipFamilies = [configured[0] as string];
  if (policy !== 'SingleStack' && spec.ipFamilies.length === 1 && configured.length === 2)
    spec.ipFamilies = [...spec.ipFamilies, otherFamily(spec.ipFamilies[0])];
}

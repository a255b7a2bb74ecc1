/** Validation of services. Upstream: pkg/apis/core/validation, validateService and ValidateServiceUpdate. */
import { quote } from '#apimachinery/runtime/quote';
import {
  addError,
  addErrors,
  duplicate,
  type FieldError,
  fieldPath,
  forbidden,
  invalid,
  notSupported,
  notSupportedText,
  type Path,
  required,
  named,
} from '#apimachinery/validation/field';
import { getWarningsForCIDR, getWarningsForIP, parseIPSloppy } from '#apimachinery/validation/ip';
import { isDNS1123Subdomain, isValidPortNum } from '#apimachinery/validation/names';
import { validateLabels } from '#apimachinery/validation/object-meta';
import type { ServerTraits } from '#apiserver/registry/resource-definition';
import type { Service, ServicePort, ServiceSpec } from '#kubernetes/schema/core_v1.gen';
import {
  check,
  validateCIDR,
  validateDNS1123Label,
  validateDNS1123Subdomain,
  validateIP,
  validatePortNumOrName,
  validateQualifiedName,
  validateRequiredEnum,
} from './checks.ts';
import { portProtocols } from './containers.ts';
import { validateEndpointIP } from './endpoints.ts';
import { internalValue } from './internal.ts';

const topologyHints = 'service.kubernetes.io/topology-aware-hints';
const topologyMode = 'service.kubernetes.io/topology-mode';
const sourceRangesAnnotation = 'service.beta.kubernetes.io/load-balancer-source-ranges';
const maxClientIpSeconds = 86_400;
const onlyLoadBalancer = "may only be used when `type` is 'LoadBalancer'";
const specPath = fieldPath('spec');
const noSpec: ServiceSpec = {};

function isHeadless({ clusterIPs }: ServiceSpec): boolean {
  return clusterIPs?.length === 1 && clusterIPs[0] === 'None';
}

function isExternallyAccessible({ type, externalIPs }: ServiceSpec): boolean {
  return type === 'LoadBalancer' || type === 'NodePort' || (type === 'ClusterIP' && (externalIPs?.length ?? 0) > 0);
}

function needsHealthCheck({ type, externalTrafficPolicy }: ServiceSpec): boolean {
  return type === 'LoadBalancer' && externalTrafficPolicy === 'Local';
}

export function validateService(service: Service, old: Service | undefined, server: ServerTraits): FieldError[] {
  const errors: FieldError[] = [];
  const spec = service.spec ?? noSpec;
  const { annotations } = service.metadata;
  const hints = annotations?.[topologyHints];
  const mode = annotations?.[topologyMode];
  if (mode !== undefined && hints !== undefined && mode !== hints) {
    errors.push(
      invalid(
        fieldPath('metadata', 'annotations').key(topologyMode),
        mode,
        `must match annotations[${topologyHints}] when both are specified`,
      ),
    );
  }
  const { type = '', ports = [], sessionAffinity } = spec;
  if (ports.length === 0 && !isHeadless(spec) && type !== 'ExternalName') errors.push(required(specPath.child('ports')));
  if ((type === 'LoadBalancer' || type === 'NodePort') && isHeadless(spec)) {
    errors.push(invalid(specPath.child('clusterIPs').index(0), 'None', `may not be set to 'None' for ${type} services`));
  }
  if (type === 'ExternalName') validateExternalName(errors, spec);
  validatePorts(errors, spec, ports);
  if (spec.selector) addErrors(errors, validateLabels(spec.selector, specPath.child('selector')));
  validateRequiredEnum(errors, sessionAffinity, ['ClientIP', 'None'], specPath, 'sessionAffinity');
  if (sessionAffinity === 'ClientIP') validateClientIpAffinity(errors, spec, specPath.child('sessionAffinityConfig'));
  else if (sessionAffinity === 'None' && spec.sessionAffinityConfig) {
    errors.push(forbidden(specPath.child('sessionAffinityConfig'), 'must not be set when session affinity is None'));
  }
  if (type !== 'ExternalName') validateClusterIPs(errors, spec, old?.spec, server);
  const oldExternalIPs = new Set(old?.spec?.externalIPs);
  for (const [i, ip] of (spec.externalIPs ?? []).entries()) {
    const before = errors.length;
    validateIP(errors, ip, specPath.child('externalIPs').index(i), server, oldExternalIPs);
    if (errors.length === before) validateEndpointIP(errors, ip, specPath.child('externalIPs').index(i));
  }
  validateRequiredEnum(errors, spec.type, ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'], specPath, 'type');
  validatePortConflicts(errors, type, ports);
  validateSourceRanges(errors, service, spec, old, server);
  if (spec.allocateLoadBalancerNodePorts !== undefined && type !== 'LoadBalancer')
    errors.push(forbidden(specPath.child('allocateLoadBalancerNodePorts'), onlyLoadBalancer));
  if (type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts === undefined)
    errors.push(required(fieldPath('allocateLoadBalancerNodePorts')));
  validateLoadBalancerClass(errors, spec, undefined);
  validateTrafficPolicies(errors, spec);
  return errors;
}

export function validateServiceUpdate(service: Service, old: Service, server: ServerTraits): FieldError[] {
  const errors: FieldError[] = [];
  const spec = service.spec ?? noSpec;
  const before = old.spec ?? noSpec;
  validateUpgradeDowngradeClusterIPs(errors, spec, before);
  validateUpgradeDowngradeIPFamilies(errors, spec, before);
  validateLoadBalancerClass(errors, spec, before);
  if (needsHealthCheck(before) && needsHealthCheck(spec) && (spec.healthCheckNodePort ?? 0) !== (before.healthCheckNodePort ?? 0)) {
    errors.push(forbidden(specPath.child('healthCheckNodePort'), 'field is immutable'));
  }
  addErrors(errors, validateService(service, old, server));
  return errors;
}

function validateExternalName(errors: FieldError[], spec: ServiceSpec): void {
  const detail = 'may not be set for ExternalName services';
  if (spec.clusterIPs?.length) errors.push(forbidden(specPath.child('clusterIPs'), detail));
  if (spec.ipFamilies?.length) errors.push(forbidden(specPath.child('ipFamilies'), detail));
  if (spec.ipFamilyPolicy !== undefined) errors.push(forbidden(specPath.child('ipFamilyPolicy'), detail));
  const name = spec.externalName?.endsWith('.') ? spec.externalName.slice(0, -1) : spec.externalName;
  if (name) validateDNS1123Subdomain(errors, name, specPath, 'externalName');
  else errors.push(required(specPath.child('externalName')));
}

function validatePorts(errors: FieldError[], _spec: ServiceSpec, ports: readonly ServicePort[]): void {
  const names = new Set<string>();
  for (const [i, { name, port = 0, protocol, targetPort, appProtocol }] of ports.entries()) {
    const at = specPath.child('ports').index(i);
    if (name) {
      validateDNS1123Label(errors, name, at, 'name');
      if (names.has(name)) errors.push(duplicate(at.child('name'), name));
      else names.add(name);
    } else if (ports.length > 1) {
      errors.push(required(at.child('name')));
    }
    check(errors, isValidPortNum(port), port, at, 'port');
    validateRequiredEnum(errors, protocol, portProtocols, at, 'protocol');
    validatePortNumOrName(errors, targetPort, at, 'targetPort');
    if (appProtocol !== undefined) validateQualifiedName(errors, appProtocol, at, 'appProtocol');
  }
}

/** Validates that only some types have node ports, and that ports and node ports are unique per protocol. */
function validatePortConflicts(errors: FieldError[], type: string, ports: readonly ServicePort[]): void {
  const path = specPath.child('ports');
  const nodePorts = new Set<string>();
  const seen = new Set<string>();
  if (type === 'ClusterIP') {
    for (const [i, { nodePort }] of ports.entries())
      if (nodePort) errors.push(forbidden(path.index(i).child('nodePort'), "may not be used when `type` is 'ClusterIP'"));
  }
  for (const [i, { nodePort, protocol = '' }] of ports.entries()) {
    if (!nodePort) continue;
    if (nodePorts.has(`${protocol}/${nodePort}`)) errors.push(duplicate(path.index(i).child('nodePort'), nodePort));
    nodePorts.add(`${protocol}/${nodePort}`);
  }
  for (const [i, { port = 0, protocol = '' }] of ports.entries()) {
    if (seen.has(`${protocol}/${port}`)) errors.push(duplicate(path.index(i), internalValue('ServicePort', { protocol, port })));
    seen.add(`${protocol}/${port}`);
  }
}

function validateClientIpAffinity(errors: FieldError[], { sessionAffinityConfig: config }: ServiceSpec, path: Path): void {
  const detail = 'when session affinity type is ClientIP';
  const seconds = config?.clientIP?.timeoutSeconds;
  if (!config) errors.push(required(path, detail));
  else if (!config.clientIP) errors.push(required(path.child('clientIP'), detail));
  else if (seconds === undefined) errors.push(required(path.child('clientIP', 'timeoutSeconds'), detail));
  else if (seconds <= 0 || seconds > maxClientIpSeconds) {
    errors.push(invalid(path.child('clientIP', 'timeoutSeconds'), seconds, `must be greater than 0 and less than ${maxClientIpSeconds}`));
  }
}

const families = ['IPv4', 'IPv6'];
const familyPolicies = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];

function familyOf(ip: string): string | undefined {
  const bytes = parseIPSloppy(ip)?.bytes.length;
  return bytes === undefined ? undefined : bytes === 4 ? 'IPv4' : 'IPv6';
}

/** Validates cluster IPs and their families. Upstream: ValidateServiceClusterIPsRelatedFields. */
function validateClusterIPs(errors: FieldError[], spec: ServiceSpec, old: ServiceSpec | undefined, server: ServerTraits): void {
  const { clusterIP = '', clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = spec;
  const path = specPath.child('clusterIPs');
  if (clusterIP !== '' && clusterIPs.length === 0) errors.push(required(path));
  else if (clusterIP !== '' && clusterIPs[0] !== clusterIP) errors.push(invalid(path, clusterIPs, 'first value must match `clusterIP`'));
  else if (clusterIP === '' && clusterIPs.length > 0)
    errors.push(invalid(path, clusterIPs, 'must be empty when `clusterIP` is not specified'));
  const seen = new Set<string>();
  for (const [i, family] of ipFamilies.entries()) {
    if (!families.includes(family)) addError(errors, notSupported(specPath.child('ipFamilies').index(i), family, families));
    if (seen.has(family)) addError(errors, duplicate(specPath.child('ipFamilies').index(i), named(family)));
    seen.add(family);
  }
  if (ipFamilyPolicy !== undefined && !familyPolicies.includes(ipFamilyPolicy))
    errors.push(notSupported(specPath.child('ipFamilyPolicy'), ipFamilyPolicy, familyPolicies));
  const oldIPs = new Set(old?.clusterIPs);
  let isWrong = false;
  for (const [i, ip] of clusterIPs.entries()) {
    const before = errors.length;
    if (i === 0 && ip === 'None') {
      if (clusterIPs.length > 1) errors.push(invalid(path, clusterIPs, "'None' must be the first and only value"));
    } else {
      validateIP(errors, ip, path.index(i), server, oldIPs);
    }
    isWrong ||= errors.length > before;
  }
  if (clusterIPs.length > 2) errors.push(invalid(path, clusterIPs, 'may only hold up to 2 values'));
  if (isWrong) return;
  if (clusterIPs.length > 1 && new Set(clusterIPs.map(familyOf)).size < 2)
    errors.push(invalid(path, clusterIPs, 'may specify no more than one IP for each IP family'));
  if (isHeadless(spec)) return;
  for (const [i, ip] of clusterIPs.entries()) {
    const family = ipFamilies[i];
    if ((family === 'IPv4' || family === 'IPv6') && familyOf(ip) !== family) {
      errors.push(invalid(path.index(i), ip, `expected an ${family} value as indicated by \`ipFamilies[${i}]\``));
    }
  }
}

const mayNotChange = 'may not change once set';

/** Validates that the primary address does not change; the secondary one may be added or removed. */
function validateUpgradeDowngradeClusterIPs(errors: FieldError[], spec: ServiceSpec, old: ServiceSpec): void {
  if (spec.type === 'ExternalName' || old.type === 'ExternalName' || (isHeadless(spec) && isHeadless(old))) return;
  const { clusterIPs: ips = [] } = spec;
  const { clusterIPs: before = [] } = old;
  const path = specPath.child('clusterIPs');
  if (before.length === ips.length) {
    for (const [i, ip] of before.entries()) if (ip !== ips[i]) addError(errors, invalid(path.index(i), ips, mayNotChange));
  } else if (before.length > ips.length) {
    if (ips.length === 0) errors.push(invalid(path.index(0), spec.clusterIPs, 'primary clusterIP can not be unset'));
    else if (ips[0] !== before[0]) errors.push(invalid(path.index(0), ips, mayNotChange));
    if (ips.length === 1 && spec.ipFamilyPolicy !== 'SingleStack') {
      errors.push(
        invalid(
          specPath.child('ipFamilyPolicy'),
          spec.ipFamilyPolicy,
          "must be set to 'SingleStack' when releasing the secondary clusterIP",
        ),
      );
    }
  } else if (before.length > 0 && ips[0] !== before[0]) {
    errors.push(invalid(path.index(0), ips, mayNotChange));
  }
}

function validateUpgradeDowngradeIPFamilies(errors: FieldError[], spec: ServiceSpec, old: ServiceSpec): void {
  if (spec.type === 'ExternalName' || old.type === 'ExternalName' || isHeadless(spec) || isHeadless(old)) return;
  const { ipFamilies: now = [] } = spec;
  const { ipFamilies: before = [] } = old;
  const path = specPath.child('ipFamilies');
  if (before.length === now.length) {
    for (const [i, family] of before.entries()) if (family !== now[i]) addError(errors, invalid(path.index(0), now, mayNotChange));
  } else if (before.length > now.length) {
    if (!spec.clusterIPs?.length) errors.push(invalid(path.index(0), spec.ipFamilies, 'primary ipFamily can not be unset'));
    if (now.length > 0 && now[0] !== before[0]) errors.push(invalid(path.index(0), spec.clusterIPs, mayNotChange));
    if (now.length === 1 && spec.ipFamilyPolicy !== 'SingleStack') {
      errors.push(
        invalid(
          specPath.child('ipFamilyPolicy'),
          spec.ipFamilyPolicy,
          "must be set to 'SingleStack' when releasing the secondary ipFamily",
        ),
      );
    }
  } else if (before.length > 0 && now[0] !== before[0]) {
    errors.push(invalid(path.index(0), spec.clusterIPs, mayNotChange));
  }
}

function validateSourceRanges(
  errors: FieldError[],
  service: Service,
  spec: ServiceSpec,
  old: Service | undefined,
  server: ServerTraits,
): void {
  const annotation = service.metadata.annotations?.[sourceRangesAnnotation];
  if (spec.loadBalancerSourceRanges?.length) {
    const path = specPath.child('LoadBalancerSourceRanges');
    if (spec.type !== 'LoadBalancer') errors.push(forbidden(path, onlyLoadBalancer));
    const before = new Set(old?.spec?.loadBalancerSourceRanges?.map((range) => range.trim()));
    for (const [i, range] of spec.loadBalancerSourceRanges.entries()) validateCIDR(errors, range.trim(), path.index(i), server, before);
  } else if (annotation !== undefined) {
    const path = fieldPath('metadata', 'annotations').key(sourceRangesAnnotation);
    if (spec.type !== 'LoadBalancer') errors.push(forbidden(path, onlyLoadBalancer));
    if (old?.metadata.annotations?.[sourceRangesAnnotation] === annotation || annotation.trim() === '') return;
    for (const range of annotation.split(',')) validateCIDR(errors, range.trim(), path, server);
  }
}

function validateLoadBalancerClass(errors: FieldError[], spec: ServiceSpec, old: ServiceSpec | undefined): void {
  const { loadBalancerClass } = spec;
  const path = specPath.child('loadBalancerClass');
  if (old?.type === 'LoadBalancer' && spec.type === 'LoadBalancer' && loadBalancerClass !== old.loadBalancerClass)
    errors.push(invalid(path, loadBalancerClass, mayNotChange));
  if (loadBalancerClass === undefined) return;
  if (spec.type === 'LoadBalancer') validateQualifiedName(errors, loadBalancerClass, path);
  else errors.push(forbidden(path, onlyLoadBalancer));
}

const distributions = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];

function validateTrafficPolicies(errors: FieldError[], spec: ServiceSpec): void {
  const { type, externalTrafficPolicy, internalTrafficPolicy, healthCheckNodePort = 0, trafficDistribution } = spec;
  if (isExternallyAccessible(spec))
    validateRequiredEnum(errors, externalTrafficPolicy, ['Cluster', 'Local'], specPath, 'externalTrafficPolicy');
  else if (externalTrafficPolicy)
    errors.push(
      invalid(specPath.child('externalTrafficPolicy'), named(externalTrafficPolicy), 'may only be set for externally-accessible services'),
    );
  const healthPath = specPath.child('healthCheckNodePort');
  if (!needsHealthCheck(spec)) {
    if (healthCheckNodePort !== 0)
      errors.push(
        invalid(healthPath, healthCheckNodePort, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"),
      );
  } else if (healthCheckNodePort === 0) errors.push(required(healthPath));
  else check(errors, isValidPortNum(healthCheckNodePort), healthCheckNodePort, healthPath);
  if (internalTrafficPolicy === undefined) {
    if (type === 'NodePort' || type === 'LoadBalancer' || type === 'ClusterIP')
      errors.push(required(specPath.child('internalTrafficPolicy')));
  } else if (internalTrafficPolicy !== 'Cluster' && internalTrafficPolicy !== 'Local') {
    errors.push(notSupported(specPath.child('internalTrafficPolicy'), internalTrafficPolicy, ['Cluster', 'Local']));
  }
  if (trafficDistribution !== undefined && !distributions.includes(trafficDistribution)) {
    errors.push(notSupportedText(specPath.child('trafficDistribution'), trafficDistribution, distributions));
  }
}

interface LoadBalancerStatus {
  readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string; readonly ipMode?: string }[];
}

/** Validates the load balancer status of a service or an ingress. */
export function validateLoadBalancerStatus(
  errors: FieldError[],
  status: LoadBalancerStatus,
  old: LoadBalancerStatus | undefined,
  path: Path,
  spec: ServiceSpec,
  server: ServerTraits,
): void {
  const { ingress = [] } = status;
  const at = path.child('ingress');
  if (spec.type !== 'LoadBalancer' && ingress.length > 0) {
    errors.push(forbidden(at, "may only be used when `spec.type` is 'LoadBalancer'"));
    return;
  }
  const before = new Set(old?.ingress?.map(({ ip = '' }) => ip));
  for (const [i, { ip, hostname, ipMode }] of ingress.entries()) {
    const place = at.index(i);
    if (ip) validateIP(errors, ip, place.child('ip'), server, before);
    if (ipMode === undefined) {
      if (ip) errors.push(required(place.child('ipMode'), 'must be specified when `ip` is set'));
    } else if (!ip) errors.push(forbidden(place.child('ipMode'), 'may not be specified when `ip` is not set'));
    else if (ipMode !== 'Proxy' && ipMode !== 'VIP') errors.push(notSupported(place.child('ipMode'), ipMode, ['Proxy', 'VIP']));
    if (!hostname) continue;
    check(errors, isDNS1123Subdomain(hostname), hostname, place, 'hostname');
    if (parseIPSloppy(hostname)) errors.push(invalid(place.child('hostname'), hostname, 'must be a DNS name, not an IP address'));
  }
}

export function validateServiceStatusUpdate(service: Service, old: Service, server: ServerTraits): FieldError[] {
  const errors: FieldError[] = [];
  validateLoadBalancerStatus(
    errors,
    service.status?.loadBalancer ?? {},
    old.status?.loadBalancer,
    fieldPath('status', 'loadBalancer'),
    service.spec ?? noSpec,
    server,
  );
  return errors;
}

/** Warnings about a service. Upstream: pkg/api/service/warnings.go. */
export function serviceWarnings({ metadata, spec = noSpec }: Service): string[] {
  const warnings: string[] = [];
  const { type, clusterIP, clusterIPs = [], externalIPs = [], loadBalancerIP = '' } = spec;
  if (metadata.annotations?.[topologyHints] !== undefined)
    warnings.push(`annotation ${topologyHints} is deprecated, please use ${topologyMode} instead`);
  const headless = type === 'ClusterIP' && clusterIP === 'None';
  if (clusterIP && clusterIP !== 'None')
    for (const [i, ip] of clusterIPs.entries()) warnings.push(...getWarningsForIP(specPath.child('clusterIPs').index(i), ip));
  if (headless) {
    if (loadBalancerIP) warnings.push('spec.loadBalancerIP is ignored for headless services');
    if (externalIPs.length > 0) warnings.push('spec.externalIPs is ignored for headless services');
    if (spec.sessionAffinity !== 'None') warnings.push('spec.SessionAffinity is ignored for headless services');
  }
  for (const [i, ip] of externalIPs.entries()) warnings.push(...getWarningsForIP(specPath.child('externalIPs').index(i), ip));
  if (externalIPs.length > 0 && !headless && type !== 'ExternalName')
    warnings.push('spec.externalIPs is deprecated and may no longer be implemented in some clusters');
  if (loadBalancerIP) warnings.push(...getWarningsForIP(specPath.child('loadBalancerIP'), loadBalancerIP));
  for (const [i, range] of (spec.loadBalancerSourceRanges ?? []).entries())
    warnings.push(...getWarningsForCIDR(specPath.child('loadBalancerSourceRanges').index(i), range));
  if (type === 'ExternalName' && externalIPs.length > 0) warnings.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  if (type !== 'ExternalName' && spec.externalName) warnings.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  if (spec.trafficDistribution === 'PreferClose')
    warnings.push(`spec.trafficDistribution: ${quote('PreferClose')} is deprecated; use ${quote('PreferSameZone')}`);
  return warnings;
}

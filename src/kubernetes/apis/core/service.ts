import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import { nameIsDNS1035Label, nameIsDNSLabel } from '#apimachinery/validation/names';
import type { Strategy } from '#apiserver/registry/resource-definition';
import { isOptedOut } from '#kubernetes/apis/core/capabilities';
import { serviceWarnings, validateService, validateServiceUpdate } from '#kubernetes/apis/core/validation/service';
import { withoutStatus } from '#kubernetes/apis/strategy';
import { loadBalancerText } from '#kubernetes/apis/core/load-balancer';
import type { Service, ServiceSpec } from '#kubernetes/schema/core_v1.gen';

export function externalIpText({ spec, status }: Service): string {
  const externalIps = spec?.externalIPs ?? [];
  switch (spec?.type) {
    case 'ClusterIP':
    case 'NodePort':
      return externalIps.join(',') || '<none>';
    case 'LoadBalancer': {
      const loadBalancer = loadBalancerText(status?.loadBalancer?.ingress);
      return [...(loadBalancer ? [loadBalancer] : []), ...externalIps].join(',') || '<pending>';
    }
    case 'ExternalName':
      return spec.externalName ?? '';
    default:
      return '<unknown>';
  }
}

/** Formats ports as `80/TCP,443:30443/TCP`. */
export function portsText({ spec }: Service): string {
  return (
    (spec?.ports ?? [])
      .map(({ port = 0, nodePort = 0, protocol = '' }) => `${nodePort > 0 ? `${port}:${nodePort}` : port}/${protocol}`)
      .join(',') || '<none>'
  );
}

const needsClusterIp = (spec: ServiceSpec) => spec.type !== 'ExternalName';
const isLoadBalancer = (spec: ServiceSpec) => spec.type === 'LoadBalancer';
const needsNodePort = (spec: ServiceSpec) => spec.type === 'NodePort' || spec.type === 'LoadBalancer';
const needsHealthCheckNodePort = (spec: ServiceSpec) => spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';
const isExternallyAccessible = (spec: ServiceSpec) =>
  needsNodePort(spec) || (spec.type === 'ClusterIP' && (spec.externalIPs?.length ?? 0) > 0);

/**
 * Drops the fields that only the old type of a service has when the type changes, unless the same update changes them, which validation
 * then judges. Upstream: core/service/strategy.go, dropTypeDependentFields.
 */
export function dropTypeDependentFields(service: Service, old: Service): void {
  const { spec } = service;
  const before = old.spec;
  if (!spec || !before) return;
  const lost = (needs: (spec: ServiceSpec) => boolean) => needs(before) && !needs(spec);
  const same = (...fields: (keyof ServiceSpec)[]) => fields.every((field) => semanticDeepEqual(spec[field], before[field]));

  if (lost(needsClusterIp)) {
    if (same('clusterIP', 'clusterIPs')) {
      delete spec.clusterIP;
      delete spec.clusterIPs;
    }
    if (same('ipFamilies')) delete spec.ipFamilies;
    if (same('ipFamilyPolicy')) delete spec.ipFamilyPolicy;
  }
  if (lost(needsNodePort)) {
    const nodePorts = new Set((before.ports ?? []).map((port) => port.nodePort));
    const added = (spec.ports ?? []).some(({ nodePort }) => nodePort && !nodePorts.has(nodePort));
    if (!added) for (const port of spec.ports ?? []) delete port.nodePort;
  }
  if (lost(needsHealthCheckNodePort) && same('healthCheckNodePort')) delete spec.healthCheckNodePort;
  if (lost(isLoadBalancer)) {
    if (same('allocateLoadBalancerNodePorts')) delete spec.allocateLoadBalancerNodePorts;
    if (same('loadBalancerClass')) delete spec.loadBalancerClass;
  }
  if (lost(isExternallyAccessible) && same('externalTrafficPolicy')) delete spec.externalTrafficPolicy;
  if (!isLoadBalancer(spec) && service.status) service.status = { ...service.status, loadBalancer: {} };
}

export const serviceStrategy: Strategy<Service> = withoutStatus({
  allowCreateOnUpdate: true,
  returnsDeletedObject: true,
  nameRules: (_, server) => (isOptedOut(server, 'RelaxedServiceNameValidation') ? nameIsDNS1035Label : nameIsDNSLabel),
  prepareForCreate(service) {
    service.status = { loadBalancer: {} };
  },
  prepareForUpdate: dropTypeDependentFields,
  validate: (service, server) => validateService(service, undefined, server),
  validateUpdate: validateServiceUpdate,
  warningsOnCreate: serviceWarnings,
  warningsOnUpdate: serviceWarnings,
  /** Upstream stores the field and hides it on every read (storage.go, defaultOnReadInternalTrafficPolicy). */
  canonicalize({ spec }) {
    if (spec?.type === 'ExternalName') delete spec.internalTrafficPolicy;
  },
});

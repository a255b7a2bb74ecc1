/** Validation of ingresses. Upstream: pkg/apis/networking/validation/validation.go. */
import { type FieldError, type Path, fieldPath, invalid, notSupported, required } from '#apimachinery/validation/field';
import { parseIPSloppy } from '#apimachinery/validation/ip';
import {
  isDNS1123Subdomain,
  isValidPathSegmentName,
  isValidPortName,
  isValidPortNum,
  isWildcardDNS1123Subdomain,
  nameIsDNS1035Label,
  nameIsDNSLabel,
  nameIsDNSSubdomain,
  type ValidateNameFunc,
} from '#apimachinery/validation/names';
import type { ServerTraits } from '#apiserver/registry/resource-definition';
import { isOptedOut } from '#kubernetes/apis/core/capabilities';
import { check, validateIP } from '#kubernetes/apis/core/validation/checks';
import { validateMetaAgain } from '#kubernetes/apis/core/validation/object-meta';
import type {
  HTTPIngressPath,
  Ingress,
  IngressBackend,
  IngressRule,
  IngressServiceBackend,
  IngressSpec,
  IngressTLS,
} from '#kubernetes/schema/networking_v1.gen';
import type { TypedLocalObjectReference } from '#kubernetes/schema/core_v1.gen';

const specPath = fieldPath('spec');
const noSpec: IngressSpec = {};
const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix'];
const classAnnotation = 'kubernetes.io/ingress.class';

/** Properties of the stored ingress that stay valid. */
interface Allowed {
  readonly secretName: boolean;
  readonly wildcardHostRule: boolean;
  /** Rule for the names of services: the gate RelaxedServiceNameValidation admits those of DNS-1123. */
  readonly serviceName: ValidateNameFunc;
}

export function validateIngress({ metadata, spec = noSpec }: Ingress, server: ServerTraits = {}): FieldError[] {
  const errors: FieldError[] = [];
  validateSpec(errors, spec, { secretName: false, wildcardHostRule: false, serviceName: serviceNameRule(noSpec, server) });
  const annotation = metadata.annotations?.[classAnnotation];
  if (annotation !== undefined && spec.ingressClassName !== undefined && annotation !== spec.ingressClassName) {
    errors.push(invalid(fieldPath('annotations', classAnnotation), annotation, 'must match `ingressClassName` when both are specified'));
  }
  return errors;
}

export function validateIngressUpdate(
  { metadata, spec = noSpec }: Ingress,
  { spec: old = noSpec }: Ingress,
  server: ServerTraits = {},
): FieldError[] {
  const errors: FieldError[] = [];
  validateMetaAgain(errors, metadata, nameIsDNSSubdomain);
  validateSpec(errors, spec, {
    secretName: (old.tls ?? []).some(({ secretName }) => secretNameErrors(secretName).length > 0),
    wildcardHostRule: (old.rules ?? []).some((rule) => rule.host?.includes('*') && isInvalidRule(rule)),
    serviceName: serviceNameRule(old, server),
  });
  return errors;
}

/** Returns the rule for names of services, which the old ingress may have relaxed. */
function serviceNameRule({ defaultBackend, rules = [] }: IngressSpec, server: ServerTraits): ValidateNameFunc {
  if (!isOptedOut(server, 'RelaxedServiceNameValidation')) return nameIsDNSLabel;
  const backends = [defaultBackend, ...rules.flatMap(({ http }) => (http?.paths ?? []).map(({ backend }) => backend))];
  const isRelaxed = backends.some(({ service } = {}) => {
    const name = service?.name ?? '';
    return service && nameIsDNSLabel(name, false).length === 0 && nameIsDNS1035Label(name, false).length > 0;
  });
  return isRelaxed ? nameIsDNSLabel : nameIsDNS1035Label;
}

function isInvalidRule(rule: IngressRule): boolean {
  const errors: FieldError[] = [];
  validateRuleValue(errors, rule, specPath, nameIsDNS1035Label);
  return errors.length > 0;
}

function secretNameErrors(name = ''): readonly string[] {
  return name === '' ? [] : nameIsDNSSubdomain(name, false);
}

function validateSpec(errors: FieldError[], spec: IngressSpec, allowed: Allowed): void {
  const { rules, defaultBackend, tls, ingressClassName } = spec;
  if (!rules?.length && !defaultBackend) errors.push(invalid(specPath, rules, 'either `defaultBackend` or `rules` must be specified'));
  if (defaultBackend) validateBackend(errors, defaultBackend, specPath.child('defaultBackend'), allowed.serviceName);
  for (const [i, rule] of (rules ?? []).entries()) validateRule(errors, rule, specPath.child('rules').index(i), allowed);
  for (const [i, entry] of (tls ?? []).entries()) validateTls(errors, entry, specPath.child('tls').index(i), allowed);
  if (ingressClassName !== undefined)
    check(errors, nameIsDNSSubdomain(ingressClassName, false), ingressClassName, specPath, 'ingressClassName');
}

function hostErrors(host: string): readonly string[] {
  return host.includes('*') ? isWildcardDNS1123Subdomain(host) : isDNS1123Subdomain(host);
}

function validateTls(errors: FieldError[], { hosts, secretName }: IngressTLS, path: Path, allowed: Allowed): void {
  for (const [i, host] of (hosts ?? []).entries())
    for (const message of hostErrors(host)) errors.push(invalid(path.child('hosts').index(i), host, message));
  if (!allowed.secretName) check(errors, secretNameErrors(secretName), secretName, path, 'secretName');
}

function validateRule(errors: FieldError[], rule: IngressRule, path: Path, allowed: Allowed): void {
  const { host = '' } = rule;
  if (host !== '') {
    if (parseIPSloppy(host)) errors.push(invalid(path.child('host'), host, 'must be a DNS name, not an IP address'));
    check(errors, hostErrors(host), host, path, 'host');
  }
  if (!host.includes('*') || !allowed.wildcardHostRule) validateRuleValue(errors, rule, path, allowed.serviceName);
}

function validateRuleValue(errors: FieldError[], { http }: IngressRule, path: Path, serviceName: ValidateNameFunc): void {
  if (!http) return;
  const at = path.child('http', 'paths');
  if (!http.paths?.length) errors.push(required(at));
  for (const [i, item] of (http.paths ?? []).entries()) validatePath(errors, item, at.index(i), serviceName);
}

function validatePath(
  errors: FieldError[],
  { path = '', pathType, backend = {} }: HTTPIngressPath,
  at: Path,
  serviceName: ValidateNameFunc,
): void {
  if (pathType === undefined) {
    errors.push(required(at.child('pathType'), 'pathType must be specified'));
    return;
  }
  const isAbsolute = path.startsWith('/');
  switch (pathType) {
    case 'Exact':
    case 'Prefix':
      if (!isAbsolute) errors.push(invalid(at.child('path'), path, 'must be an absolute path'));
      for (const part of ['//', '/./', '/../', '%2f', '%2F'])
        if (path.includes(part)) errors.push(invalid(at.child('path'), path, `must not contain '${part}'`));
      for (const end of ['/..', '/.']) if (path.endsWith(end)) errors.push(invalid(at.child('path'), path, `cannot end with '${end}'`));
      break;
    case 'ImplementationSpecific':
      if (path !== '' && !isAbsolute) errors.push(invalid(at.child('path'), path, 'must be an absolute path'));
      break;
    default:
      errors.push(notSupported(at.child('pathType'), pathType, pathTypes));
  }
  validateBackend(errors, backend, at.child('backend'), serviceName);
}

function validateBackend(errors: FieldError[], { service, resource }: IngressBackend, path: Path, serviceName: ValidateNameFunc): void {
  if (resource && service) errors.push(invalid(path, '', 'cannot set both resource and service backends'));
  else if (resource) validateReference(errors, resource, path.child('resource'));
  else if (service) validateServiceBackend(errors, service, path, serviceName);
  else errors.push(invalid(path, '', 'resource or service backend is required'));
}

function validateServiceBackend(
  errors: FieldError[],
  { name = '', port = {} }: IngressServiceBackend,
  path: Path,
  serviceName: ValidateNameFunc,
): void {
  if (name === '') errors.push(required(path.child('service', 'name')));
  else for (const message of serviceName(name, false)) errors.push(invalid(path.child('service', 'name'), name, message));
  const { name: portName = '', number = 0 } = port;
  if (portName !== '' && number !== 0) errors.push(invalid(path, '', 'cannot set both port name & port number'));
  else if (portName !== '') check(errors, isValidPortName(portName), portName, path.child('service', 'port', 'name'));
  else if (number !== 0) check(errors, isValidPortNum(number), number, path.child('service', 'port', 'number'));
  else errors.push(required(path, 'port name or number is required'));
}

/** Validates the reference to a backend object, or to the parameters of a class. */
export function validateReference(errors: FieldError[], { apiGroup, kind, name }: TypedLocalObjectReference, path: Path): void {
  if (apiGroup !== undefined) check(errors, isDNS1123Subdomain(apiGroup), apiGroup, path, 'apiGroup');
  if (!kind) errors.push(required(path.child('kind')));
  else check(errors, isValidPathSegmentName(kind), kind, path, 'kind');
  if (!name) errors.push(required(path.child('name')));
  else check(errors, isValidPathSegmentName(name), name, path, 'name');
}

export function validateIngressStatusUpdate({ status }: Ingress, old: Ingress, server: ServerTraits): FieldError[] {
  const errors: FieldError[] = [];
  const path = fieldPath('status', 'loadBalancer', 'ingress');
  const before = new Set(old.status?.loadBalancer?.ingress?.map(({ ip = '' }) => ip));
  for (const [i, { ip = '', hostname = '' }] of (status?.loadBalancer?.ingress ?? []).entries()) {
    if (ip !== '') validateIP(errors, ip, path.index(i).child('ip'), server, before);
    if (hostname === '') continue;
    check(errors, isDNS1123Subdomain(hostname), hostname, path.index(i), 'hostname');
    if (parseIPSloppy(hostname)) errors.push(invalid(path.index(i).child('hostname'), hostname, 'must be a DNS name, not an IP address'));
  }
  return errors;
}

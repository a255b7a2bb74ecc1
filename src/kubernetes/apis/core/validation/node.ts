/** Validation of nodes. Upstream: pkg/apis/core/validation. */
import { parseJson } from '#apimachinery/runtime/json/json';
import { quote } from '#apimachinery/runtime/quote';
import { presentKeys } from '#apimachinery/runtime/wide-objects';
import {
  addErrors,
  type FieldError,
  type Path,
  duplicate,
  fieldPath,
  forbidden,
  internalError,
  invalid,
  required,
} from '#apimachinery/validation/field';
import { getWarningsForCIDR, parseCIDRSloppy } from '#apimachinery/validation/ip';
import {
  isConfigMapKey,
  isQualifiedName,
  isValidLabelValue,
  nameIsDNSSubdomain,
  validateNamespaceName,
} from '#apimachinery/validation/names';
import { errorsOfEach } from '#apimachinery/validation/pausing';
import type { ServerTraits } from '#apiserver/registry/resource-definition';
import type { ConfigMapNodeConfigSource, Node, NodeConfigSource, Taint } from '#kubernetes/schema/core_v1.gen';
import { taintEffects } from './affinity.ts';
import { byteLength, check, validateCIDR, validatePositive, validateRequired, validateRequiredEnum } from './checks.ts';
import { internalValue } from './internal.ts';
import { validateMetaAgain } from './object-meta.ts';
import { validateResourceQuantityValue, withDetail } from './resources.ts';

const metadataPath = fieldPath('metadata');
const specPath = fieldPath('spec');
const statusPath = fieldPath('status');
const taintsAnnotation = 'scheduler.alpha.kubernetes.io/taints';
const avoidPodsAnnotation = 'scheduler.alpha.kubernetes.io/preferAvoidPods';

/** Validates taints. As upstream, `path` places the taints of the spec in the metadata. */
function validateTaints(errors: FieldError[], taints: readonly Taint[], path: Path): void {
  const seen = new Set<string>();
  for (const [i, taint] of taints.entries()) {
    const { key = '', value = '', effect } = taint;
    const at = path.index(i);
    check(errors, isQualifiedName(key), key, at, 'key');
    const wrong = isValidLabelValue(value);
    if (wrong.length > 0) errors.push(invalid(at.child('value'), value, wrong.join(';')));
    validateRequiredEnum(errors, effect, taintEffects, at, 'effect');
    const id = JSON.stringify([effect, key]);
    if (seen.has(id)) errors.push(withDetail(duplicate(at, internalValue('Taint', taint)), 'taints must be unique by key and effect pair'));
    seen.add(id);
  }
}

function validateAnnotations(errors: FieldError[], { metadata: { annotations } }: Node): void {
  const path = metadataPath.child('annotations');
  const taints = annotations?.[taintsAnnotation];
  if (taints) {
    const parsed = parseAnnotation(errors, taints, path, taintsAnnotation);
    if (Array.isArray(parsed))
      validateTaints(errors, parsed.filter((item) => typeof item === 'object' && item !== null) as Taint[], path.child(taintsAnnotation));
  }
  const avoids = annotations?.[avoidPodsAnnotation];
  if (!avoids) return;
  const parsed = parseAnnotation(errors, avoids, path.child('AvoidPods'), avoidPodsAnnotation) as { preferAvoidPods?: unknown } | undefined;
  const entries = Array.isArray(parsed?.preferAvoidPods)
    ? (parsed.preferAvoidPods as { podSignature?: { podController?: { controller?: boolean } } }[])
    : [];
  for (const [i, entry] of entries.entries()) {
    const at = path.child(avoidPodsAnnotation).index(i).child('PodSignature');
    const controller = entry?.podSignature?.podController;
    if (!controller) errors.push(required(at));
    else if (!controller.controller) errors.push(invalid(at.child('PodController', 'Controller'), false, 'must point to a controller'));
  }
}

function parseAnnotation(errors: FieldError[], text: string, path: Path, annotation: string): unknown {
  try {
    return parseJson(Buffer.from(text)).value;
  } catch (error) {
    errors.push(invalid(path, annotation, (error as Error).message));
    return undefined;
  }
}

function validateResources(errors: FieldError[], { status }: Node): void {
  for (const field of ['capacity', 'allocatable'] as const) {
    const list = status?.[field];
    if (!list) continue;
    const path = statusPath.child(field);
    const checked = errorsOfEach(list, path, presentKeys(list), (found, name) =>
      validateResourceQuantityValue(found, name, list[name]!, () => path.child(name)),
    );
    addErrors(errors, checked);
  }
}

const featureName = /^[A-Z][a-zA-Z0-9]*(?:\/[a-zA-Z][a-zA-Z0-9]*)*$/;
const featureFormat =
  "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes";

function validateDeclaredFeatures(errors: FieldError[], features: readonly string[] = []): void {
  const path = statusPath.child('declaredFeatures');
  for (const [i, feature] of features.entries()) {
    if (byteLength(feature) > 253)
      errors.push(invalid(path.index(i), feature, `invalid feature name ${quote(feature)}: must be no more than 253 characters`));
    else if (!featureName.test(feature))
      errors.push(invalid(path.index(i), feature, `invalid feature name ${quote(feature)}: ${featureFormat}`));
    const next = features[i + 1];
    if (next === feature) errors.push(duplicate(path.index(i + 1), next));
    else if (next !== undefined && feature > next) errors.push(invalid(path.index(i + 1), next, 'list must be sorted alphabetically'));
  }
}

export function validateNode(node: Node, server: ServerTraits): FieldError[] {
  const errors: FieldError[] = [];
  const { spec, status } = node;
  validateAnnotations(errors, node);
  if (spec?.taints) validateTaints(errors, spec.taints, metadataPath.child('taints'));
  validateResources(errors, node);
  const swap = status?.nodeInfo?.swap?.capacity;
  if (swap !== undefined) validatePositive(errors, swap, metadataPath.child('nodeSwapStatus'), 'capacity');
  validateDeclaredFeatures(errors, status?.declaredFeatures);
  validatePodCidrs(errors, spec?.podCIDRs ?? [], server);
  return errors;
}

function validatePodCidrs(errors: FieldError[], cidrs: readonly string[], server: ServerTraits): void {
  const path = specPath.child('podCIDRs');
  for (const [i, cidr] of cidrs.entries()) validateCIDR(errors, cidr, path.index(i), server);
  if (cidrs.length < 2) return;
  const families = cidrs.map((cidr) => parseCIDRSloppy(cidr)?.bytes.length);
  const bad = families.indexOf(undefined);
  if (bad >= 0)
    errors.push(
      internalError(
        path,
        new Error(
          `invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[${bad}]: <nil> (invalid CIDR address: ${cidrs[bad]})`,
        ),
      ),
    );
  if (bad >= 0 || new Set(families).size < 2 || cidrs.length > 2)
    errors.push(invalid(path, cidrs, 'may specify no more than one CIDR for each IP family'));
}

const podCidrIsSet = 'node updates may not change podCIDR except from "" to valid';

/** Validates an update of a node or its status; `isStatus` skips what only the main resource validates again. */
export function validateNodeUpdate(node: Node, old: Node, server: ServerTraits, isStatus = false): FieldError[] {
  const errors: FieldError[] = [];
  const { spec, status } = node;
  const before = old.spec;
  if (!isStatus) {
    validateMetaAgain(errors, node.metadata, nameIsDNSSubdomain, false);
    addErrors(errors, validateNode(node, server));
  }
  validateAnnotations(errors, node);
  validateResources(errors, node);
  validateDeclaredFeatures(errors, status?.declaredFeatures);
  const addresses = new Set<string>();
  for (const [i, address] of (status?.addresses ?? []).entries()) {
    const id = JSON.stringify([address.type, address.address]);
    if (addresses.has(id)) errors.push(duplicate(statusPath.child('addresses').index(i), internalValue('NodeAddress', address)));
    addresses.add(id);
  }
  const cidrs = before?.podCIDRs ?? [];
  const now = spec?.podCIDRs ?? [];
  const path = specPath.child('podCIDRs');
  if (cidrs.length > 0 && cidrs.length !== now.length) errors.push(forbidden(path, podCidrIsSet));
  else for (const [i, cidr] of cidrs.entries()) if (cidr !== now[i]) errors.push(forbidden(path, podCidrIsSet));
  if (before?.providerID && before.providerID !== spec?.providerID) {
    errors.push(forbidden(specPath.child('providerID'), 'node updates may not change providerID except from "" to valid'));
  }
  if (spec?.configSource) validateConfigSource(errors, spec.configSource, specPath.child('configSource'), false);
  for (const field of ['assigned', 'active', 'lastKnownGood'] as const) {
    const source = status?.config?.[field];
    if (source) validateConfigSource(errors, source, statusPath.child('config', field), true);
  }
  if (spec?.taints) validateTaints(errors, spec.taints, metadataPath.child('taints'));
  if ((spec?.externalID ?? '') !== (before?.externalID ?? '')) errors.push(forbidden(specPath.child('externalID'), 'may not be updated'));
  return errors;
}

/** Validates the dynamic kubelet configuration from a config map; in a status it must name the exact version. */
function validateConfigSource(errors: FieldError[], source: NodeConfigSource, path: Path, isStatus: boolean): void {
  const { configMap } = source;
  if (!configMap) {
    errors.push(invalid(path, internalValue('NodeConfigSource', source), 'exactly one reference subfield must be non-nil'));
    return;
  }
  const at = path.child('configMap');
  for (const field of ['uid', 'resourceVersion'] as const) {
    if (isStatus) validateRequired(errors, configMap[field], at, field);
    else if (configMap[field]) errors.push(forbidden(at.child(field), `${field} must not be set in spec`));
  }
  validateConfigMapSource(errors, configMap, at);
}

function validateConfigMapSource(errors: FieldError[], { namespace, name, kubeletConfigKey }: ConfigMapNodeConfigSource, path: Path): void {
  if (validateRequired(errors, namespace, path, 'namespace'))
    check(errors, validateNamespaceName(namespace, false), namespace, path, 'namespace');
  if (validateRequired(errors, name, path, 'name')) check(errors, nameIsDNSSubdomain(name, false), name, path, 'name');
  if (validateRequired(errors, kubeletConfigKey, path, 'kubeletConfigKey'))
    check(errors, isConfigMapKey(kubeletConfigKey), kubeletConfigKey, path, 'kubeletConfigKey');
}

export function nodeWarnings({ spec }: Node): string[] {
  return [
    ...(spec?.configSource ? ['spec.configSource: the feature is removed'] : []),
    ...(spec?.externalID ? ['spec.externalID: this field is deprecated, and is unused by Kubernetes'] : []),
    ...(spec?.podCIDRs ?? []).flatMap((cidr, i) => getWarningsForCIDR(specPath.child('podCIDRs').index(i), cidr)),
  ];
}

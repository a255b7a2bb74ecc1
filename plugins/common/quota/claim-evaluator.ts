import { type Attributes, Quantity } from 'kubenest/sdk';
import type { PersistentVolumeClaim } from 'kubenest/kinds';
import { storageClassOf } from '../volume-claim.ts';
import { matchesNames, objectCountName, type QuotaEvaluator, type ScopeRequirement } from './evaluator.ts';
import { one, type QuotaAmounts } from './quota-amounts.ts';

const countName = objectCountName('', 'persistentvolumeclaims');
const resources = ['persistentvolumeclaims', 'requests.storage'];
const classSuffix = '.storageclass.storage.k8s.io/';

/**
 * Computes the usage of claims: their number and requested storage. Upstream:
 * kubernetes/pkg/quota/v1/evaluator/core/persistent_volume_claims.go.
 */
export class PersistentVolumeClaimEvaluator implements QuotaEvaluator {
  readonly hasScopes = true;

  /**
   * True for creates, updates and all status writes. Upstream decides whether a status write changes the usage by a pointer
   * comparison, which is always unequal.
   */
  handles({ operation, subresource }: Attributes): boolean {
    return subresource === 'status' || (subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'));
  }

  matchingResources(names: Iterable<string>): string[] {
    return [...names].filter(
      (name) => name === countName || resources.includes(name) || resources.some((resource) => name.endsWith(classSuffix + resource)),
    );
  }

  matchesScope(scope: ScopeRequirement, object: PersistentVolumeClaim): boolean {
    return scope.scopeName === 'VolumeAttributesClass' && matchesNames(scope, attributesClassesOf(object));
  }

  usage(object: PersistentVolumeClaim): QuotaAmounts {
    const usage = new Map([
      ['persistentvolumeclaims', one],
      [countName, one],
    ]);
    const storageClass = storageClassOf(object);
    const storage = storageOf(object);
    if (storage) usage.set('requests.storage', storage);
    if (storageClass === '') return usage;
    usage.set(`${storageClass}${classSuffix}persistentvolumeclaims`, one);
    if (storage) usage.set(`${storageClass}${classSuffix}requests.storage`, storage);
    return usage;
  }
}

/** Returns the requested storage, or the allocated one of an expansion that was not reverted, in whole bytes. */
function storageOf({ spec, status }: PersistentVolumeClaim): Quantity | undefined {
  const asked = spec?.resources?.requests?.['storage'];
  if (asked === undefined) return undefined;
  const request = Quantity.parse(asked);
  const granted = Quantity.parse(status?.allocatedResources?.['storage'] ?? '0');
  const most = granted.compare(request) > 0 ? granted : request;
  return most.isInteger() ? most : Quantity.fromInteger(most.value(), most.format);
}

function attributesClassesOf({ spec, status }: PersistentVolumeClaim): string[] {
  const names = [
    spec?.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ];
  return names.filter((name): name is string => Boolean(name));
}

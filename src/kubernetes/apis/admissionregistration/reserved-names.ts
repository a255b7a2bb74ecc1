/** Names that are reserved for objects in static manifest files. Upstream: pkg/apis/admissionregistration/validation/static_suffix.go. */
import type { KubeObject } from '#apimachinery/meta/types';
import { fieldPath, invalid } from '#apimachinery/validation/field';
import { nameIsDNSSubdomain } from '#apimachinery/validation/names';
import { validateObjectMeta } from '#apimachinery/validation/object-meta';
import { staticSuffix } from '#apiserver/admission/manifest/manifests';
import type { Strategy } from '#apiserver/registry/resource-definition';

const feature = 'ManifestBasedAdmissionControlConfig';
const reserved = `names ending with "${staticSuffix}" are reserved for static manifest-based configurations and cannot be managed via the API`;

/** Returns a strategy that rejects reserved names where manifest files may be configured, and warns about them otherwise. */
export function reservingStaticNames<T extends KubeObject>(strategy: Strategy<T>): Strategy<T> {
  const isReserved = ({ metadata: { name = '' } }: KubeObject): boolean => name.endsWith(staticSuffix);
  const warnings = (object: KubeObject): string[] => (isReserved(object) ? [`metadata.name: ${reserved}`] : []);
  return {
    ...strategy,
    // The generic machinery validates these objects, not the core group.
    anyFinalizers: true,
    genericMeta: 'update',
    validate(object, context) {
      const errors = strategy.validate?.(object, context) ?? [];
      if (isReserved(object) && context.isEnabled?.(feature))
        errors.push(invalid(fieldPath('metadata').child('name'), object.metadata.name, reserved));
      return errors;
    },
    validateUpdate(object, old, context) {
      const again = validateObjectMeta(object.metadata, { namespaced: false, nameFn: nameIsDNSSubdomain }, fieldPath('metadata'));
      return [...again, ...(strategy.validateUpdate?.(object, old, context) ?? [])];
    },
    warningsOnCreate: (object, { isEnabled }) => (isEnabled?.(feature) ? [] : warnings(object)),
    warningsOnUpdate: warnings,
  };
}

/** Names that only objects in files have. Upstream: pkg/apis/admissionregistration/validation/static_suffix.go. */
import type { KubeObject } from '#apimachinery/meta/types';
import { fieldPath, invalid } from '#apimachinery/validation/field';
import { nameIsDNSSubdomain } from '#apimachinery/validation/names';
import { validateObjectMeta } from '#apimachinery/validation/object-meta';
import { staticSuffix } from '#apiserver/admission/manifest/manifests';
import type { Strategy } from '#apiserver/registry/resource-definition';

const feature = 'ManifestBasedAdmissionControlConfig';
const reserved = `names ending with "${staticSuffix}" are reserved for static manifest-based configurations and cannot be managed via the API`;

/** A strategy that refuses names of files where files may be configured, and warns of them in any case. */
export function reservingStaticNames<T extends KubeObject>(strategy: Strategy<T>): Strategy<T> {
  const isReserved = ({ metadata: { name = '' } }: KubeObject): boolean => name.endsWith(staticSuffix);
  const warnings = (object: KubeObject): string[] => (isReserved(object) ? [`metadata.name: ${reserved}`] : []);
  return {
    ...strategy,
    // Their validation is that of the generic machinery, not that of the core group.
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

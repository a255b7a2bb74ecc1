/** Validation of CSI drivers. Upstream: pkg/apis/storage/validation/validation.go. */
import { type FieldError, duplicate, fieldPath, invalid, notSupported, required } from '#apimachinery/validation/field';
import { validateImmutable } from '#kubernetes/apis/immutable-field';
import type { CSIDriver, CSIDriverSpec, TokenRequest } from '#kubernetes/schema/storage_v1.gen';

const specPath = fieldPath('spec');
const noSpec: CSIDriverSpec = {};
const fsGroupPolicies = ['File', 'None', 'ReadWriteOnceWithFSType'];
const lifecycleModes = ['Persistent', 'Ephemeral'];
const minTokenSeconds = 600;
const maxTokenSeconds = 2 ** 32;

export function validateCSIDriver({ spec = noSpec }: CSIDriver): FieldError[] {
  const errors: FieldError[] = [];
  // As upstream, the path names the field attachedRequired.
  if (spec.attachRequired === undefined) errors.push(required(specPath.child('attachedRequired')));
  if (spec.podInfoOnMount === undefined) errors.push(required(specPath.child('podInfoOnMount')));
  if (spec.storageCapacity === undefined) errors.push(required(specPath.child('storageCapacity')));
  if (spec.fsGroupPolicy !== undefined && !fsGroupPolicies.includes(spec.fsGroupPolicy)) {
    errors.push(notSupported(specPath.child('fsGroupPolicy'), spec.fsGroupPolicy, fsGroupPolicies));
  }
  validateTokenRequests(errors, spec.tokenRequests ?? []);
  for (const mode of spec.volumeLifecycleModes ?? []) {
    if (!lifecycleModes.includes(mode)) errors.push(notSupported(specPath.child('volumeLifecycleModes'), mode, lifecycleModes));
  }
  if (spec.seLinuxMount === undefined) errors.push(required(specPath.child('seLinuxMount')));
  const { nodeAllocatableUpdatePeriodSeconds: period, serviceAccountTokenInSecrets: inSecrets } = spec;
  if (period !== undefined && period < 10)
    errors.push(invalid(specPath.child('nodeAllocatableUpdatePeriodSeconds'), period, 'must be greater than or equal to 10 seconds'));
  if (inSecrets !== undefined && !spec.tokenRequests?.length) {
    errors.push(
      invalid(
        specPath.child('serviceAccountTokenInSecrets'),
        inSecrets,
        'serviceAccountTokenInSecrets is set but no tokenRequests are specified',
      ),
    );
  }
  return errors;
}

export function validateCSIDriverUpdate(driver: CSIDriver, old: CSIDriver): FieldError[] {
  const errors = validateCSIDriver(driver);
  validateImmutable(errors, driver.spec?.attachRequired, old.spec?.attachRequired, specPath, 'attachedRequired');
  validateImmutable(errors, driver.spec?.volumeLifecycleModes, old.spec?.volumeLifecycleModes, specPath, 'volumeLifecycleModes');
  return errors;
}

function validateTokenRequests(errors: FieldError[], requests: readonly TokenRequest[]): void {
  const audiences = new Set<string>();
  for (const [i, { audience = '', expirationSeconds: seconds }] of requests.entries()) {
    const at = (field: string) => specPath.child('tokenRequests').index(i).child(field);
    if (audiences.has(audience)) {
      errors.push(duplicate(at('audience'), audience));
      continue;
    }
    audiences.add(audience);
    if (seconds === undefined) continue;
    if (seconds < minTokenSeconds)
      errors.push(invalid(at('expirationSeconds'), seconds, 'may not specify a duration less than 10 minutes'));
    if (seconds > maxTokenSeconds)
      errors.push(invalid(at('expirationSeconds'), seconds, 'may not specify a duration larger than 2^32 seconds'));
  }
}

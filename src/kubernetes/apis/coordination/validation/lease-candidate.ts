/** Validation of lease candidates. Upstream: pkg/apis/coordination/validation/validation.go. */
import { type FieldError, fieldPath, invalid, required } from '#apimachinery/validation/field';
import { fieldImmutableError } from '#apimachinery/validation/object-meta';
import type { LeaseCandidate } from '#kubernetes/schema/coordination_v1beta1.gen';
import { compareVersions, parseVersion, zeroVersion } from '#kubernetes/apis/coordination/semantic-version';
import { validateStrategy } from './lease.ts';

const path = fieldPath('spec');
const notSemantic = 'must be a valid semantic version';

export function validateLeaseCandidate({ spec = {} }: LeaseCandidate): FieldError[] {
  const errors: FieldError[] = [];
  const { leaseName, emulationVersion, binaryVersion, strategy } = spec;
  if (!leaseName) errors.push(required(path.child('leaseName')));
  const emulated = emulationVersion ? parseVersion(emulationVersion) : undefined;
  if (emulationVersion && !emulated) errors.push(invalid(path.child('emulationVersion'), emulationVersion, notSemantic));
  const binary = binaryVersion ? parseVersion(binaryVersion) : undefined;
  if (!binaryVersion) errors.push(required(path.child('binaryVersion')));
  else if (!binary) errors.push(invalid(path.child('binaryVersion'), binaryVersion, notSemantic));
  // An unparsable version counts as 0.0.0.
  if (binaryVersion && emulationVersion && compareVersions(binary ?? zeroVersion, emulated ?? zeroVersion) < 0)
    errors.push(invalid(path.child('binaryVersion'), binaryVersion, 'must be greater than or equal to `emulationVersion`'));
  if (!strategy) {
    errors.push(required(path.child('strategy')));
    return errors;
  }
  if (strategy === 'OldestEmulationVersion' && compareVersions(emulated ?? zeroVersion, zeroVersion) === 0)
    errors.push(required(path.child('emulationVersion'), "must be specified when `strategy` is 'OldestEmulationVersion'"));
  validateStrategy(errors, strategy);
  return errors;
}

export function validateLeaseCandidateUpdate(candidate: LeaseCandidate, old: LeaseCandidate): FieldError[] {
  const errors = validateLeaseCandidate(candidate);
  const name = candidate.spec?.leaseName ?? '';
  if (name !== (old.spec?.leaseName ?? '')) errors.push(invalid(path.child('leaseName'), name, fieldImmutableError));
  return errors;
}

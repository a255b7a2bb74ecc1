/** Upstream: pkg/apis/coordination/validation/validation.go. */
import { type FieldError, fieldPath, invalid, required } from '#apimachinery/validation/field';
import { fieldImmutableError } from '#apimachinery/validation/object-meta';
import type { LeaseCandidate } from '#kubernetes/schema/coordination_v1beta1.gen';
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
  // What does not parse counts as version 0.0.0.
  if (binaryVersion && emulationVersion && compareVersions(binary ?? zero, emulated ?? zero) < 0)
    errors.push(invalid(path.child('binaryVersion'), binaryVersion, 'must be greater than or equal to `emulationVersion`'));
  if (!strategy) {
    errors.push(required(path.child('strategy')));
    return errors;
  }
  if (strategy === 'OldestEmulationVersion' && compareVersions(emulated ?? zero, zero) === 0)
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

interface SemanticVersion {
  readonly numbers: readonly bigint[];
  /** The identifiers behind the dash. */
  readonly pre: readonly string[];
}
const zero: SemanticVersion = { numbers: [0n, 0n, 0n], pre: [] };

/** semver 2.0.0, clause 9-11; undefined for what is none. */
function parseVersion(text: string): SemanticVersion | undefined {
  const match =
    /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/.exec(
      text,
    );
  if (!match) return undefined;
  const pre = match[4]?.split('.') ?? [];
  if (pre.some((identifier) => /^0\d+$/.test(identifier))) return undefined;
  return { numbers: [match[1], match[2], match[3]].map((number) => BigInt(number ?? 0)), pre };
}

/** Build metadata does not count; a pre-release comes before its release. */
function compareVersions(a: SemanticVersion, b: SemanticVersion): number {
  for (const [i, number] of a.numbers.entries()) {
    const other = b.numbers[i] ?? 0n;
    if (number !== other) return number < other ? -1 : 1;
  }
  if (a.pre.length === 0 || b.pre.length === 0) return b.pre.length - a.pre.length;
  for (const [i, identifier] of a.pre.entries()) {
    const other = b.pre[i];
    if (other === undefined) return 1;
    const order = compareIdentifiers(identifier, other);
    if (order !== 0) return order;
  }
  return a.pre.length - b.pre.length;
}

/** Numbers by their value, and before words. */
function compareIdentifiers(a: string, b: string): number {
  const numeric = [a, b].map((identifier) => /^\d+$/.test(identifier));
  if (numeric[0] !== numeric[1]) return numeric[0] ? -1 : 1;
  if (a === b) return 0;
  return (numeric[0] ? BigInt(a) < BigInt(b) : a < b) ? -1 : 1;
}

import { baselineChecks } from '../../common/pod-security/baseline-checks.ts';
import type { Check, CheckedPod, VersionedCheck, Violation } from '../../common/pod-security/check.ts';
import type { Level, LevelVersion } from './level.ts';
import { restrictedChecks } from '../../common/pod-security/restricted-checks.ts';

const byId = (a: Check, b: Check): number => (a.id < b.id ? -1 : 1);
const baseline = [...baselineChecks].sort(byId);
const restricted = [...restrictedChecks].sort(byId);
/** The latest version with a changed check; newer versions and `latest` are equivalent to it. */
const newest = Math.max(...[...baseline, ...restricted].flatMap(({ versions }) => versions.map(({ since }) => since)));
const compiled = new Map<string, readonly VersionedCheck[]>();

/** Returns the violations of a level by a pod as of a version. Upstream: pod-security-admission/policy/registry.go. */
export function violationsOf({ level, version }: LevelVersion, pod: CheckedPod): Violation[] {
  return level === 'privileged' ? [] : checksOf(level, Math.min(version, newest)).flatMap(({ check }) => check(pod) ?? []);
}

function checksOf(level: Exclude<Level, 'privileged'>, minor: number): readonly VersionedCheck[] {
  const key = `${level}:${minor}`;
  let checks = compiled.get(key);
  if (!checks) {
    const own = level === 'restricted' ? restricted.filter((check) => ruleIn(check, minor)) : [];
    const overridden = new Set(own.flatMap(({ overrides }) => overrides ?? []));
    checks = [...baseline.filter(({ id }) => !overridden.has(id)), ...own].flatMap((check) => ruleIn(check, minor) ?? []);
    compiled.set(key, checks);
  }
  return checks;
}

function ruleIn({ versions }: Check, minor: number): VersionedCheck | undefined {
  return versions.findLast(({ since }) => since <= minor);
}

export function reasonsText(violations: readonly Violation[]): string {
  return violations.map(({ reason }) => reason).join(', ');
}

export function detailsText(violations: readonly Violation[]): string {
  return violations.map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`)).join(', ');
}

import { type FieldError, fieldPath, invalid } from 'kubenest/sdk';

export type Level = 'privileged' | 'baseline' | 'restricted';
const levels: readonly Level[] = ['privileged', 'baseline', 'restricted'];
const labelPrefix = 'pod-security.kubernetes.io/';
const labelsPath = fieldPath('metadata', 'labels');

/** N for `v1.N`; Infinity for `latest`. */
export type Version = number;
export const latest: Version = Number.POSITIVE_INFINITY;

export interface LevelVersion {
  readonly level: Level;
  readonly version: Version;
}
/** The levels of a namespace by mode. */
export interface Policy {
  readonly enforce: LevelVersion;
  readonly audit: LevelVersion;
  readonly warn: LevelVersion;
}
export type Mode = keyof Policy;

export const labelOf = (mode: Mode): string => labelPrefix + mode;
export const versionLabelOf = (mode: Mode): string => `${labelPrefix}${mode}-version`;
export const annotationOf = (key: string): string => labelPrefix + key;

export function versionText(version: Version): string {
  return version === latest ? 'latest' : `v1.${version}`;
}

export function levelVersionText({ level, version }: LevelVersion): string {
  return `${level}:${versionText(version)}`;
}

/** Parses a level. Throws for an unknown level. */
export function parseLevel(text: string): Level {
  if (!levels.includes(text as Level)) throw new Error(`must be one of ${levels.join(', ')}`);
  return text as Level;
}

/** Parses `latest` or `v1.N`. Throws for other text. */
export function parseVersion(text: string): Version {
  if (text === 'latest') return latest;
  const minor = /^v1\.([0-9]|[1-9][0-9]*)$/.exec(text)?.[1];
  if (minor === undefined || !Number.isSafeInteger(Number(minor))) throw new Error('must be "latest" or "v1.x"');
  return Number(minor);
}

/** Returns a positive number if `a` is stricter than `b`. */
export function compareLevels(a: Level, b: Level): number {
  return levels.indexOf(a) - levels.indexOf(b);
}

export function isFullyPrivileged({ enforce, audit, warn }: Policy): boolean {
  return enforce.level === 'privileged' && audit.level === 'privileged' && warn.level === 'privileged';
}

export function isEquivalent(a: Policy, b: Policy): boolean {
  const same = (one: LevelVersion, other: LevelVersion): boolean =>
    one.level === other.level && (one.level === 'privileged' || one.version === other.version);
  return same(a.enforce, b.enforce) && same(a.audit, b.audit) && same(a.warn, b.warn);
}

/**
 * Parses the policy from a namespace's labels, with its errors.
 *
 * | label | invalid value counts as |
 * |---|---|
 * | enforce | restricted: it fails closed |
 * | audit, warn | privileged: they fail open |
 * | …-version | latest |
 *
 * Without a `warn` label, `enforce` also applies to warnings if it is stricter. Upstream: pod-security-admission/api
 * (PolicyToEvaluate).
 */
export function policyOf(labels: Readonly<Record<string, string>> | undefined, defaults: Policy): { policy: Policy; errors: FieldError[] } {
  if (!labels) return { policy: defaults, errors: [] };
  const errors: FieldError[] = [];
  const read = <T>(label: string, parse: (text: string) => T, usual: T, whenWrong: T): T => {
    const text = labels[label];
    if (text === undefined) return usual;
    try {
      return parse(text);
    } catch (error) {
      errors.push(invalid(labelsPath.key(label), text, (error as Error).message));
      return whenWrong;
    }
  };
  const modeOf = (mode: Mode, whenWrong: Level): LevelVersion => ({
    level: read(labelOf(mode), parseLevel, defaults[mode].level, whenWrong),
    version: read(versionLabelOf(mode), parseVersion, defaults[mode].version, latest),
  });
  const enforce = modeOf('enforce', 'restricted');
  const isEnforceWrong = errors.some(({ field }) => field === labelsPath.key(labelOf('enforce')).toString());
  const audit = modeOf('audit', 'privileged');
  let warn = modeOf('warn', 'privileged');
  const followsEnforce = labels[labelOf('warn')] === undefined && labels[labelOf('enforce')] !== undefined && !isEnforceWrong;
  if (followsEnforce && compareLevels(enforce.level, warn.level) > 0)
    warn = { level: enforce.level, version: labels[versionLabelOf('warn')] === undefined ? enforce.version : warn.version };
  return { policy: { enforce, audit, warn }, errors };
}

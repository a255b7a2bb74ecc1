import { isQualifiedName, isValidLabelValue, jsonKind, parseJson } from '#sdk/internal';
import type { Toleration } from '../common/pod-walker.ts';

/**
 * Merges two lists without tolerations that another one covers. The first of equal ones stays. Upstream:
 * kubernetes/pkg/util/tolerations (MergeTolerations).
 */
export function mergeTolerations<T extends Toleration>(first: readonly T[] = [], second: readonly T[] = []): T[] {
  const distinct = [...new Map([...first, ...second].map((toleration) => [textOf(toleration), toleration])).values()];
  const later = new Coverage();
  const notCoveredLater = distinct.toReversed().filter((toleration) => later.isNew(toleration));
  const kept = new Coverage();
  return notCoveredLater.toReversed().filter((toleration) => kept.isNew(toleration));
}

/** True if every toleration is covered by an allowed one; an empty list allows all. */
export function areTolerationsAllowed(tolerations: readonly Toleration[] = [], allowed: readonly Toleration[] = []): boolean {
  if (allowed.length === 0) return true;
  const coverage = new Coverage();
  for (const one of allowed) coverage.add(one);
  return tolerations.every((toleration) => coverage.covers(toleration));
}

/** Index of tolerations that tests coverage without comparing each one, because a pod may have tens of thousands. */
class Coverage {
  readonly #texts = new Set<string>();
  /** Covered seconds (Infinity: any or none) by key, effect and, unless all values are covered, value. */
  readonly #seconds = new Map<string, number>();

  add(toleration: Toleration): void {
    const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = toleration;
    this.#texts.add(textOf(toleration));
    if (operator !== 'Exists' && operator !== 'Equal' && operator !== '') return;
    const part = partOf(key, effect, operator === 'Exists' ? undefined : value);
    const seconds = effect === 'NoExecute' ? (tolerationSeconds ?? Infinity) : Infinity;
    // Math.max does not accept bigints, which very large values are.
    if (this.#secondsOf(part) < seconds) this.#seconds.set(part, seconds);
  }

  /** True if an equal toleration, or one with more keys, effects, values or seconds, exists. */
  covers(toleration: Toleration): boolean {
    const { key = '', operator, value = '', effect = '', tolerationSeconds = Infinity } = toleration;
    if (this.#texts.has(textOf(toleration))) return true;
    const isIn = (part: string): boolean => this.#secondsOf(part) >= tolerationSeconds;
    const keys = ['', key];
    return ['', effect].some(
      (one) => keys.some((of) => isIn(partOf(of, one, undefined))) || (operator === 'Equal' && isIn(partOf(key, one, value))),
    );
  }

  #secondsOf(part: string): number {
    return this.#seconds.get(part) ?? -Infinity;
  }

  /** Adds a toleration unless it is covered; returns true if it was added. */
  isNew(toleration: Toleration): boolean {
    if (this.covers(toleration)) return false;
    this.add(toleration);
    return true;
  }
}

const partOf = (key: string, effect: string, value: string | undefined): string => JSON.stringify([key, effect, value ?? null]);

function textOf({ key = '', operator = '', value = '', effect = '', tolerationSeconds }: Toleration): string {
  return JSON.stringify([key, operator, value, effect, String(tolerationSeconds)]);
}

/**
 * Returns the inconsistencies of a toleration, each with its field. Upstream: kubernetes/pkg/apis/core/validation
 * (ValidateTolerations).
 */
export function tolerationProblems({ key = '', operator = '', value = '', effect = '', tolerationSeconds }: Toleration): string[] {
  const problems = isQualifiedName(key)
    .filter(() => key !== '')
    .map((problem) => `.key: ${problem}`);
  if (key === '' && operator !== 'Exists')
    problems.push('.operator: operator must be Exists when `key` is empty, which means "match all values and all keys"');
  if (tolerationSeconds !== undefined && effect !== 'NoExecute')
    problems.push(".effect: effect must be 'NoExecute' when `tolerationSeconds` is set");
  if (operator === 'Exists' && value !== '') problems.push(".operator: value must be empty when `operator` is 'Exists'");
  if (operator === 'Equal' || operator === '') problems.push(...isValidLabelValue(value).map((problem) => `.operator: ${problem}`));
  return problems;
}

/** Go types of the fields. */
const fields: Readonly<Record<keyof Toleration, string>> = {
  key: 'string',
  operator: 'v1.TolerationOperator',
  value: 'string',
  effect: 'v1.TaintEffect',
  tolerationSeconds: 'int64',
};

/**
 * Parses a JSON list of tolerations. Throws an Error with the message of Go's decoder for the first mismatched value.
 * Upstream: encoding/json.
 */
export function parseTolerations(text: string): Toleration[] {
  const list = parseJson(Buffer.from(text)).value;
  if (list === null) return [];
  if (!Array.isArray(list)) throw new Error(`json: cannot unmarshal ${jsonKind(list)} into Go value of type []v1.Toleration`);
  return list.map(tolerationOf);
}

function tolerationOf(value: unknown): Toleration {
  if (value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value))
    throw new Error(`json: cannot unmarshal ${jsonKind(value)} into Go value of type v1.Toleration`);
  const toleration: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    // Go's encoding/json matches names case-insensitively.
    const field = (Object.keys(fields) as (keyof Toleration)[]).find((one) => one.toLowerCase() === name.toLowerCase());
    if (field === undefined || member === null) continue;
    checkMember(field, member);
    if (member !== '') toleration[field] = member;
  }
  return toleration;
}

function checkMember(field: keyof Toleration, member: unknown): void {
  const type = fields[field];
  const isNumber = type === 'int64';
  if (typeof member === (isNumber ? 'number' : 'string') && (!isNumber || Number.isInteger(member))) return;
  const what = typeof member === 'number' && isNumber ? `number ${member}` : jsonKind(member);
  throw new Error(`json: cannot unmarshal ${what} into Go struct field Toleration.${field} of type ${type}`);
}

import { isQualifiedName, isValidLabelValue, jsonKind, parseJson } from 'kubenest/sdk';
import type { Toleration } from './pod-walker.ts';

/**
 * One list of two, without those that another one covers. Of equal ones the first stays.
 * Upstream: kubernetes/pkg/util/tolerations (MergeTolerations).
 */
export function mergeTolerations(first: readonly Toleration[] = [], second: readonly Toleration[] = []): Toleration[] {
  const distinct = [...new Map([...first, ...second].map((toleration) => [textOf(toleration), toleration])).values()];
  const later = new Coverage();
  const notCoveredLater = distinct.toReversed().filter((toleration) => later.isNew(toleration));
  const kept = new Coverage();
  return notCoveredLater.toReversed().filter((toleration) => kept.isNew(toleration));
}

/** Whether each toleration is covered by one of the allowed ones; an empty list allows all. */
export function areTolerationsAllowed(tolerations: readonly Toleration[] = [], allowed: readonly Toleration[] = []): boolean {
  if (allowed.length === 0) return true;
  const coverage = new Coverage();
  for (const one of allowed) coverage.add(one);
  return tolerations.every((toleration) => coverage.covers(toleration));
}

/** What some tolerations cover, found without a look at each of them: a Pod may have tens of thousands. */
class Coverage {
  readonly #texts = new Set<string>();
  /** By key, effect and, where not all values are covered, the value: the seconds that are covered; Infinity: any or none. */
  readonly #seconds = new Map<string, number>();

  add(toleration: Toleration): void {
    const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = toleration;
    this.#texts.add(textOf(toleration));
    if (operator !== 'Exists' && operator !== 'Equal' && operator !== '') return;
    const part = partOf(key, effect, operator === 'Exists' ? undefined : value);
    const seconds = effect === 'NoExecute' ? (tolerationSeconds ?? Infinity) : Infinity;
    // Not Math.max: very large ones are bigints.
    if (this.#secondsOf(part) < seconds) this.#seconds.set(part, seconds);
  }

  /** An equal one, or one of more keys, effects, values or seconds. */
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

  /** Adds one that is not covered. */
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

/** What does not go together in a toleration, each with its member. Upstream: kubernetes/pkg/apis/core/validation (ValidateTolerations). */
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

/** The fields with their types in Go. */
const fields: Readonly<Record<keyof Toleration, string>> = {
  key: 'string',
  operator: 'v1.TolerationOperator',
  value: 'string',
  effect: 'v1.TaintEffect',
  tolerationSeconds: 'int64',
};

/** A JSON list. Throws an Error in the words of Go's decoder; the first value that does not fit is told. Upstream: encoding/json. */
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
    // This decoder of Go does not care about the case of names.
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

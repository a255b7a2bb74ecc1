import { isQualifiedName, isValidLabelValue, jsonKind, parseJson, semanticDeepEqual } from 'kubenest/sdk';
import type { Toleration } from './pod-walker.ts';

/**
 * One list of two, without those that another one covers. Of equal ones the first stays.
 * Upstream: kubernetes/pkg/util/tolerations (MergeTolerations).
 */
export function mergeTolerations(first: readonly Toleration[] = [], second: readonly Toleration[] = []): Toleration[] {
  const all = [...first, ...second];
  const merged: Toleration[] = [];
  for (const [at, toleration] of all.entries()) {
    if (merged.some((kept) => covers(kept, toleration))) continue;
    if (all.slice(at + 1).some((later) => !semanticDeepEqual(toleration, later) && covers(later, toleration))) continue;
    merged.push(toleration);
  }
  return merged;
}

/** Whether each toleration is covered by one of the allowed ones; an empty list allows all. */
export function areTolerationsAllowed(tolerations: readonly Toleration[] = [], allowed: readonly Toleration[] = []): boolean {
  return allowed.length === 0 || tolerations.every((toleration) => allowed.some((one) => covers(one, toleration)));
}

function covers(wide: Toleration, narrow: Toleration): boolean {
  if (semanticDeepEqual(wide, narrow)) return true;
  if ((narrow.key ?? '') !== (wide.key ?? '') && (wide.key || wide.operator !== 'Exists')) return false;
  if (narrow.effect !== wide.effect && wide.effect) return false;
  if (wide.effect === 'NoExecute' && wide.tolerationSeconds !== undefined) {
    if (narrow.tolerationSeconds === undefined || narrow.tolerationSeconds > wide.tolerationSeconds) return false;
  }
  if (wide.operator === 'Exists') return true;
  return (wide.operator || 'Equal') === 'Equal' && narrow.operator === 'Equal' && (narrow.value ?? '') === (wide.value ?? '');
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

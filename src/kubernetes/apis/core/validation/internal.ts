/**
 * Formats values as upstream's messages do. Upstream validates its internal types, which have no JSON names: a struct is printed with Go's
 * field names and with all of its fields (`{"Type":"RuntimeDefault","LocalhostProfile":null}`).
 */
import { JsonText } from '#apimachinery/validation/field';
import type { LabelSelector } from '#apimachinery/meta/schema/meta_v1.gen';
import { metaSchema } from '#apimachinery/meta/schema/schema';
import { isEmptyObject } from '#apimachinery/patch/own-property';
import { compareUtf8, encodeRawJson, rawInteger } from '#apimachinery/runtime/json/json';
import { isContainer } from '#apimachinery/runtime/numbers';
import type { PodSpec } from '#kubernetes/schema/core_v1.gen';
import { internalTypes } from './internal-types.ts';
import { maxLines, unifiedDiff } from './unified-diff.ts';

interface InternalField {
  readonly goName: string;
  readonly name: string;
  readonly type: string;
  readonly embedded: boolean;
}

type Value = Readonly<Record<string, unknown>>;

const parsed = new Map<string, readonly InternalField[]>();

function fieldsOf(type: string): readonly InternalField[] {
  let fields = parsed.get(type);
  if (!fields) {
    const text = internalTypes[type];
    if (text === undefined) throw new Error(`internal type ${type} is unknown`);
    fields = text.split(', ').map((field) => {
      if (field.startsWith('+')) return { goName: '', name: '', type: field.slice(1), embedded: true };
      const [names = '', fieldType = ''] = field.split(' ');
      const [goName = '', name] = names.split('=');
      return { goName, name: name ?? goName.charAt(0).toLowerCase() + goName.slice(1), type: fieldType, embedded: false };
    });
    parsed.set(type, fields);
  }
  return fields;
}

function toInternal(type: string, value: unknown): unknown {
  if (value === undefined || value === null) return zeroOf(type);
  if (type.startsWith('*')) return toInternal(type.slice(1), value);
  if (type.startsWith('[]')) return (value as readonly unknown[]).map((item) => toInternal(type.slice(2), item));
  switch (type) {
    case 'string':
    case 'bool':
    case 'int':
    case 'Quantity':
    case 'IntOrString':
    case 'Time':
      return value;
    case 'map':
      return sortedMap(value as Value);
    case 'LabelSelector':
      return labelSelector(value as LabelSelector);
    default:
      return structOf(type, value as Value);
  }
}

function zeroOf(type: string): unknown {
  switch (type) {
    case 'string':
      return '';
    case 'bool':
      return false;
    case 'int':
    case 'IntOrString':
      return 0;
    case 'Quantity':
      return '0';
    default:
      return type.startsWith('*') || type.startsWith('[]') || type === 'map' || type === 'Time' ? null : structOf(type, {});
  }
}

function structOf(type: string, value: Value): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const field of fieldsOf(type)) {
    if (!field.embedded)
      result[field.goName] = toInternal(field.type, field.type === '*PodSecurityContext' ? podSecurityContext(value) : value[field.name]);
    else if (field.type === 'ObjectMeta') Object.assign(result, metadata(value['metadata'] as Value | undefined));
    else Object.assign(result, structOf(field.type, value));
  }
  return result;
}

/** Builds the internal security context, which includes fields that v1 has beside it. */
function podSecurityContext({ securityContext, hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers }: PodSpec): Value {
  return { ...securityContext, hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers };
}

/** Formats metadata, whose type has JSON names: without empty fields. */
function metadata(value: Value = {}): Value {
  const { fields } = metaSchema.struct('meta_v1.ObjectMeta');
  return Object.fromEntries(
    [...fields].flatMap(([name, { type, ptr }]) => {
      const member = value[name];
      if (member === undefined || member === null || (!ptr && isZero(member))) return [];
      return [[name, type.kind === 'map' ? sortedMap(member as Value) : member] as const];
    }),
  );
}

const isZero = (value: unknown): boolean => value === '' || value === 0 || (isContainer(value) && isEmptyObject(value));

function sortedMap(map: Value): Value {
  return Object.fromEntries(
    Object.keys(map)
      .sort(compareUtf8)
      .map((key) => [key, map[key]]),
  );
}

/** Formats a metav1 type: with JSON names, and without empty fields. */
function labelSelector({ matchLabels = {}, matchExpressions }: LabelSelector): Value {
  return {
    ...(isEmptyObject(matchLabels) ? {} : { matchLabels: sortedMap(matchLabels) }),
    ...(matchExpressions?.length
      ? {
          matchExpressions: matchExpressions.map(({ key = '', operator = '', values }) => ({
            key,
            operator,
            ...(values?.length ? { values } : {}),
          })),
        }
      : {}),
  };
}

function escaped(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Formats a bad value of an internal type (`'SecurityContext'`, `'[]PodIP'`), given in its v1 form. */
export function internalValue(type: string, value: unknown): JsonText {
  return new JsonText(encodeRawJson(toInternal(type, value)));
}

/** Returns the diff of two values of an internal type, given in v1 form; empty if they are equal or very long. */
export function internalDiff(type: string, before: unknown, after: unknown): string {
  // Each object takes at least one line, so the diff would exceed the limit.
  if (objectsLeft(before, maxLines) <= 0 || objectsLeft(after, maxLines) <= 0) return '';
  return unifiedDiff(indented(toInternal(type, before)), indented(toInternal(type, after)));
}

function indented(value: unknown): string {
  return escaped(JSON.stringify(value, (_, part: unknown) => rawInteger(part), 1));
}

/** Returns `limit` minus the number of objects in a value; stops counting at zero. */
function objectsLeft(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null) return limit;
  let left = limit - 1;
  for (const key in value) {
    if (left <= 0) break;
    left = objectsLeft((value as Value)[key], left);
  }
  return left;
}

/** Formats a bad value of type metav1.LabelSelector. */
export function labelSelectorValue(selector: LabelSelector): JsonText {
  return new JsonText(encodeRawJson(labelSelector(selector)));
}

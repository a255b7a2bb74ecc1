import type { PodTemplateSpec } from 'kubenest/types/core_v1';
import { dumpQuantity } from './dump-quantity.ts';
import { fnv32a } from '#sdk/internal';
import { podTemplateFields } from './pod-template-fields.ts';

interface GoField {
  readonly name: string;
  readonly type: string;
  /** Undefined for an embedded struct, whose fields are those of the object that contains it. */
  readonly json: string | undefined;
}

const parsed = new Map<string, readonly GoField[]>();

function fieldsOf(type: string): readonly GoField[] | undefined {
  let fields = parsed.get(type);
  const text = podTemplateFields[type];
  if (!fields && text !== undefined) {
    fields = text.split(', ').map((field) => {
      const [name = '', fieldType = '', json] = field.split(' ');
      return { name, type: fieldType, json };
    });
    parsed.set(type, fields);
  }
  return fields;
}

/** Types with fields that the API does not show. A template's times are always zero. */
const special: Readonly<Record<string, (value: unknown) => string>> = {
  'v1.Time': () => '{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}',
  'resource.Quantity': (value) => dumpQuantity(value as string | undefined),
  'intstr.IntOrString': (value = 0) =>
    typeof value === 'number'
      ? `{Type:(intstr.Type)0 IntVal:(int32)${value} StrVal:(string)}`
      : `{Type:(intstr.Type)1 IntVal:(int32)0 StrVal:(string)${value}}`,
};
const numbers = new Set(['int32', 'int64', 'intstr.Type']);

/** Returns the dump of a value without its type. A map or list without entries is nil, because the protobuf form does not keep it. */
function dumpValue(type: string, value: unknown): string {
  if (type.startsWith('*')) return value === undefined || value === null ? '<nil>' : dumpValue(type.slice(1), value);
  if (type.startsWith('[]')) {
    const items = (value ?? []) as readonly unknown[];
    return items.length === 0 ? '<nil>' : `[${items.map((item) => dumpValue(type.slice(2), item)).join(' ')}]`;
  }
  if (type === 'v1.ResourceList') return dumpMap('resource.Quantity', value);
  if (type.startsWith('map[string]')) return dumpMap(type.slice('map[string]'.length), value);
  const dumpSpecial = special[type];
  if (dumpSpecial) return dumpSpecial(value);
  const fields = fieldsOf(type);
  if (fields) {
    const object = (value ?? {}) as Readonly<Record<string, unknown>>;
    const dumpField = (field: GoField): string => {
      const content = field.json === undefined ? object : object[field.json];
      return `${field.name}:(${field.type})${dumpValue(field.type, content)}`;
    };
    return `{${fields.map(dumpField).join(' ')}}`;
  }
  if (type === 'bool') return String(value ?? false);
  return String(value ?? (numbers.has(type) ? 0 : ''));
}

function dumpMap(type: string, value: unknown): string {
  const entries = Object.entries((value ?? {}) as Readonly<Record<string, unknown>>);
  if (entries.length === 0) return '<nil>';
  const sorted = entries.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return `map[${sorted.map(([key, item]) => `${key}:${dumpValue(type, item)}`).join(' ')}]`;
}

const safe = 'bcdfghjklmnpqrstvwxz2456789';

/** Replaces characters such that no words appear. Upstream: apimachinery/pkg/util/rand.SafeEncodeString. */
export function safeEncode(text: string): string {
  return [...text].map((char) => safe[char.charCodeAt(0) % safe.length]).join('');
}

/** Returns the FNV-32a hash of bytes as safe text. */
function safeHash(bytes: Uint8Array): string {
  return safeEncode(String(fnv32a(bytes)));
}

/** Returns Go's dump of a template, which is equal for templates that mean the same. Upstream: k8s.io/utils/dump.ForHash. */
export function podTemplateDump(template: PodTemplateSpec): string {
  return `(v1.PodTemplateSpec)${dumpValue('v1.PodTemplateSpec', template)}`;
}

/**
 * Returns the label `pod-template-hash` of a template: the hash of Go's dump of the struct, so that kube-controller-manager computes the
 * same. Upstream: pkg/controller/controller_utils.go ComputeHash.
 */
export function podTemplateHash(template: PodTemplateSpec, collisionCount?: number): string {
  const dump = Buffer.from(podTemplateDump(template));
  if (collisionCount === undefined) return safeHash(dump);
  const collisions = Buffer.alloc(8);
  collisions.writeUInt32LE(collisionCount);
  return safeHash(Buffer.concat([dump, collisions]));
}

import { JsonText } from '#apimachinery/validation/field';
import { encode } from '#apimachinery/runtime/encode';
import type { StructType, Type } from '#apimachinery/runtime/schema';
import { structValue } from '#kubernetes/apis/struct-value';

/** Go names that are not just capitalized. */
const goNames: Readonly<Record<string, string>> = {
  cel: 'CEL',
  uid: 'UID',
  apiGroup: 'APIGroup',
  ips: 'IPs',
};

/** `int` becomes `IntValue`, `ints` becomes `IntValues`. */
const attributeNames = ['int', 'bool', 'string', 'version'].flatMap((kind) => {
  const name = `${kind.charAt(0).toUpperCase()}${kind.slice(1)}Value`;
  return [
    [kind, name],
    [`${kind}s`, `${name}s`],
  ] as const;
});
const attributeGoNames: ReadonlyMap<string, string> = new Map(attributeNames);

const goName = (name: string): string => goNames[name] ?? attributeGoNames.get(name) ?? name.charAt(0).toUpperCase() + name.slice(1);

/**
 * Formats a bad value as upstream prints its internal types of resource.k8s.io: all fields under their Go names, absent ones with their
 * zero value. Types of the meta group are printed as JSON.
 */
export function goValue(type: StructType, value: unknown): JsonText {
  return structValue(structOf(type, value));
}

/** Returns the members of a struct. The metadata of a template is embedded: only members that are present, under their JSON names. */
function structOf(type: StructType, value: unknown): Record<string, unknown> {
  const members = (value ?? {}) as Record<string, unknown>;
  return Object.fromEntries(
    [...type.fields].flatMap(([name, field]) =>
      name === 'metadata'
        ? Object.entries(members[name] ?? {})
        : [[goName(name), goOf(field.type, Object.hasOwn(members, name) ? members[name] : undefined, field.ptr)] as const],
    ),
  );
}

function goOf(type: Type, value: unknown, ptr: boolean): unknown {
  if (value === undefined || value === null) return zeroOf(type, ptr);
  if (type.kind === 'list') return (value as unknown[]).map((item) => goOf(type.items, item, false));
  if (type.kind === 'struct') return type.name.startsWith('meta_v1.') ? new JsonText(encode(type, value as object)) : structOf(type, value);
  return value;
}

function zeroOf(type: Type, ptr: boolean): unknown {
  if (ptr) return null;
  if (type.kind === 'struct') return structOf(type, {});
  if (type.kind !== 'scalar') return null;
  return type.scalar === 'string' ? '' : type.scalar === 'boolean' ? false : 0;
}

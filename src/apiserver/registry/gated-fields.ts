import type { KubeObject } from '#apimachinery/meta/types';
import type { ServerTraits, Strategy } from './resource-definition.ts';

/** Fields that belong to a feature. */
export interface GatedFields {
  /** Feature gates that must all be enabled. */
  readonly gates: readonly string[];
  /** True if the gates are disabled by default. */
  readonly alpha?: true;
  /** Paths from the object; `[]` stands for each element of a list, `{}` for each value of a map: `spec.devices[].taints`. */
  readonly fields: readonly string[];
}

/**
 * Deletes the fields of disabled features, unless the stored object uses a field of the same feature. Upstream: the functions
 * dropDisabledFields of the strategies in pkg/registry.
 */
export function dropGatedFields(
  object: KubeObject,
  old: KubeObject | undefined,
  table: readonly GatedFields[],
  { isEnabled }: ServerTraits,
): void {
  for (const { gates, alpha, fields } of table) {
    const isOn = gates.every((gate) => (alpha ? isEnabled?.(gate) === true : isEnabled?.(gate) !== false));
    if (isOn || (old && fields.some((field) => parentsOf(old, field).some(([parent, name]) => isUsed(parent[name]))))) continue;
    for (const field of fields) for (const [parent, name] of parentsOf(object, field)) delete parent[name];
  }
}

/** Returns a strategy that first drops the fields of disabled features. */
export function withGatedFields<T extends KubeObject>(table: readonly GatedFields[], own: Strategy<T>): Strategy<T> {
  return {
    ...own,
    prepareForCreate(object, context) {
      dropGatedFields(object, undefined, table, context);
      own.prepareForCreate?.(object, context);
    },
    prepareForUpdate(object, old, context) {
      dropGatedFields(object, old, table, context);
      own.prepareForUpdate?.(object, old, context);
    },
  };
}

type Parent = Record<string, unknown>;

/** Returns the maps that may have the field, each with the field's name. */
function parentsOf(object: KubeObject, field: string): [Parent, string][] {
  const names = field.split('.');
  const last = names.pop()!;
  let parents: unknown[] = [object];
  for (const name of names) {
    const key = name.replace(/(\[\]|\{\})$/, '');
    parents = parents.flatMap((parent) => {
      const value = (parent as Parent)[key];
      if (name.endsWith('[]')) return (value as unknown[] | undefined) ?? [];
      return name.endsWith('{}') ? Object.values((value as Parent | undefined) ?? {}) : value ? [value] : [];
    });
  }
  return parents.map((parent) => [parent as Parent, last]);
}

function isUsed(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== '';
}

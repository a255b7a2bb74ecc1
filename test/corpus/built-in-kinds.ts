import { schema as crds, tables as crdTables } from '#apiextensions-apiserver/schema/schema';
import type { StructType } from '#apimachinery/runtime/schema';
import { schema as apiServices, tables as apiServiceTables } from '#kube-aggregator/schema/schema';
import { schema, tables } from '#kubernetes/schema/schema';

export interface BuiltInKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly type: StructType;
}

/**
 * The kinds of the three servers in all versions, including lists, without those common to all groups, such as
 * DeleteOptions.
 */
export const builtInKinds: readonly BuiltInKind[] = (
  [
    [tables, schema],
    [crdTables, crds],
    [apiServiceTables, apiServices],
  ] as const
).flatMap(([folder, registry]) =>
  Object.entries(folder.table<Record<string, string>>('kinds')).map(([key, type]) => {
    const [kind = '', version = '', group = ''] = key.split('/').reverse();
    return { apiVersion: group ? `${group}/${version}` : version, kind, type: registry.struct(type) };
  }),
);

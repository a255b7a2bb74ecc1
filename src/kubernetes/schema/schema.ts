import { metaTables } from '#apimachinery/meta/schema/tables';
import { SchemaRegistry } from '#apimachinery/runtime/schema';
import { TableFolder } from '#apimachinery/runtime/table-folder';

/** Schema tables of the built-in API groups. */
export const tables = new TableFolder(new URL('./', import.meta.url), metaTables);

/** Types of the built-in API groups. */
export const schema = new SchemaRegistry((file) => tables.schema(file), tables);

/** The known kinds, including all versions that discovery has with all APIs enabled. */
export const scheme = {
  /** Returns the type of a kind, such as `core_v1.Pod` for (`v1`, `Pod`); undefined for unknown kinds. */
  typeName(apiVersion: string, kind: string): string | undefined {
    return tables.typeOf(apiVersion, kind);
  },
};

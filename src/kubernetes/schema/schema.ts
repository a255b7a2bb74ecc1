import { metaTables } from '#apimachinery/meta/schema/tables';
import { SchemaRegistry } from '#apimachinery/runtime/schema';
import { TableFolder } from '#apimachinery/runtime/table-folder';

/** The tables of the built-in API groups. */
export const tables = new TableFolder(new URL('./', import.meta.url), metaTables);

/** The types of the built-in API groups. */
export const schema = new SchemaRegistry((file) => tables.schema(file), tables);

/** What kinds are known, all versions of the repository's all-enabled discovery among them. */
export const scheme = {
  /** The type of a kind, such as `core_v1.Pod` of (`v1`, `Pod`); undefined for kinds that are not known. */
  typeName(apiVersion: string, kind: string): string | undefined {
    return tables.typeOf(apiVersion, kind);
  },
};

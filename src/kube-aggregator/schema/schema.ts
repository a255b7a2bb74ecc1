import { metaTables } from '#apimachinery/meta/schema/tables';
import { SchemaRegistry } from '#apimachinery/runtime/schema';
import { TableFolder } from '#apimachinery/runtime/table-folder';

/** Schema tables of apiregistration.k8s.io. */
export const tables = new TableFolder(new URL('./', import.meta.url), metaTables);

/** Types of apiregistration.k8s.io. */
export const schema = new SchemaRegistry((file) => tables.schema(file), tables);

import { metaTables } from '#apimachinery/meta/schema/tables';
import { SchemaRegistry } from '#apimachinery/runtime/schema';
import { TableFolder } from '#apimachinery/runtime/table-folder';

/** Schema tables of apiextensions.k8s.io, and Scale of autoscaling/v1 for the scale subresource of custom resources. */
export const tables = new TableFolder(new URL('./', import.meta.url), metaTables);

/** Types of apiextensions.k8s.io. */
export const schema = new SchemaRegistry((file) => tables.schema(file), tables);

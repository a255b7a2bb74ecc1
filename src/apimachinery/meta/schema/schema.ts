import { SchemaRegistry } from '#apimachinery/runtime/schema';
import { metaTables } from './tables.ts';

/** Types that all API groups use: `meta_v1.Status`, `meta_v1.Table`, … */
export const metaSchema = new SchemaRegistry((file) => metaTables.schema(file), metaTables);

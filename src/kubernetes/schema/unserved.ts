import { SchemaRegistry, type SchemaTable } from '#apimachinery/runtime/schema';
import { tables } from './schema.ts';

/** Types that kube-apiserver stores but does not serve, so that OpenAPI lacks them. Upstream: k8s.io/api/core/v1/types.go. */
const unserved: SchemaTable = {
  RangeAllocation: {
    gvk: ['/v1/RangeAllocation'],
    fields: {
      kind: { type: 'string' },
      apiVersion: { type: 'string' },
      metadata: { ref: 'meta_v1.ObjectMeta', default: {}, always: true },
      range: { type: 'string', default: '', always: true },
      data: { type: 'string', format: 'byte', always: true },
    },
  },
};

/** Types of the core group, including those that are only stored. */
export const storedCoreSchema = new SchemaRegistry(
  (file) => (file === 'core_v1' ? { ...tables.schema(file), ...unserved } : tables.schema(file)),
  tables,
);

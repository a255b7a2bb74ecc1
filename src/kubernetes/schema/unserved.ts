import { SchemaRegistry, type SchemaTable } from '#apimachinery/runtime/schema';
import { tables } from './schema.ts';

/** What kube-apiserver stores though no API serves it, so that no OpenAPI tells of it. Upstream: k8s.io/api/core/v1/types.go. */
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

/** The types of the core group, with those that are only stored. */
export const storedCoreSchema = new SchemaRegistry(
  (file) => (file === 'core_v1' ? { ...tables.schema(file), ...unserved } : tables.schema(file)),
  tables,
);

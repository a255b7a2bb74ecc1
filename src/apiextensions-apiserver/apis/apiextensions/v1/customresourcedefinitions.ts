import type { CustomResourceDefinition } from '#apiextensions-apiserver/schema/apiextensions_v1.gen';
import { defineResource } from '#apiserver/registry/resource-definition';
import { defaultColumns } from '#apiserver/registry/table-columns';
import { defaultCustomResourceDefinition } from './defaults.ts';

/** Every version that ever was the storage version: objects may still be stored in it. */
function addStoredVersion({ spec, status }: CustomResourceDefinition): void {
  const storage = spec?.versions?.find((version) => version.storage)?.name;
  if (!status || storage === undefined || status.storedVersions?.includes(storage)) return;
  status.storedVersions = [...(status.storedVersions ?? []), storage];
}

/** Upstream: apiextensions-apiserver/pkg/registry/customresourcedefinition. */
export default defineResource<CustomResourceDefinition>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  resource: 'customresourcedefinitions',
  namespaced: false,
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  storageVersionHash: 'jfWCUB31mvA=',
  schema: 'apiextensions_v1.CustomResourceDefinition',
  storagePath: 'apiextensions.k8s.io/customresourcedefinitions',
  defaults: defaultCustomResourceDefinition,
  strategy: {
    resetFields: [['status']],
    allowUnconditionalUpdate: false,
    anyFinalizers: true,
    generation: 'spec',
    prepareForCreate(definition) {
      definition.status = {};
      addStoredVersion(definition);
    },
    prepareForUpdate(definition, old) {
      definition.status = { ...old.status };
      addStoredVersion(definition);
    },
  },
  columns: defaultColumns,
  subresources: {
    status: {
      verbs: ['get', 'patch', 'update'],
      strategy: {
        resetFields: [['spec']],
        allowUnconditionalUpdate: false,
        anyFinalizers: true,
        prepareForUpdate(definition, old) {
          if (old.spec) definition.spec = old.spec;
        },
      },
    },
  },
});

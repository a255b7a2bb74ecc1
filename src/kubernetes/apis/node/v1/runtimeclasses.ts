import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, describeMeta, nameColumn } from '#apiserver/registry/table-columns';
import { stringColumn } from '#kubernetes/apis/columns';
import { nodeLabelDeprecation } from '#kubernetes/apis/core/validation/node-labels';
import { validateRuntimeClass, validateRuntimeClassUpdate } from '#kubernetes/apis/node/validation/runtime-class';
import type { RuntimeClass } from '#kubernetes/schema/node_v1.gen';

function schedulingWarnings({ scheduling }: RuntimeClass): string[] {
  return Object.keys(scheduling?.nodeSelector ?? {}).flatMap((label) => {
    const text = nodeLabelDeprecation(label);
    return text === undefined ? [] : [`scheduling.nodeSelector: ${text}`];
  });
}

export default defineResource<RuntimeClass>({
  group: 'node.k8s.io',
  version: 'v1',
  kind: 'RuntimeClass',
  resource: 'runtimeclasses',
  namespaced: false,
  storageVersionHash: 'WQTu1GL3T2Q=',
  schema: 'node_v1.RuntimeClass',
  storagePath: 'runtimeclasses',
  strategy: {
    anyFinalizers: true,
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: false,
    validate: validateRuntimeClass,
    validateUpdate: validateRuntimeClassUpdate,
    warningsOnCreate: schedulingWarnings,
    warningsOnUpdate: schedulingWarnings,
  },
  columns: [nameColumn, stringColumn('Handler', describeMeta('handler'), (runtimeClass) => runtimeClass.handler ?? ''), ageColumn],
});

import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { booleanColumn, describe, integerColumn, stringColumn } from '#kubernetes/apis/columns';
import {
  refuseSystemClassDeletion,
  validatePriorityClass,
  validatePriorityClassUpdate,
} from '#kubernetes/apis/scheduling/validation/priority-class';
import type { PriorityClass } from '#kubernetes/schema/scheduling_v1.gen';
import { defaultPriorityClass } from './defaults.ts';

export default defineResource<PriorityClass>({
  group: 'scheduling.k8s.io',
  version: 'v1',
  kind: 'PriorityClass',
  resource: 'priorityclasses',
  namespaced: false,
  shortNames: ['pc'],
  storageVersionHash: '1QwjyaZjj3Y=',
  schema: 'scheduling_v1.PriorityClass',
  storagePath: 'priorityclasses',
  defaults: defaultPriorityClass,
  strategy: {
    prepareForCreate(priorityClass) {
      priorityClass.metadata.generation = 1;
    },
    refuseDeletion: refuseSystemClassDeletion,
    validate: validatePriorityClass,
    validateUpdate: validatePriorityClassUpdate,
  },
  columns: [
    nameColumn,
    integerColumn('Value', describe('scheduling_v1.PriorityClass', 'value'), (priorityClass) => priorityClass.value ?? 0),
    booleanColumn(
      'Global-Default',
      describe('scheduling_v1.PriorityClass', 'globalDefault'),
      (priorityClass) => priorityClass.globalDefault ?? false,
    ),
    ageColumn,
    stringColumn(
      'PreemptionPolicy',
      describe('scheduling_v1.PriorityClass', 'preemptionPolicy'),
      (priorityClass) => priorityClass.preemptionPolicy ?? '',
    ),
  ],
});

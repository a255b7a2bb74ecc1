import { labelSelectorAsSelector, type LabelSelectorSource, selectorFromSet } from '#apimachinery/labels/selector';
import type { ReplicasPaths } from '#apimachinery/managedfields/scale-handler';
import type { KubeObject } from '#apimachinery/meta/types';
import { type FieldError, fieldPath, invalid } from '#apimachinery/validation/field';
import { nameIsDNSSubdomain } from '#apimachinery/validation/names';
import { validateObjectMeta } from '#apimachinery/validation/object-meta';
import type { Column, KindSubresource, Scale, ScaleBinding } from '#apiserver/registry/resource-definition';
import { ageColumn, describeMeta } from '#apiserver/registry/table-columns';
import { describe, integerColumn, stringColumn } from '#kubernetes/apis/columns';

/** Fields that workloads with a scale share. */
interface Workload extends KubeObject {
  spec?: { replicas?: number; selector?: unknown };
  status?: { replicas?: number };
}

const columns: readonly Column<Scale>[] = [
  stringColumn('Name', describeMeta('name'), ({ metadata }) => metadata.name ?? ''),
  integerColumn('Desired', describe('autoscaling_v1.ScaleSpec', 'replicas'), ({ spec }) => spec?.replicas ?? 0),
  integerColumn('Available', describe('autoscaling_v1.ScaleStatus', 'replicas'), ({ status }) => status?.replicas ?? 0),
  ageColumn,
];

/** Validates a scale. Upstream: kubernetes/pkg/apis/autoscaling/validation (ValidateScale). */
function validateScale({ metadata, spec }: Scale): FieldError[] {
  const errors = validateObjectMeta(metadata, { namespaced: true, nameFn: nameIsDNSSubdomain }, fieldPath('metadata'));
  const count = spec?.replicas ?? 0;
  if (count < 0) errors.push(invalid(fieldPath('spec', 'replicas'), count, 'must be greater than or equal to 0'));
  return errors;
}

const workload: Omit<ScaleBinding<Workload>, 'replicasPaths' | 'selector'> = {
  specReplicas: ({ spec }) => spec?.replicas,
  statusReplicas: ({ status }) => status?.replicas ?? 0,
  setReplicas(object, replicas) {
    object.spec = { ...object.spec, replicas };
  },
  validate: validateScale,
};

/**
 * Returns the scale subresource of a workload. `groupVersions` lists all versions that the resource ever had, since older ones may own
 * fields of old objects; `selects` is the type of its selector.
 */
export function scaleSubresource(groupVersions: readonly string[], selects: 'selector' | 'labels' = 'selector'): KindSubresource {
  const replicasPaths: ReplicasPaths = new Map(groupVersions.map((groupVersion) => [groupVersion, ['f:spec', 'f:replicas']]));
  const binding: ScaleBinding<Workload> = {
    ...workload,
    replicasPaths,
    selector({ spec }) {
      const selector =
        selects === 'labels'
          ? selectorFromSet(spec?.selector as Record<string, string> | undefined)
          : labelSelectorAsSelector(spec?.selector as LabelSelectorSource | undefined);
      return selector.toString();
    },
  };
  return {
    kind: 'Scale',
    groupVersion: { group: 'autoscaling', version: 'v1' },
    schema: 'autoscaling_v1.Scale',
    verbs: ['get', 'patch', 'update'],
    columns,
    scale: binding,
  };
}

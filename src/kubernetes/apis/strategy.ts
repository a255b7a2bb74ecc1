import { nextGeneration } from '#apimachinery/meta/generation';
import type { KubeObject } from '#apimachinery/meta/types';
import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import type { ParentSubresource, Strategy, StrategyContext } from '#apiserver/registry/resource-definition';
import { schema } from '#kubernetes/schema/schema';

/** Copies a field of `old` to `object`, or deletes it if absent. */
export function keepField(object: KubeObject, old: KubeObject, field: string): void {
  if (old[field] === undefined) delete object[field];
  else object[field] = old[field];
}

type MetaField = 'deletionTimestamp' | 'generation' | 'selfLink' | 'labels' | 'annotations' | 'finalizers' | 'ownerReferences';

/** Copies metadata fields of `old` to `object`, or deletes those that are absent. */
export function keepMeta(object: KubeObject, old: KubeObject, ...fields: MetaField[]): void {
  const meta = object.metadata as Record<MetaField, unknown>;
  for (const field of fields) {
    if (old.metadata[field] === undefined) delete meta[field];
    else meta[field] = old.metadata[field];
  }
}

/** Keeps all metadata except managedFields, as the status subresources of newer kinds do. Upstream: metav1.ResetObjectMetaForStatus. */
export function resetObjectMetaForStatus(object: KubeObject, old: KubeObject): void {
  keepMeta(object, old, 'deletionTimestamp', 'generation', 'selfLink', 'labels', 'annotations', 'finalizers', 'ownerReferences');
}

/** Keeps all metadata except managedFields and the checked resourceVersion. */
function replaceMeta(object: KubeObject, old: KubeObject): void {
  const { metadata } = object;
  const { managedFields, resourceVersion } = metadata;
  for (const field of Object.keys(metadata) as (keyof typeof metadata)[]) delete metadata[field];
  Object.assign(metadata, old.metadata);
  delete metadata.managedFields;
  if (managedFields) metadata.managedFields = managedFields;
  if (resourceVersion !== undefined) metadata.resourceVersion = resourceVersion;
}

/** Sets the generation of an updated object of a type (`core_v1.PodTemplate`): incremented if `field` has changed. */
export function bumpGeneration(type: string, object: KubeObject, old: KubeObject, field: string, areEqual = semanticDeepEqual): void {
  if (!areEqual(object[field], old[field], schema.struct(type).fields.get(field)?.type))
    object.metadata.generation = nextGeneration(old.metadata.generation);
}

/**
 * Returns a strategy for kinds with a status subresource: the status is empty on create, and updates of the main resource do not change
 * it. With `gate`, only while that feature gate is enabled.
 */
export function withoutStatus<T extends KubeObject>(own: Strategy<T> = {}, gate?: string): Strategy<T> {
  const wipes = (context: StrategyContext): boolean => gate === undefined || context.isEnabled?.(gate) !== false;
  return {
    resetFields: [['status']],
    ...(gate === undefined ? {} : { resetFieldsGate: gate }),
    ...own,
    prepareForCreate(object, context) {
      if (wipes(context)) (object as KubeObject).status = {};
      own.prepareForCreate?.(object, context);
    },
    prepareForUpdate(object, old, context) {
      if (wipes(context)) keepField(object, old, 'status');
      own.prepareForUpdate?.(object, old, context);
    },
  };
}

/** Like `withoutStatus`, for kinds whose generation counts changes of the spec. */
export function specAndStatus<T extends KubeObject>(own: Strategy<T> = {}): Strategy<T> {
  return { generation: 'spec', ...withoutStatus(own) };
}

export interface StatusOptions<T extends KubeObject> {
  /** `keep` restores the old metadata too; `replace` restores also what no update can change, so that changes of it are no errors. */
  readonly metadata?: 'keep' | 'replace';
  readonly strategy?: Strategy<T>;
}

/** Returns the status subresource, whose updates change only the status. */
export function statusSubresource<T extends KubeObject>({ metadata, strategy = {} }: StatusOptions<T> = {}): ParentSubresource<T> {
  return {
    verbs: ['get', 'patch', 'update'],
    strategy: {
      resetFields: metadata === undefined ? [['spec']] : [['metadata'], ['spec']],
      ...strategy,
      prepareForUpdate(object, old, context) {
        keepField(object, old, 'spec');
        if (metadata === 'keep') resetObjectMetaForStatus(object, old);
        if (metadata === 'replace') replaceMeta(object, old);
        strategy.prepareForUpdate?.(object, old, context);
      },
    },
  };
}

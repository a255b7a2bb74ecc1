import { nextGeneration } from '#apimachinery/meta/generation';
import type { KubeObject } from '#apimachinery/meta/types';
import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import type { ParentSubresource, Strategy } from '#apiserver/registry/resource-definition';
import { schema } from '#kubernetes/schema/schema';

/** Gives `object` the field of `old`, absence included. */
export function keepField(object: KubeObject, old: KubeObject, field: string): void {
  if (old[field] === undefined) delete object[field];
  else object[field] = old[field];
}

type MetaField = 'deletionTimestamp' | 'generation' | 'selfLink' | 'labels' | 'annotations' | 'finalizers' | 'ownerReferences';

/** Gives the metadata of `object` these fields of `old`, absence included. */
export function keepMeta(object: KubeObject, old: KubeObject, ...fields: MetaField[]): void {
  const meta = object.metadata as Record<MetaField, unknown>;
  for (const field of fields) {
    if (old.metadata[field] === undefined) delete meta[field];
    else meta[field] = old.metadata[field];
  }
}

/** Keeps all metadata but managedFields, as status endpoints of newer kinds do. Upstream: metav1.ResetObjectMetaForStatus. */
export function resetObjectMetaForStatus(object: KubeObject, old: KubeObject): void {
  keepMeta(object, old, 'deletionTimestamp', 'generation', 'selfLink', 'labels', 'annotations', 'finalizers', 'ownerReferences');
}

/** Sets the generation of an updated object of a type (`core_v1.PodTemplate`): one more than before if the field that counts has changed. */
export function bumpGeneration(type: string, object: KubeObject, old: KubeObject, field: string): void {
  if (!semanticDeepEqual(object[field], old[field], schema.struct(type).fields.get(field)?.type))
    object.metadata.generation = nextGeneration(old.metadata.generation);
}

/** For kinds whose status clients do not set: it is empty at first, and a write of the object leaves it alone. */
export function withoutStatus<T extends KubeObject>(own: Strategy<T> = {}): Strategy<T> {
  return {
    resetFields: [['status']],
    ...own,
    prepareForCreate(object, context) {
      (object as KubeObject).status = {};
      own.prepareForCreate?.(object, context);
    },
    prepareForUpdate(object, old, context) {
      keepField(object, old, 'status');
      own.prepareForUpdate?.(object, old, context);
    },
  };
}

/** `withoutStatus` for kinds that count the changes of their spec. */
export function specAndStatus<T extends KubeObject>(own: Strategy<T> = {}): Strategy<T> {
  return { generation: 'spec', ...withoutStatus(own) };
}

export interface StatusOptions<T extends KubeObject> {
  /** `keep`: the metadata is not taken from the client either. */
  readonly metadata?: 'keep';
  readonly strategy?: Strategy<T>;
}

/** The status subresource: all but the status stays as it was. */
export function statusSubresource<T extends KubeObject>({ metadata, strategy = {} }: StatusOptions<T> = {}): ParentSubresource<T> {
  return {
    verbs: ['get', 'patch', 'update'],
    strategy: {
      resetFields: metadata === 'keep' ? [['metadata'], ['spec']] : [['spec']],
      ...strategy,
      prepareForUpdate(object, old, context) {
        keepField(object, old, 'spec');
        if (metadata === 'keep') resetObjectMetaForStatus(object, old);
        strategy.prepareForUpdate?.(object, old, context);
      },
    },
  };
}

import { newConflict, newInvalid } from '#apimachinery/api/errors';
import { nextGeneration } from '#apimachinery/meta/generation';
import type { DeleteOptions, KubeObject, ObjectMeta } from '#apimachinery/meta/types';
import { validateDryRun } from '#apimachinery/validation/object-meta';
import { addErrors, type FieldError, fieldPath, forbidden, invalid, notSupported, named } from '#apimachinery/validation/field';
import type { ResourceDefinition, Strategy } from './resource-definition.ts';

const orphanFinalizer = 'orphan';
const foregroundFinalizer = 'foregroundDeletion';

/** Returns the errors of DeleteOptions. Upstream: apimachinery/pkg/apis/meta/v1/validation (ValidateDeleteOptions). */
export function validateDeleteOptions(options: DeleteOptions): FieldError[] {
  const errors: FieldError[] = [];
  if (options.orphanDependents !== undefined && options.propagationPolicy !== undefined) {
    errors.push(
      invalid(
        fieldPath('propagationPolicy'),
        named(options.propagationPolicy),
        'orphanDependents and deletionPropagation cannot be both set',
      ),
    );
  }
  const policies = ['Foreground', 'Background', 'Orphan'];
  if (options.propagationPolicy !== undefined && !policies.includes(options.propagationPolicy)) {
    errors.push(notSupported(fieldPath('propagationPolicy'), options.propagationPolicy, [...policies, 'nil']));
  }
  addErrors(errors, validateDryRun(fieldPath('dryRun'), options.dryRun ?? []));
  if (options.ignoreStoreReadErrorWithClusterBreakingPotential && (options.dryRun?.length ?? 0) > 0) {
    errors.push(forbidden(fieldPath('ignoreStoreReadErrorWithClusterBreakingPotential'), 'cannot be set together with .dryRun'));
  }
  return errors;
}

/**
 * `immediate`: the object can be removed now; `graceful`: its deletion time has been set; `pending`: its deletion has
 * already begun.
 */
export type Grace = 'immediate' | 'graceful' | 'pending';

/**
 * Checks options and preconditions, and sets the deletion time of an object with a grace period. Modifies `object`.
 * Upstream: apiserver/pkg/registry/rest/delete.go (BeforeDelete).
 */
export function beforeDelete(definition: ResourceDefinition, object: KubeObject, options: DeleteOptions, now: string): Grace {
  const errors = validateDeleteOptions(options);
  if (errors.length > 0) throw newInvalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', errors);
  const { metadata } = object;
  checkPreconditions(definition, metadata, options);

  const { gracefulDeletion } = definition.strategy;
  if (!gracefulDeletion) return 'immediate';
  const requested = options.gracePeriodSeconds === undefined ? undefined : options.gracePeriodSeconds < 0 ? 1 : options.gracePeriodSeconds;
  if (metadata.deletionTimestamp !== undefined) return shorten(metadata, requested, now);

  const { gracePeriodSeconds } = gracefulDeletion.call(definition.strategy, object, requested);
  metadata.deletionTimestamp = addSeconds(now, gracePeriodSeconds);
  metadata.deletionGracePeriodSeconds = gracePeriodSeconds;
  if (metadata.generation) metadata.generation = nextGeneration(metadata.generation);
  return 'graceful';
}

/** Shortens the grace period of a pending deletion; it cannot be extended. */
function shorten(metadata: ObjectMeta, requested: number | undefined, now: string): Grace {
  const present = metadata.deletionGracePeriodSeconds;
  if (!present) return 'immediate';
  if (requested === undefined || requested >= present) return 'pending';
  let time = addSeconds(metadata.deletionTimestamp as string, requested - present);
  let period = requested;
  if (time < now) {
    time = now;
    if (period !== 0) period = 1;
  }
  metadata.deletionTimestamp = time;
  metadata.deletionGracePeriodSeconds = period;
  return 'graceful';
}

function checkPreconditions(definition: ResourceDefinition, metadata: ObjectMeta, { preconditions }: DeleteOptions): void {
  const { strategy } = definition;
  if (strategy.checkPreconditions) return strategy.checkPreconditions(metadata, preconditions);
  const resource = { group: definition.group, resource: definition.kind };
  if (preconditions?.uid !== undefined && preconditions.uid !== metadata.uid) {
    throw newConflict(
      resource,
      metadata.name ?? '',
      `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
    );
  }
  if (preconditions?.resourceVersion !== undefined && preconditions.resourceVersion !== metadata.resourceVersion) {
    throw newConflict(
      resource,
      metadata.name ?? '',
      `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
    );
  }
}

/** Checks the preconditions of a namespace. Upstream: pkg/registry/core/namespace/storage. */
export function markAsDeleting(strategy: Strategy, object: KubeObject, now: string): void {
  const { metadata } = object;
  if (metadata.generation && metadata.deletionTimestamp === undefined) metadata.generation = nextGeneration(metadata.generation);
  if (metadata.deletionTimestamp === undefined || metadata.deletionTimestamp > now) metadata.deletionTimestamp = now;
  if (strategy.markAsDeleting) strategy.markAsDeleting(object);
  else metadata.deletionGracePeriodSeconds = 0;
}

/**
 * Returns the finalizers that instruct the garbage collector about dependents; undefined if they do not change. Upstream:
 * registry/generic/registry/store.go (deletionFinalizersForGarbageCollection).
 */
export function collectionFinalizers(strategy: Strategy, metadata: ObjectMeta, options: DeleteOptions): string[] | undefined {
  const present = metadata.finalizers ?? [];
  const [orphan, foreground] = propagation(strategy, present, options);
  const next = present.filter((finalizer) => finalizer !== orphanFinalizer && finalizer !== foregroundFinalizer);
  if (orphan) next.push(orphanFinalizer);
  if (foreground) next.push(foregroundFinalizer);
  const same = next.length === present.length && next.every((finalizer) => present.includes(finalizer));
  return same ? undefined : next;
}

function propagation(strategy: Strategy, finalizers: readonly string[], options: DeleteOptions): [orphan: boolean, foreground: boolean] {
  if (strategy.defaultGarbageCollectionPolicy === 'unsupported') return [false, false];
  if (options.orphanDependents !== undefined) return [options.orphanDependents, false];
  switch (options.propagationPolicy) {
    case 'Orphan':
      return [true, false];
    case 'Foreground':
      return [false, true];
    case 'Background':
      return [false, false];
    default:
  }
  for (const finalizer of finalizers) {
    if (finalizer === orphanFinalizer) return [true, false];
    if (finalizer === foregroundFinalizer) return [false, true];
  }
  return [strategy.defaultGarbageCollectionPolicy === 'orphan', false];
}

function addSeconds(time: string, seconds: number): string {
  return `${new Date(Date.parse(time) + seconds * 1000).toISOString().slice(0, 19)}Z`;
}

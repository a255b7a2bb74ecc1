import { isConflict, isNotFound } from '#apimachinery/api/errors';
import { deepCopy } from '#apimachinery/runtime/copy';
import { deepEqual } from '#apimachinery/runtime/equality';
import { inSteps } from '#apimachinery/runtime/steps';
import { now } from '#apimachinery/runtime/time';
import type { LoopbackClient, LoopbackTarget } from '#apiserver/server/loopback-client';
import type { CustomResourceDefinition, CustomResourceDefinitionStatus } from '#apiextensions-apiserver/schema/apiextensions_v1.gen';
import { type Condition, isConditionTrue, setCondition } from '../apis/apiextensions/conditions.ts';
import { cleanupFinalizer } from '../apis/apiextensions/v1/cleanup.ts';
import { definitionStatus, nonStructuralCondition } from './definition-status.ts';
import { namesAreAccepted } from './naming.ts';

export const definitionsTarget: LoopbackTarget = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' };
const statusTarget: LoopbackTarget = { ...definitionsTarget, subresource: 'status' };
const firstRetryMs = 50;
const lastRetryMs = 60_000;

/** Deletes the instances of a definition; resolves when none is left. */
export type DeleteInstances = (crd: CustomResourceDefinition, signal: AbortSignal) => Promise<void>;

export interface DefinitionControllerOptions {
  readonly client: LoopbackClient;
  readonly deleteInstances: DeleteInstances;
  /** Names (`plural.group`) of resources that are served without a definition: their objects are never deleted with one. */
  readonly overlapping?: ReadonlySet<string> | undefined;
  onError(error: unknown): void;
}

/** Resources whose storage prefix equals that of the instances of such a definition. */
const overlapping = new Set(['apiservices.apiregistration.k8s.io', 'customresourcedefinitions.apiextensions.k8s.io']);

/**
 * Maintains the status of definitions, and deletes the instances of a definition before the definition itself. Each definition is processed
 * by one worker at a time. Upstream: controller/{status,establish,finalizer,nonstructuralschema,apiapproval}.
 */
export class DefinitionController {
  readonly #definitions = new Map<string, CustomResourceDefinition>();
  readonly #byGroup = new Map<string, Map<string, CustomResourceDefinition>>();
  readonly #running = new Set<string>();
  readonly #dirty = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #abort = new AbortController();

  constructor(readonly options: DefinitionControllerOptions) {}

  /** Must be called for each change. */
  observe(type: 'ADDED' | 'MODIFIED' | 'DELETED', crd: CustomResourceDefinition): void {
    const { name = '' } = crd.metadata;
    const group = crd.spec?.group ?? '';
    let siblings = this.#byGroup.get(group);
    if (!siblings) this.#byGroup.set(group, (siblings = new Map()));
    const before = this.#definitions.get(name);
    if (type === 'DELETED') {
      this.#definitions.delete(name);
      siblings.delete(name);
      if (siblings.size === 0) this.#byGroup.delete(group);
    } else {
      this.#definitions.set(name, crd);
      siblings.set(name, crd);
      this.#enqueue(name);
    }
    // Released names may be requested by another definition.
    if (type === 'DELETED' || (before && !deepEqual(before.status?.acceptedNames, crd.status?.acceptedNames)))
      for (const [sibling, other] of siblings) if (sibling !== name && !namesAreAccepted(other)) this.#enqueue(sibling);
  }

  [Symbol.dispose](): void {
    this.#abort.abort();
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #enqueue(name: string): void {
    if (this.#abort.signal.aborted) return;
    this.#dirty.add(name);
    if (this.#running.has(name)) return;
    this.#running.add(name);
    // In a turn of its own: many observe the same event.
    setImmediate(() => void this.#work(name));
  }

  async #work(name: string): Promise<void> {
    try {
      while (!this.#abort.signal.aborted && this.#dirty.delete(name)) await this.#sync(name);
      this.#failures.delete(name);
    } catch (error) {
      if (!this.#abort.signal.aborted) this.#retry(name, error);
    } finally {
      this.#running.delete(name);
    }
  }

  #retry(name: string, error: unknown): void {
    const failures = this.#failures.get(name) ?? 0;
    this.#failures.set(name, failures + 1);
    this.options.onError(error);
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        this.#enqueue(name);
      },
      Math.min(lastRetryMs, firstRetryMs * 2 ** failures),
    );
    this.#timers.add(timer);
  }

  async #sync(name: string): Promise<void> {
    const crd = this.#definitions.get(name);
    if (!crd) return;
    const nonStructural = await inSteps(nonStructuralCondition(crd));
    const status = definitionStatus(crd, this.#byGroup.get(crd.spec?.group ?? '')?.values() ?? [], nonStructural, now());
    if (status) return this.#updateStatus(name, crd, () => status);
    if (crd.metadata.deletionTimestamp !== undefined && crd.metadata.finalizers?.includes(cleanupFinalizer))
      await this.#finalize(name, crd);
  }

  /** Writes a status if the definition is unchanged; otherwise its change event triggers another run. */
  async #updateStatus(
    name: string,
    seen: CustomResourceDefinition,
    change: (status: CustomResourceDefinitionStatus) => CustomResourceDefinitionStatus,
    finalizers = seen.metadata.finalizers,
  ): Promise<void> {
    try {
      await this.options.client.update(statusTarget, '', name, (object) => {
        const current = object as CustomResourceDefinition;
        if (current.metadata.resourceVersion !== seen.metadata.resourceVersion) return undefined;
        const metadata = { ...current.metadata };
        if (finalizers?.length) metadata.finalizers = [...finalizers];
        else delete metadata.finalizers;
        return { ...current, metadata, status: change(current.status ?? {}) };
      });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }

  /** Deletes the instances of a definition, and then removes its finalizer. Upstream: controller/finalizer/crd_finalizer.go. */
  async #finalize(name: string, crd: CustomResourceDefinition): Promise<void> {
    const inProgress = terminating('True', 'InstanceDeletionInProgress', 'CustomResource deletion is in progress');
    await this.#updateStatus(name, crd, (status) => withCondition(status, inProgress));
    const done = await this.#removeInstances(name);
    const current = this.#definitions.get(name);
    if (!current) return;
    const finalizers = current.metadata.finalizers?.filter((finalizer) => finalizer !== cleanupFinalizer);
    await this.#updateStatus(name, current, (status) => withCondition(status, done), finalizers);
  }

  async #removeInstances(name: string): Promise<Condition> {
    const crd = this.#definitions.get(name);
    if (!crd || !isConditionTrue(crd, 'Established')) return terminating('False', 'NeverEstablished', 'resource was never established');
    if (overlapping.has(name) || this.options.overlapping?.has(name))
      return terminating('False', 'OverlappingBuiltInResource', 'instances overlap with built-in resources in storage');
    try {
      await this.options.deleteInstances(crd, this.#abort.signal);
    } catch (error) {
      const message = `could not confirm zero CustomResources remaining: ${(error as Error).message}`;
      const failed = terminating('True', 'InstanceDeletionCheck', message);
      const current = this.#definitions.get(name);
      if (current && !this.#abort.signal.aborted) await this.#updateStatus(name, current, (status) => withCondition(status, failed));
      throw error;
    }
    return terminating('False', 'InstanceDeletionCompleted', 'removed all instances');
  }
}

function terminating(status: Condition['status'], reason: string, message: string): Condition {
  return { type: 'Terminating', status, reason, message };
}

function withCondition(status: CustomResourceDefinitionStatus, condition: Condition): CustomResourceDefinitionStatus {
  const next = deepCopy(status);
  setCondition(next, condition, now());
  return next;
}

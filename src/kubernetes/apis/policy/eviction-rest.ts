import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable, UseInterceptors } from '@nestjs/common';
import {
  isConflict,
  newBadRequest,
  newConflict,
  newForbidden,
  newInvalid,
  newNotFound,
  newStatus,
  newTimeoutError,
  newTooManyRequests,
  StatusError,
} from '#apimachinery/api/errors';
import { labelSelectorAsSelector, type LabelSelectorSource } from '#apimachinery/labels/selector';
import { newFieldManager } from '#apimachinery/managedfields/field-manager';
import type { DeleteOptions } from '#apimachinery/meta/types';
import { deepCopy } from '#apimachinery/runtime/copy';
import { deepEqual } from '#apimachinery/runtime/equality';
import { inSteps, type Steps } from '#apimachinery/runtime/steps';
import { fieldPath, invalid } from '#apimachinery/validation/field';
import { AdmissionInterceptor } from '#apiserver/admission/admission.interceptor';
import { groupNames, userNames } from '#apiserver/request/user-info';
import { readCreate, respondCreated } from '#apiserver/endpoints/handlers/create-request';
import type { ResourceEndpoint } from '#apiserver/endpoints/handlers/resource-endpoint';
import type { RequestContext } from '#apiserver/request/request-context';
import type { ParentSubresource } from '#apiserver/registry/resource-definition';
import type { Store } from '#apiserver/registry/store';
import type { WriteRequest } from '#apiserver/registry/write';
import { Stores } from '#apiserver/registry/stores';
import { updatePodCondition } from '#kubernetes/apis/core/pod-condition';
import type { Pod } from '#kubernetes/schema/core_v1.gen';
import type { Eviction, PodDisruptionBudget } from '#kubernetes/schema/policy_v1.gen';

const violation = "Cannot evict pod as it would violate the pod's disruption budget.";
/** Maximum number of evictions that the disruption controller has not confirmed yet. */
const maxDisruptedPods = 2000;
const attempts = 20;
const pauseMs = 500;

/** Deletes a pod if its disruption budget allows it. Upstream: kubernetes/pkg/registry/core/pod/storage/eviction.go. */
@Injectable()
@UseInterceptors(AdmissionInterceptor)
export class EvictionHandler {
  constructor(@Inject(Stores) private readonly stores: Stores) {}

  async handle(context: RequestContext, endpoint: ResourceEndpoint): Promise<void> {
    const {
      object: eviction,
      request,
      options,
      negotiated,
    } = await readCreate<Eviction>(context, endpoint, {
      alsoAccepts: ({ group, version, kind }) => group === 'policy' && version === 'v1beta1' && kind === 'Eviction',
    });
    const { name } = context.info;
    if (eviction.metadata.name !== name) throw newBadRequest('name in URL does not match name in Eviction object');
    if (eviction.deleteOptions?.ignoreStoreReadErrorWithClusterBreakingPotential) {
      const path = fieldPath('deleteOptions').child('ignoreStoreReadErrorWithClusterBreakingPotential');
      throw newInvalid({ group: 'policy', kind: 'Eviction' }, name, [
        invalid(path, true, 'can not be set for pod eviction, try after removing the option'),
      ]);
    }
    const deleteOptions = withDryRun(eviction.deleteOptions as DeleteOptions | undefined, options.dryRun ? ['All'] : []);
    await request.validate('CREATE', eviction, undefined);
    const own: WriteRequest = { ...request, dryRun: (deleteOptions.dryRun?.length ?? 0) > 0, admit: () => {}, validate: () => {} };
    await new PodEviction(
      endpoint.store,
      this.stores.of({ group: 'policy', resource: 'poddisruptionbudgets' }),
      own,
      name,
      deleteOptions,
    ).run();
    respondCreated(context, negotiated);
  }
}

/** Merges dry run from the query into the options. Throws if both are given and differ. */
function withDryRun(options: DeleteOptions | undefined, asked: string[]): DeleteOptions {
  if (!options?.dryRun?.length) return { ...options, ...(asked.length > 0 && { dryRun: asked }) };
  if (asked.length > 0 && !deepEqual(asked, options.dryRun)) {
    throw new StatusError(
      newStatus(500, '', `Non-matching dry-run options in request and content: [${asked.join(' ')}] and [${options.dryRun.join(' ')}]`),
    );
  }
  return options;
}

class PodEviction {
  constructor(
    readonly pods: Store,
    readonly budgets: Store,
    readonly request: WriteRequest,
    readonly name: string,
    readonly options: DeleteOptions,
  ) {}

  get #setsVersion(): boolean {
    return this.options.preconditions?.resourceVersion !== undefined;
  }

  async run(): Promise<void> {
    const pod = await this.#deleteUncounted();
    if (!pod) return;
    const [budget, ...others] = await this.#budgetsOf(pod);
    if (others.length > 0)
      throw new StatusError(
        newStatus(500, '', 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.'),
      );
    const unhealthy = budget !== undefined && mayEvictUnhealthy(pod, budget);
    if (budget && !unhealthy) await this.#decrement(budget);
    try {
      // Fails if the pod became healthy meanwhile.
      await this.#delete(unhealthy && !this.#setsVersion ? withVersion(this.options, pod) : this.options);
    } catch (error) {
      if (unhealthy && !this.#setsVersion && isConflict(error)) throw stillProcessed(budget?.metadata.name ?? '');
      throw error;
    }
  }

  /** Deletes a pod that no budget counts; otherwise returns it. */
  async #deleteUncounted(): Promise<Pod | undefined> {
    for (let attempt = 1; ; attempt += 1) {
      const pod = (await this.pods.get(this.request.namespace, this.name, '')).object as Pod;
      if (!isUncounted(pod)) return pod;
      const hasEnded = pod.status?.phase !== 'Pending' || pod.metadata.deletionTimestamp !== undefined;
      try {
        await this.#delete(hasEnded || this.#setsVersion ? this.options : withVersion(this.options, pod));
        return undefined;
      } catch (error) {
        if (!isConflict(error) || this.#setsVersion || attempt === attempts) throw error;
        await sleep(pauseMs);
      }
    }
  }

  async #budgetsOf({ metadata }: Pod): Promise<PodDisruptionBudget[]> {
    const { chunks } = await this.budgets.cacher.list({ scope: this.budgets.prefix(metadata.namespace ?? ''), resourceVersion: '' });
    return inSteps(
      selecting(
        chunks.flatMap(({ items }) => items),
        metadata.labels ?? {},
      ),
    );
  }

  /** Decrements the allowed disruptions of the budget and records the pod in it. Throws TooManyRequests if none is left. */
  async #decrement(budget: PodDisruptionBudget): Promise<void> {
    const name = budget.metadata.name ?? '';
    if (this.request.dryRun) {
      checkBudget(budget);
      return;
    }
    const { type, definition } = this.budgets;
    const manager = newFieldManager({ type, groupVersion: 'policy/v1', kind: definition.kind, subresource: 'status' });
    const request: WriteRequest = { ...this.request, user: { name: userNames.apiServer, groups: [groupNames.privileged] } };
    const strategy = (definition.subresources['status'] as ParentSubresource).strategy;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.budgets.update(
          request,
          name,
          (existing) => {
            if (!existing) throw newNotFound(this.budgets.groupResource, name);
            const next = deepCopy(existing) as PodDisruptionBudget;
            checkBudget(next);
            takeOne(next, this.name, request.now);
            next.metadata = manager.update(existing, next, 'kube-apiserver').metadata;
            return next;
          },
          { strategy },
        );
        return;
      } catch (error) {
        if (!isConflict(error)) throw error;
        if (attempt === attempts) throw newTimeoutError(`couldn't update PodDisruptionBudget ${JSON.stringify(name)} due to conflicts`, 10);
        await sleep(pauseMs);
      }
    }
  }

  /** Sets the condition with the reason for the disruption, and deletes the pod. */
  async #delete(options: DeleteOptions): Promise<void> {
    const { pods, request, name } = this;
    let { preconditions } = options;
    if (!request.dryRun) {
      const strategy = (pods.definition.subresources['status'] as ParentSubresource).strategy;
      const marked = await pods.update(
        request,
        name,
        (existing) => {
          if (!existing) throw newNotFound(pods.groupResource, name);
          checkPreconditions(existing as Pod, preconditions);
          const pod = deepCopy(existing) as Pod;
          updatePodCondition(pod, {
            type: 'DisruptionTarget',
            status: 'True',
            reason: 'EvictionByEvictionAPI',
            message: 'Eviction API: evicting',
          });
          return pod;
        },
        { strategy },
      );
      if (preconditions?.resourceVersion !== undefined)
        preconditions = { ...preconditions, resourceVersion: marked.object.metadata.resourceVersion ?? '' };
    }
    await pods.delete(request, name, { ...options, ...(preconditions && { preconditions }) });
  }
}

/** Returns the budgets that select the labels. Each may have a large selector. */
function* selecting(items: readonly { readonly object: object }[], labels: Readonly<Record<string, string>>): Steps<PodDisruptionBudget[]> {
  const found: PodDisruptionBudget[] = [];
  for (const { object } of items) {
    const budget = object as PodDisruptionBudget;
    if (isSelected(budget, labels)) found.push(budget);
    yield;
  }
  return found;
}

/** An invalid selector matches nothing. */
function isSelected({ spec }: PodDisruptionBudget, labels: Readonly<Record<string, string>>): boolean {
  try {
    return labelSelectorAsSelector(spec?.selector as LabelSelectorSource | undefined).matches(labels);
  } catch {
    return false;
  }
}

function withVersion(options: DeleteOptions, { metadata }: Pod): DeleteOptions {
  return { ...options, preconditions: { ...options.preconditions, resourceVersion: metadata.resourceVersion ?? '' } };
}

function checkPreconditions({ metadata }: Pod, preconditions: DeleteOptions['preconditions']): void {
  const { uid, resourceVersion } = preconditions ?? {};
  const conflict = (detail: string): StatusError => newConflict({ group: '', resource: 'Pod' }, metadata.name ?? '', detail);
  if (uid && uid !== metadata.uid) {
    throw conflict(
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
    );
  }
  if (resourceVersion && resourceVersion !== metadata.resourceVersion) {
    throw conflict(
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
    );
  }
}

/** True for pods that have ended, are terminating or are pending. */
function isUncounted({ metadata, status }: Pod): boolean {
  return ['Succeeded', 'Failed', 'Pending'].includes(status?.phase ?? '') || metadata.deletionTimestamp !== undefined;
}

function mayEvictUnhealthy({ status }: Pod, budget: PodDisruptionBudget): boolean {
  if (status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True')) return false;
  if (budget.spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = budget.status ?? {};
  return currentHealthy >= desiredHealthy && desiredHealthy > 0;
}

function tooMany(retryAfterSeconds: number, message: string): StatusError {
  const { status } = newTooManyRequests(violation, retryAfterSeconds);
  return new StatusError({
    ...status,
    details: { causes: [{ reason: 'DisruptionBudget', message }], ...(retryAfterSeconds && { retryAfterSeconds }) },
  });
}

function stillProcessed(name: string): StatusError {
  return tooMany(10, `The disruption budget ${name} is still being processed by the server.`);
}

/** Throws TooManyRequests unless the budget allows a disruption. */
function checkBudget({ metadata, status = {} }: PodDisruptionBudget): void {
  const name = metadata.name ?? '';
  const { observedGeneration = 0, disruptionsAllowed = 0, disruptedPods = {} } = status;
  const resource = { group: 'policy', resource: 'poddisruptionbudget' };
  if (observedGeneration < (metadata.generation ?? 0)) throw stillProcessed(name);
  if (disruptionsAllowed < 0) throw newForbidden(resource, name, 'pdb disruptions allowed is negative');
  if (Object.keys(disruptedPods).length > maxDisruptedPods) {
    throw newForbidden(resource, name, 'DisruptedPods map too big - too many evictions not confirmed by PDB controller');
  }
  if (disruptionsAllowed === 0) throw tooMany(0, whyNone(name, status));
}

function whyNone(
  name: string,
  { conditions = [], currentHealthy = 0, desiredHealthy = 0 }: NonNullable<PodDisruptionBudget['status']>,
): string {
  const condition = conditions.find(({ type }) => type === 'DisruptionAllowed');
  const cause = condition?.status === 'False' && condition.message ? condition : undefined;
  if (cause?.reason === 'SyncFailed')
    return `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${cause.message}`;
  if (currentHealthy <= desiredHealthy)
    return `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
  if (cause) return `The disruption budget ${name} does not allow evicting pods currently (${cause.reason}): ${cause.message}`;
  return `The disruption budget ${name} does not allow evicting pods currently`;
}

function takeOne(budget: PodDisruptionBudget, pod: string, time: string): void {
  const status = (budget.status ??= {});
  status.disruptionsAllowed = (status.disruptionsAllowed ?? 0) - 1;
  if (status.disruptionsAllowed === 0) setDisruptionForbidden(budget, time);
  status.disruptedPods = Object.fromEntries([...Object.entries(status.disruptedPods ?? {}), [pod, time]]);
}

/** Sets the condition that a disruption is not allowed. Upstream: component-helpers/apps/poddisruptionbudget. */
function setDisruptionForbidden({ metadata, status = {} }: PodDisruptionBudget, time: string): void {
  const conditions = (status.conditions ??= []);
  const at = conditions.findIndex(({ type }) => type === 'DisruptionAllowed');
  const old = conditions[at];
  const next = {
    type: 'DisruptionAllowed',
    status: 'False',
    ...(metadata.generation && { observedGeneration: status.observedGeneration ?? 0 }),
    lastTransitionTime: old?.status === 'False' && old.lastTransitionTime ? old.lastTransitionTime : time,
    reason: 'InsufficientPods',
    message: '',
  };
  if (old) conditions[at] = next;
  else conditions.push(next);
}

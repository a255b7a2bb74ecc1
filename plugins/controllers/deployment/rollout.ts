import {
  type Clock,
  type ControllerClient,
  deepEqual,
  type EventRecorder,
  isAlreadyExists,
  isControlledBy,
  newControllerReference,
  type ReconcileResult,
} from 'kubenest/sdk';
import type { Deployment, DeploymentStatus, ReplicaSet } from 'kubenest/types/apps_v1';
import type { Pod } from 'kubenest/types/core_v1';
import { findCondition, withCondition } from '../common/conditions.ts';
import { isNamespaceTerminating } from '../common/namespace-terminating.ts';
import { podTemplateHash } from '../common/pod-template-hash.ts';
import { isPodTerminal } from '../common/pods.ts';
import {
  hasProgressDeadline,
  isComplete,
  newCondition,
  nextProgressCheckMs,
  progressing,
  reasons,
  rolloutStatus,
  statusOf,
} from './deployment-status.ts';
import {
  desiredAnnotation,
  isActive,
  isRollingUpdate,
  isSaturated,
  newSetReplicas,
  oldSetScalings,
  proportionalSizes,
  replicasAnnotation,
  replicasOf,
  sumOf,
} from './replica-counts.ts';
import {
  activeOrLatest,
  hashLabel,
  isSameTemplate,
  maxRevision,
  newSetAnnotations,
  obsoleteSets,
  revisionAnnotation,
  setName,
  sizeAnnotations,
  splitSets,
} from './replica-sets.ts';

export const deployments = { group: 'apps', version: 'v1', resource: 'deployments', kind: 'Deployment' } as const;
export const replicaSets = { group: 'apps', version: 'v1', resource: 'replicasets', kind: 'ReplicaSet' } as const;

export interface RolloutParts {
  readonly client: ControllerClient;
  readonly recorder: EventRecorder;
  readonly clock: Clock;
}

/**
 * One reconcile of a deployment: it does the next step of the rollout or of a scaling, and writes the status. Upstream:
 * pkg/controller/deployment (sync.go, rolling.go, recreate.go, progress.go).
 */
export class Rollout {
  #deployment: Deployment;
  #newSet: ReplicaSet | undefined;
  #old: ReplicaSet[];

  constructor(
    readonly parts: RolloutParts,
    deployment: Deployment,
    sets: readonly ReplicaSet[],
  ) {
    this.#deployment = deployment;
    const { newSet, old } = splitSets(deployment, sets);
    this.#newSet = newSet;
    this.#old = old;
  }

  /** Does the next step. `pods`: those of all sets. */
  async step(pods: readonly Pod[]): Promise<ReconcileResult> {
    if (!this.#deployment.metadata.deletionTimestamp) await this.#reportPause();
    await this.#syncNewSet();
    if (this.#deployment.metadata.deletionTimestamp) return this.#writeStatus(statusOf);
    if (this.#deployment.spec?.paused || this.#isScaled()) return this.#scale();
    if (isRollingUpdate(this.#deployment)) await this.#roll();
    else await this.#recreate(pods);
    return this.#writeStatus(rolloutStatus);
  }

  get #all(): ReplicaSet[] {
    return this.#newSet ? [...this.#old, this.#newSet] : this.#old;
  }

  get #nowMs(): number {
    return this.parts.clock.wallTime();
  }

  /** True if the number of replicas has changed since the active sets were scaled last. */
  #isScaled(): boolean {
    const desired = replicasOf(this.#deployment);
    return this.#all.some((set) => isActive(set) && (replicasAnnotation(set, desiredAnnotation) ?? desired) !== desired);
  }

  /** A deployment that was paused longer than its deadline has not failed to progress. */
  async #reportPause(): Promise<void> {
    const { spec, status } = this.#deployment;
    const condition = findCondition(status?.conditions, progressing);
    if (!hasProgressDeadline(this.#deployment) || condition?.reason === reasons.timedOut) return;
    const isReported = condition?.reason === reasons.paused;
    if ((spec?.paused ?? false) === isReported) return;
    const [reason, message] = isReported ? [reasons.resumed, 'Deployment is resumed'] : [reasons.paused, 'Deployment is paused'];
    await this.#addCondition('Unknown', reason, message);
  }

  /** Gives the new set the annotations and the revision, and the deployment the revision of the set. */
  async #syncNewSet(): Promise<void> {
    const set = this.#newSet;
    if (!set) return;
    const annotations = newSetAnnotations(this.#deployment, set, maxRevision(this.#old) + 1n);
    const minReadySeconds = this.#deployment.spec?.minReadySeconds ?? 0;
    if (!deepEqual(annotations, set.metadata.annotations ?? {}) || (set.spec?.minReadySeconds ?? 0) !== minReadySeconds) {
      const changed = { ...set, metadata: { ...set.metadata, annotations }, spec: { ...set.spec, minReadySeconds } };
      this.#newSet = await this.parts.client.replace(replicaSets, changed);
      return;
    }
    const isNew = hasProgressDeadline(this.#deployment) && !findCondition(this.#deployment.status?.conditions, progressing);
    const isRevised = this.#setRevision(annotations[revisionAnnotation] ?? '');
    if (isNew) await this.#addCondition('True', reasons.found, `Found new replica set "${set.metadata.name}"`);
    else if (isRevised) await this.#write(this.#deployment.status ?? {});
  }

  /** Changes the deployment without writing it. Returns false if it has the revision. */
  #setRevision(revision: string): boolean {
    const { metadata } = this.#deployment;
    if (metadata.annotations?.[revisionAnnotation] === revision) return false;
    const annotations = { ...metadata.annotations, [revisionAnnotation]: revision };
    this.#deployment = { ...this.#deployment, metadata: { ...metadata, annotations } };
    return true;
  }

  async #addCondition(status: string, reason: string, message: string): Promise<void> {
    const conditions = withCondition(this.#deployment.status?.conditions, newCondition(progressing, status, reason, message, this.#nowMs));
    await this.#write({ ...this.#deployment.status, conditions });
  }

  async #write(status: DeploymentStatus): Promise<void> {
    const target = { ...deployments, subresource: 'status' };
    this.#deployment = await this.parts.client.replace(target, { ...this.#deployment, status });
  }

  async #writeStatus(calculate: typeof statusOf): Promise<ReconcileResult> {
    const deployment = this.#deployment;
    const status = calculate(deployment, this.#old, this.#newSet, this.#nowMs);
    if (!deepEqual(status, deployment.status)) {
      await this.#write(status);
      return {};
    }
    if (calculate === statusOf) return {};
    const requeueAfterMs = nextProgressCheckMs(deployment, status, this.#nowMs);
    return requeueAfterMs === undefined ? {} : { requeueAfterMs };
  }

  /** Distributes a changed number of replicas, also of a paused deployment. */
  async #scale(): Promise<ReconcileResult> {
    await this.#distribute();
    if (this.#deployment.spec?.paused) await this.#cleanUp();
    return this.#writeStatus(statusOf);
  }

  async #distribute(): Promise<void> {
    const only = activeOrLatest(this.#newSet, this.#old);
    if (only) {
      await this.#resize(only, replicasOf(this.#deployment));
    } else if (isSaturated(this.#deployment, this.#newSet)) {
      for (const set of this.#old.filter(isActive)) await this.#resize(set, 0);
    } else if (isRollingUpdate(this.#deployment)) {
      for (const [set, size] of proportionalSizes(this.#deployment, this.#all.filter(isActive))) await this.#resize(set, size, true);
    }
  }

  /** Returns true if the set had another size. `isForced`: update its annotations even if it has the size. */
  async #resize(set: ReplicaSet, size: number, isForced = false): Promise<boolean> {
    const before = replicasOf(set);
    if (before === size && !isForced) return false;
    const annotations = { ...set.metadata.annotations, ...sizeAnnotations(this.#deployment) };
    if (before === size && deepEqual(annotations, set.metadata.annotations)) return false;
    const changed = { ...set, metadata: { ...set.metadata, annotations }, spec: { ...set.spec, replicas: size } };
    this.#replaced(set, await this.parts.client.replace(replicaSets, changed));
    if (before === size) return false;
    const direction = before < size ? 'up' : 'down';
    this.#event('Normal', 'ScalingReplicaSet', `Scaled ${direction} replica set ${set.metadata.name} from ${before} to ${size}`);
    return true;
  }

  #replaced(set: ReplicaSet, changed: ReplicaSet): void {
    const isNew = set.metadata.uid === this.#newSet?.metadata.uid;
    if (isNew) this.#newSet = changed;
    else this.#old = this.#old.map((old) => (old.metadata.uid === set.metadata.uid ? changed : old));
  }

  #event(type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.parts.recorder.event(this.#deployment, type, reason, message);
  }

  /** Does one step of a rolling update: more pods of the new set if the surge permits, else fewer pods of the old ones. */
  async #roll(): Promise<void> {
    const newSet = (this.#newSet ??= await this.#create());
    const desired = replicasOf(this.#deployment);
    const current = replicasOf(newSet);
    if (current !== desired) {
      const size = current > desired ? desired : newSetReplicas(this.#deployment, this.#all, current);
      if (await this.#resize(newSet, size)) return;
    }
    let isScaled = false;
    for (const [{ metadata }, size] of oldSetScalings(this.#deployment, newSet, this.#old)) {
      const set = this.#old.find((old) => old.metadata.uid === metadata.uid) as ReplicaSet;
      isScaled = (await this.#resize(set, size)) || isScaled;
    }
    if (!isScaled && isComplete(this.#deployment, this.#deployment.status)) await this.#cleanUp();
  }

  /** Removes all old pods before the first new one. */
  async #recreate(pods: readonly Pod[]): Promise<void> {
    let isScaled = false;
    for (const set of this.#old.filter(isActive)) isScaled = (await this.#resize(set, 0)) || isScaled;
    if (isScaled || this.#hasOldPods(pods)) return;
    const newSet = (this.#newSet ??= await this.#create());
    await this.#resize(newSet, replicasOf(this.#deployment));
    if (isComplete(this.#deployment, this.#deployment.status)) await this.#cleanUp();
  }

  #hasOldPods(pods: readonly Pod[]): boolean {
    if (sumOf(this.#old, 'replicas') > 0) return true;
    const newSet = this.#newSet;
    return pods.some((pod) => !(newSet && isControlledBy(pod, newSet)) && !isPodTerminal(pod));
  }

  async #cleanUp(): Promise<void> {
    for (const { metadata } of obsoleteSets(this.#deployment, this.#old))
      await this.parts.client.remove(replicaSets, metadata.namespace as string, metadata.name as string);
  }

  async #create(): Promise<ReplicaSet> {
    const set = this.#planned();
    const { set: created, isNew } = await this.#createOrFind(set);
    const size = replicasOf(set);
    if (isNew && size > 0) this.#event('Normal', 'ScalingReplicaSet', `Scaled up replica set ${created.metadata.name} from 0 to ${size}`);
    const isRevised = this.#setRevision(set.metadata.annotations?.[revisionAnnotation] ?? '');
    if (isNew && hasProgressDeadline(this.#deployment))
      await this.#addCondition('True', reasons.created, `Created new replica set "${created.metadata.name}"`);
    else if (isRevised) await this.#write(this.#deployment.status ?? {});
    return created;
  }

  /** Returns the new set, which does not exist yet. */
  #planned(): ReplicaSet {
    const { metadata, spec = {}, status } = this.#deployment;
    const template = spec.template ?? {};
    const hash = podTemplateHash(template, status?.collisionCount);
    const labels = { ...template.metadata?.labels, [hashLabel]: hash };
    const selector = { ...spec.selector, matchLabels: { ...spec.selector?.matchLabels, [hashLabel]: hash } };
    const set: ReplicaSet = {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: {
        name: setName(this.#deployment, hash),
        namespace: metadata.namespace as string,
        ownerReferences: [newControllerReference(this.#deployment, deployments)],
        labels,
      },
      spec: {
        replicas: newSetReplicas(this.#deployment, this.#old, 0),
        ...(spec.minReadySeconds !== undefined && { minReadySeconds: spec.minReadySeconds }),
        selector,
        template: { ...template, metadata: { ...template.metadata, labels } },
      },
    };
    const annotations = {
      ...newSetAnnotations(this.#deployment, set, maxRevision(this.#old) + 1n),
      ...sizeAnnotations(this.#deployment),
    };
    return { ...set, metadata: { ...set.metadata, annotations } };
  }

  async #createOrFind(set: ReplicaSet): Promise<{ readonly set: ReplicaSet; readonly isNew: boolean }> {
    const { client } = this.parts;
    try {
      return { set: await client.create<ReplicaSet>(replicaSets, set), isNew: true };
    } catch (error) {
      if (isAlreadyExists(error)) {
        const found = await client.get<ReplicaSet>(replicaSets, set.metadata.namespace as string, set.metadata.name as string);
        // The informer does not know yet that an earlier attempt created it.
        if (found && isControlledBy(found, this.#deployment) && isSameTemplate(found.spec?.template, this.#deployment.spec?.template))
          return { set: found, isNew: false };
        const { status } = this.#deployment;
        await this.#write({ ...status, collisionCount: (status?.collisionCount ?? 0) + 1 });
        throw error;
      }
      if (!isNamespaceTerminating(error)) await this.#reportFailure(set, error as Error);
      throw error;
    }
  }

  async #reportFailure(set: ReplicaSet, { message }: Error): Promise<void> {
    const text = `Failed to create new replica set "${set.metadata.name}": ${message}`;
    this.#event('Warning', reasons.createFailed, text);
    // The error of the creation matters more than one of this report.
    if (hasProgressDeadline(this.#deployment)) await this.#addCondition('False', reasons.createFailed, text).catch(() => {});
  }
}

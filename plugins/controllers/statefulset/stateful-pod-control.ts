import { type ControllerClient, type EventRecorder, isAlreadyExists, type SharedInformer } from 'kubenest/sdk';
import type { StatefulSet } from 'kubenest/types/apps_v1';
import type { PersistentVolumeClaim, Pod } from 'kubenest/types/core_v1';
import { pods } from '../common/pods.ts';
import { hasOtherController, hasOwners, isStale, policyOf, withOwners } from './claim-retention.ts';
import { claimsOf, hasIdentity, hasStorage, withIdentityAndStorage } from './stateful-pods.ts';

export const persistentVolumeClaims = { group: '', version: 'v1', resource: 'persistentvolumeclaims' } as const;

type Verb = 'Create' | 'Update' | 'Delete';

/** Creates, updates and deletes the pods of StatefulSets with their claims, with events. Upstream: stateful_pod_control.go. */
export class StatefulPodControl {
  constructor(
    readonly client: ControllerClient,
    readonly recorder: EventRecorder,
    readonly claims: SharedInformer<PersistentVolumeClaim>,
  ) {}

  /** Creates the claims of the pod, and then the pod. */
  async create(set: StatefulSet, pod: Pod): Promise<void> {
    await this.#recorded('Create', set, pod, async () => {
      await this.createClaims(set, pod);
      const created = await this.client.create<Pod>(pods, pod);
      await this.updateClaims(set, created);
    });
  }

  /** Gives a pod that deviates its labels, its claims and their owners. */
  async update(set: StatefulSet, pod: Pod): Promise<void> {
    if (hasIdentity(set, pod) && hasStorage(set, pod) && this.hasClaimOwners(set, pod)) return;
    await this.#recorded('Update', set, pod, async () => {
      if (!hasStorage(set, pod)) await this.createClaims(set, pod);
      await this.updateClaims(set, pod);
      await this.client.replace(pods, withIdentityAndStorage(set, pod));
    });
  }

  async delete(set: StatefulSet, pod: Pod): Promise<void> {
    const { namespace = '', name = '', uid } = pod.metadata;
    await this.#recorded('Delete', set, pod, () => this.client.remove(pods, namespace, name, { preconditions: { uid } }));
  }

  /** Creates the claims that do not exist. Throws if one is being deleted. */
  async createClaims(set: StatefulSet, pod: Pod): Promise<void> {
    const problems: string[] = [];
    for (const claim of claimsOf(set, pod).values()) {
      const { namespace = '', name = '' } = claim.metadata;
      const present = this.claims.get(namespace, name);
      if (present?.metadata.deletionTimestamp) problems.push(`pvc ${name} is being deleted`);
      if (present) continue;
      const place = `Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name}`;
      try {
        await this.client.create(persistentVolumeClaims, claim);
        this.recorder.event(set, 'Normal', 'SuccessfulCreate', `Create Claim ${name} ${place} success`);
      } catch (error) {
        const { message } = error as Error;
        problems.push(`failed to create PVC ${name}: ${message}`);
        if (!isAlreadyExists(error))
          this.recorder.event(set, 'Warning', 'FailedCreate', `Create Claim ${name} for ${place} failed error: ${message}`);
      }
    }
    if (problems.length > 0) throw new Error(problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`);
  }

  /** True if the claims that exist have the owners that the retention policy requires. */
  hasClaimOwners(set: StatefulSet, pod: Pod): boolean {
    return this.#presentClaims(set, pod).every((claim) => hasOwners(claim, set, pod));
  }

  /** Gives the claims the owners that the retention policy requires. */
  async updateClaims(set: StatefulSet, pod: Pod): Promise<void> {
    for (const claim of this.#presentClaims(set, pod)) {
      if (hasOtherController(claim, set, pod)) {
        const hint = 'acts as a manging controller, the retention policy is ignored for this claim';
        const message = `PersistentVolumeClaim ${claim.metadata.name} has a conflicting OwnerReference that ${hint}`;
        this.recorder.event(set, 'Warning', 'ConflictingController', message);
      }
      if (!hasOwners(claim, set, pod)) await this.client.replace(persistentVolumeClaims, withOwners(claim, set, pod));
    }
  }

  /** True if a claim still belongs to an earlier pod, with which it will be deleted. */
  hasStaleClaim(set: StatefulSet, pod: Pod): boolean {
    return policyOf(set).deletesWhenScaled && this.#presentClaims(set, pod).some((claim) => isStale(claim, pod, 'Pod'));
  }

  #presentClaims(set: StatefulSet, pod: Pod): PersistentVolumeClaim[] {
    return [...claimsOf(set, pod).values()].flatMap(({ metadata }) => {
      const claim = this.claims.get(metadata.namespace as string, metadata.name as string);
      return claim ? [claim] : [];
    });
  }

  async #recorded(verb: Verb, set: StatefulSet, pod: Pod, act: () => Promise<unknown>): Promise<void> {
    const subject = `${verb} Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name}`;
    try {
      await act();
      this.recorder.event(set, 'Normal', `Successful${verb}`, `${subject} successful`);
    } catch (error) {
      if (!isAlreadyExists(error))
        this.recorder.event(set, 'Warning', `Failed${verb}`, `${subject} failed error: ${(error as Error).message}`);
      throw error;
    }
  }
}

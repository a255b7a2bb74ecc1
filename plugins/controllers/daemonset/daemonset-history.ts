import { type ControllerClient, isAlreadyExists, newControllerReference } from 'kubenest/sdk';
import type { ControllerRevision, DaemonSet } from 'kubenest/types/apps_v1';
import type { Pod } from 'kubenest/types/core_v1';
import { podTemplateHash } from '../common/pod-template-hash.ts';
import { pods } from '../common/pods.ts';
import { compareRevisions, controllerRevisions, isSameRevision, maxRevision, revisionData } from '../common/revisions.ts';
import { updateStatus } from '../common/update-status.ts';
import { hashLabel } from './daemon-pods.ts';

export const daemonSets = { group: 'apps', version: 'v1', resource: 'daemonsets', kind: 'DaemonSet' } as const;

export interface History {
  /** Hash of the current template. */
  readonly hash: string;
  /** Revisions of earlier templates. */
  readonly old: readonly ControllerRevision[];
}

/** The templates of a DaemonSet in ControllerRevisions. Upstream: constructHistory of pkg/controller/daemon/update.go. */
export class DaemonSetHistory {
  constructor(
    readonly client: ControllerClient,
    readonly daemonSet: DaemonSet,
    readonly pods: readonly Pod[],
  ) {}

  get #data(): unknown {
    return revisionData(this.daemonSet.spec?.template ?? {});
  }

  /** Returns the current and the old revisions, after it has created, numbered and deduplicated the current one. */
  async construct(revisions: readonly ControllerRevision[]): Promise<History> {
    const current: ControllerRevision[] = [];
    const old: ControllerRevision[] = [];
    for (const revision of revisions) {
      const labelled = revision.metadata.labels?.[hashLabel] ? revision : await this.#label(revision);
      (isSameRevision(labelled, { data: this.#data }) ? current : old).push(labelled);
    }
    const number = maxRevision(old) + 1;
    const [kept, ...duplicates] = current.sort(compareRevisions).reverse();
    const found = kept ?? (await this.#create(number));
    const hash = found.metadata.labels?.[hashLabel] ?? '';
    if (duplicates.length > 0) await this.#deduplicate(hash, duplicates);
    if ((found.revision ?? 0) < number) await this.client.replace(controllerRevisions, { ...found, revision: number });
    return { hash, old };
  }

  /** Deletes old revisions beyond the limit that no pod has, the lowest first. */
  async cleanUp(old: readonly ControllerRevision[]): Promise<void> {
    const used = new Set(this.pods.map(({ metadata }) => metadata.labels?.[hashLabel]));
    const surplus = old.length - (this.daemonSet.spec?.revisionHistoryLimit ?? 10);
    if (surplus <= 0) return;
    const unused = old.toSorted(compareRevisions).filter(({ metadata }) => !used.has(metadata.labels?.[hashLabel]));
    for (const revision of unused.slice(0, surplus)) await this.#remove(revision);
  }

  #label(revision: ControllerRevision): Promise<ControllerRevision> {
    const { metadata } = revision;
    const labels = { ...metadata.labels, [hashLabel]: metadata.name as string };
    return this.client.replace(controllerRevisions, { ...revision, metadata: { ...metadata, labels } });
  }

  async #remove({ metadata }: ControllerRevision): Promise<void> {
    await this.client.remove(controllerRevisions, metadata.namespace as string, metadata.name as string);
  }

  /** Gives the pods of duplicates the hash of the revision that is kept. */
  async #deduplicate(hash: string, duplicates: readonly ControllerRevision[]): Promise<void> {
    for (const { metadata } of this.pods) {
      if (metadata.labels?.[hashLabel] === hash) continue;
      const patch = { metadata: { labels: { [hashLabel]: hash } } };
      await this.client.patch(pods, metadata.namespace as string, metadata.name as string, { type: 'merge', patch });
    }
    for (const duplicate of duplicates) await this.#remove(duplicate);
  }

  async #create(revision: number): Promise<ControllerRevision> {
    const { metadata, spec, status } = this.daemonSet;
    const hash = podTemplateHash(spec?.template ?? {}, status?.collisionCount);
    const name = `${metadata.name}-${hash}`;
    const namespace = metadata.namespace as string;
    const created: ControllerRevision = {
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: {
        name,
        namespace,
        labels: { ...spec?.template?.metadata?.labels, [hashLabel]: hash },
        ...(metadata.annotations && { annotations: metadata.annotations }),
        ownerReferences: [newControllerReference(this.daemonSet, daemonSets)],
      },
      data: this.#data,
      revision,
    };
    try {
      return await this.client.create<ControllerRevision>(controllerRevisions, created);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const present = await this.client.get<ControllerRevision>(controllerRevisions, namespace, name);
      // The informer does not know yet that an earlier attempt created it.
      if (present && isSameRevision(present, created)) return present;
      await updateStatus(this.client, daemonSets, this.daemonSet, { ...status, collisionCount: (status?.collisionCount ?? 0) + 1 });
      throw error;
    }
  }
}

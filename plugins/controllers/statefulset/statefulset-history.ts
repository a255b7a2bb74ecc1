import { type ControllerClient, isAlreadyExists, newControllerReference } from 'kubenest/sdk';
import type { ControllerRevision, StatefulSet } from 'kubenest/types/apps_v1';
import type { Pod } from 'kubenest/types/core_v1';
import { compareRevisions, controllerRevisions, isSameRevision, maxRevision, revisionData, revisionHash } from '../common/revisions.ts';
import { revisionOf, statefulSets } from './stateful-pods.ts';

export interface Revisions {
  /** Template of before the update. */
  readonly current: ControllerRevision;
  /** Template of the set. */
  readonly update: ControllerRevision;
  readonly collisionCount: number;
}

/** Returns the revisions of the set, after it has created or numbered that of its template. Upstream: getStatefulSetRevisions. */
export async function constructRevisions(
  client: ControllerClient,
  set: StatefulSet,
  present: readonly ControllerRevision[],
): Promise<Revisions> {
  const sorted = present.toSorted(compareRevisions);
  const collisionCount = set.status?.collisionCount ?? 0;
  const planned = plannedRevision(set, maxRevision(sorted) + 1, collisionCount);
  const equal = sorted.findLast((revision) => isSameRevision(revision, planned));
  const { update, collisions } = equal
    ? { update: equal === sorted.at(-1) ? equal : await renumber(client, equal, planned.revision ?? 0), collisions: collisionCount }
    : await create(client, set, planned, collisionCount);
  const current = sorted.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? update;
  return { current, update, collisionCount: collisions };
}

function plannedRevision(set: StatefulSet, revision: number, collisionCount: number): ControllerRevision {
  const { metadata, spec } = set;
  const template = spec?.template ?? {};
  const data = revisionData(template);
  const hash = revisionHash(data, collisionCount);
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: nameOf(set, hash),
      namespace: metadata.namespace as string,
      labels: { ...template.metadata?.labels, 'controller.kubernetes.io/hash': hash },
      ...(metadata.annotations && { annotations: metadata.annotations }),
      ownerReferences: [newControllerReference(set, statefulSets)],
    },
    data,
    revision,
  };
}

function nameOf({ metadata }: StatefulSet, hash: string): string {
  return `${(metadata.name as string).slice(0, 223)}-${hash}`;
}

function renumber(client: ControllerClient, revision: ControllerRevision, number: number): Promise<ControllerRevision> {
  return client.replace(controllerRevisions, { ...revision, revision: number });
}

/** Counts collisions until the name is free, or has the same content. */
async function create(
  client: ControllerClient,
  set: StatefulSet,
  planned: ControllerRevision,
  collisionCount: number,
): Promise<{ readonly update: ControllerRevision; readonly collisions: number }> {
  for (let collisions = collisionCount; ; collisions++) {
    const name = nameOf(set, revisionHash(planned.data, collisions));
    try {
      const revision = { ...planned, metadata: { ...planned.metadata, name } };
      return { update: await client.create<ControllerRevision>(controllerRevisions, revision), collisions };
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const present = await client.get<ControllerRevision>(controllerRevisions, set.metadata.namespace as string, name);
      if (!present) throw error;
      if (isSameRevision(present, planned)) return { update: present, collisions };
    }
  }
}

/** Deletes the oldest revisions beyond the limit that neither the set nor a pod has. Upstream: truncateHistory. */
export async function truncateHistory(
  client: ControllerClient,
  set: StatefulSet,
  present: readonly ControllerRevision[],
  { current, update }: Revisions,
  pods: readonly Pod[],
): Promise<void> {
  const used = new Set([current.metadata.name, update.metadata.name, ...pods.map(revisionOf)]);
  const unused = present.toSorted(compareRevisions).filter(({ metadata }) => !used.has(metadata.name as string));
  const surplus = Math.max(0, unused.length - (set.spec?.revisionHistoryLimit ?? 10));
  for (const { metadata } of unused.slice(0, surplus))
    await client.remove(controllerRevisions, metadata.namespace as string, metadata.name as string);
}

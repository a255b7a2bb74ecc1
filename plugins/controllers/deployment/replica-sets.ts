import { deepEqual } from 'kubenest/sdk';
import type { Deployment, ReplicaSet } from 'kubenest/types/apps_v1';
import type { PodTemplateSpec } from 'kubenest/types/core_v1';
import { podTemplateDump } from '../common/pod-template-hash.ts';
import { compareCreation, desiredAnnotation, isActive, maxAnnotation, maxReplicas, replicasOf } from './replica-counts.ts';

export const hashLabel = 'pod-template-hash';
export const revisionAnnotation = 'deployment.kubernetes.io/revision';
const historyAnnotation = 'deployment.kubernetes.io/revision-history';
const rollbackAnnotation = 'deprecated.deployment.rollback.to';
const maxHistoryLength = 2_000;
/** Annotations of a deployment that its sets do not get. */
const ownAnnotations = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  revisionAnnotation,
  historyAnnotation,
  desiredAnnotation,
  maxAnnotation,
  rollbackAnnotation,
]);

/** Returns the template without the label that the controller adds. */
function withoutHash(template: PodTemplateSpec = {}): PodTemplateSpec {
  const { labels } = template.metadata ?? {};
  if (labels?.[hashLabel] === undefined) return template;
  const { [hashLabel]: _, ...others } = labels;
  return { ...template, metadata: { ...template.metadata, labels: others } };
}

/** True if the templates differ at most in the label that the controller adds. Upstream: EqualIgnoreHash. */
export function isSameTemplate(a: PodTemplateSpec | undefined, b: PodTemplateSpec | undefined): boolean {
  const [plainA, plainB] = [withoutHash(a), withoutHash(b)];
  return deepEqual(plainA, plainB) || podTemplateDump(plainA) === podTemplateDump(plainB);
}

/** Returns the oldest set with the template of the deployment, and the other sets, older ones first. */
export function splitSets(deployment: Deployment, sets: readonly ReplicaSet[]): { newSet: ReplicaSet | undefined; old: ReplicaSet[] } {
  const sorted = sets.toSorted(compareCreation);
  const newSet = sorted.find(({ spec }) => isSameTemplate(spec?.template, deployment.spec?.template));
  return { newSet, old: sorted.filter((set) => set !== newSet) };
}

/** Returns the only active set, or the newest if none is active; undefined if several are, or there is none. */
export function activeOrLatest(newSet: ReplicaSet | undefined, old: readonly ReplicaSet[]): ReplicaSet | undefined {
  const active = (newSet ? [...old, newSet] : old).filter(isActive);
  if (active.length > 1) return undefined;
  return active[0] ?? newSet ?? old.at(-1);
}

/** Returns the revision of a set, an int64; undefined for an invalid one. */
export function revisionOf({ metadata }: ReplicaSet): bigint | undefined {
  const text = metadata.annotations?.[revisionAnnotation];
  if (text === undefined) return 0n;
  const [, sign, digits] = /^([+-]?)(\d{1,30})$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const revision = sign === '-' ? -BigInt(digits) : BigInt(digits);
  return BigInt.asIntN(64, revision) === revision ? revision : undefined;
}

export function maxRevision(sets: readonly ReplicaSet[]): bigint {
  let highest = 0n;
  for (const set of sets) {
    const revision = revisionOf(set) ?? 0n;
    if (revision > highest) highest = revision;
  }
  return highest;
}

/**
 * Returns the annotations of the new set: those of the deployment, the revision, and the earlier revisions of a set that a rollback made
 * the new one. Upstream: SetNewReplicaSetAnnotations.
 */
export function newSetAnnotations(deployment: Deployment, set: ReplicaSet, revision: bigint): Record<string, string> {
  const annotations = { ...set.metadata.annotations };
  for (const [name, value] of Object.entries(deployment.metadata.annotations ?? {}))
    if (!ownAnnotations.has(name)) annotations[name] = value;
  const present = annotations[revisionAnnotation];
  const old = revisionOf(set);
  if (old === undefined || old >= revision) return annotations;
  annotations[revisionAnnotation] = String(revision);
  if (present !== undefined) {
    const history = withRevision(annotations[historyAnnotation] ?? '', present);
    if (history !== undefined) annotations[historyAnnotation] = history;
  }
  return annotations;
}

/** Appends a revision and drops the first ones if the text becomes too long; undefined if it cannot be short enough. */
function withRevision(history: string, revision: string): string | undefined {
  const revisions = history === '' ? [] : history.split(',');
  revisions.push(revision);
  while (revisions.length > 1 && revisions.join(',').length > maxHistoryLength) revisions.shift();
  return revisions.length === 1 && history !== '' ? undefined : revisions.join(',');
}

/** Returns the annotations from which a later scaling of the deployment is recognized and distributed. */
export function sizeAnnotations(deployment: Deployment): Record<string, string> {
  return { [desiredAnnotation]: String(replicasOf(deployment)), [maxAnnotation]: String(maxReplicas(deployment)) };
}

/**
 * Returns the old sets that the history limit does not keep: without pods, the lowest revisions first. Upstream: cleanupDeployment.
 */
export function obsoleteSets(deployment: Deployment, old: readonly ReplicaSet[]): ReplicaSet[] {
  const limit = deployment.spec?.revisionHistoryLimit ?? 0x7fffffff;
  const alive = old.filter(({ metadata }) => !metadata.deletionTimestamp);
  if (limit === 0x7fffffff || alive.length <= limit) return [];
  return alive
    .sort((a, b) => Number((revisionOf(a) ?? 0n) - (revisionOf(b) ?? 0n)) || compareCreation(a, b))
    .slice(0, alive.length - limit)
    .filter((set) => !isActive(set) && (set.status?.replicas ?? 0) === 0 && isObserved(set));
}

function isObserved({ metadata, status }: ReplicaSet): boolean {
  return (metadata.generation ?? 0) <= (status?.observedGeneration ?? 0);
}

/** Returns the name of a set: that of the deployment, cut if need be, and the hash. */
export function setName(deployment: Deployment, hash: string): string {
  return `${(deployment.metadata.name as string).slice(0, 253 - 1 - hash.length)}-${hash}`;
}

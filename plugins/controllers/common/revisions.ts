import type { ControllerRevision } from 'kubenest/types/apps_v1';
import type { PodTemplateSpec } from 'kubenest/types/core_v1';
import { fnv32 } from '#sdk/internal';
import { safeEncode } from './pod-template-hash.ts';

export const controllerRevisions = { group: 'apps', version: 'v1', resource: 'controllerrevisions', kind: 'ControllerRevision' } as const;

/** Returns the content of a revision: a patch that restores the template. Its keys are sorted, as Go encodes maps. */
export function revisionData(template: PodTemplateSpec): unknown {
  return sorted({ spec: { template: { ...template, $patch: 'replace' } } });
}

/** Returns the revision data as Go's encoding/json writes it, which escapes HTML. */
function encodeRevisionData(data: unknown): string {
  return JSON.stringify(sorted(data)).replaceAll(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Sorts the keys of objects, and drops null. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, member]) => member !== undefined && member !== null);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, member]) => [name, sorted(member)]));
}

/** True if the revisions have the same content. */
export function isSameRevision(a: Pick<ControllerRevision, 'data'>, b: Pick<ControllerRevision, 'data'>): boolean {
  return encodeRevisionData(a.data) === encodeRevisionData(b.data);
}

/** Compares by revision, creation and name. Upstream: SortControllerRevisions of pkg/controller/history. */
export function compareRevisions(a: ControllerRevision, b: ControllerRevision): number {
  if ((a.revision ?? 0) !== (b.revision ?? 0)) return (a.revision ?? 0) - (b.revision ?? 0);
  const [createdA = '', createdB = ''] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp];
  if (createdA !== createdB) return createdA < createdB ? -1 : 1;
  return (a.metadata.name as string) < (b.metadata.name as string) ? -1 : 1;
}

/** Returns the highest revision; 0 for none. */
export function maxRevision(revisions: readonly ControllerRevision[]): number {
  return Math.max(0, ...revisions.map(({ revision = 0 }) => revision));
}

/** Returns the template that a revision restores. */
export function templateOfRevision({ data }: Pick<ControllerRevision, 'data'>): PodTemplateSpec {
  const { spec } = data as { spec?: { template?: PodTemplateSpec & { $patch?: string } } };
  const { $patch: _, ...template } = spec?.template ?? {};
  return template;
}

/** Returns the hash in the name of a revision. Upstream: HashControllerRevision of pkg/controller/history. */
export function revisionHash(data: unknown, collisionCount: number): string {
  return safeEncode(String(fnv32(Buffer.from(encodeRevisionData(data) + collisionCount))));
}

import type { ManagedFieldsEntry } from '#apimachinery/meta/types';
import { FieldSet } from './field-set.ts';
import { decodeManagers, encodeManagers, isSameManager, type Manager } from './managers.ts';
import type { FieldPath } from './path-element.ts';

const scaleGroupVersion = 'autoscaling/v1';
const replicasInScale: FieldPath = ['f:spec', 'f:replicas'];

/** Replicas paths of the versions of a resource, by groupVersion: `['f:spec', 'f:replicas']`; null for a version without a scale subresource. */
export type ReplicasPaths = ReadonlyMap<string, FieldPath | null>;

/** Translates managedFields between an object and its Scale, which stores none; managedfields/scalehandler.go. `entries` are those of the object. */
export class ScaleHandler {
  constructor(
    private readonly entries: readonly ManagedFieldsEntry[] | undefined,
    private readonly groupVersion: string,
    private readonly replicasPaths: ReplicasPaths,
  ) {}

  /** Returns the entries of the Scale: each owner of the replicas owns `.spec.replicas` of autoscaling/v1. Throws ManagedFieldsError. */
  toSubresource(): ManagedFieldsEntry[] | undefined {
    const owners = decodeManagers(this.entries).filter(({ apiVersion, fields }) => {
      const path = this.replicasPaths.get(apiVersion);
      return path && fields.has(path);
    });
    return encodeManagers(owners.map((owner) => ({ ...owner, apiVersion: scaleGroupVersion, fields: FieldSet.of(replicasInScale) })));
  }

  /** Returns the entries of the object after a write of its Scale, which then has `scaleEntries`. Throws ManagedFieldsError. */
  toParent(scaleEntries: readonly ManagedFieldsEntry[] | undefined): ManagedFieldsEntry[] | undefined {
    const scaleOwners = new Set(decodeManagers(scaleEntries));
    const owners: Manager[] = [];
    for (const owner of decodeManagers(this.entries)) {
      const path = this.replicasPaths.get(owner.apiVersion);
      if (path === undefined) continue;
      if (path === null || !owner.fields.has(path)) {
        owners.push(owner);
        continue;
      }
      const inScale = [...scaleOwners].find((other) => isSameManager(other, owner));
      if (inScale) {
        scaleOwners.delete(inScale);
        owners.push(owner);
        continue;
      }
      const fields = owner.fields.difference(FieldSet.of(path));
      if (!fields.isEmpty) owners.push({ ...owner, fields });
    }
    const path = this.replicasPaths.get(this.groupVersion);
    for (const owner of scaleOwners) {
      if (!path || !owner.fields.has(replicasInScale)) continue;
      // As upstream, the entry replaces that of the same manager and keeps its time.
      const before = owners.findIndex((other) => isSameManager(other, owner));
      const time = before < 0 ? undefined : owners[before]!.time;
      if (before >= 0) owners.splice(before, 1);
      owners.push({ ...owner, apiVersion: this.groupVersion, time, fields: FieldSet.of(path) });
    }
    return encodeManagers(owners);
  }
}

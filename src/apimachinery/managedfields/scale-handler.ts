import type { ManagedFieldsEntry } from '#apimachinery/meta/types';
import { FieldSet } from './field-set.ts';
import { decodeManagers, encodeManagers, type Manager, managerIdentifier } from './managers.ts';
import type { FieldPath } from './path-element.ts';

const scaleGroupVersion = 'autoscaling/v1';
const replicasInScale: FieldPath = ['f:spec', 'f:replicas'];

/**
 * Replicas paths of the versions of a resource, by groupVersion: `['f:spec', 'f:replicas']`; null for a version without a scale
 * subresource.
 */
export type ReplicasPaths = ReadonlyMap<string, FieldPath | null>;

/**
 * Translates managedFields between an object and its Scale, which stores none; managedfields/scalehandler.go. `entries` are those of the
 * object.
 */
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
    const scaleOwners = byIdentifier(decodeManagers(scaleEntries));
    const owners = new Map<string, Manager>();
    for (const [id, owner] of byIdentifier(decodeManagers(this.entries))) {
      const path = this.replicasPaths.get(owner.apiVersion);
      if (path === undefined) continue;
      if (path === null || !owner.fields.has(path)) {
        owners.set(id, owner);
        continue;
      }
      if (scaleOwners.delete(id)) {
        owners.set(id, owner);
        continue;
      }
      const fields = owner.fields.difference(FieldSet.of(path));
      if (!fields.isEmpty) owners.set(id, { ...owner, fields });
    }
    const path = this.replicasPaths.get(this.groupVersion);
    for (const [id, owner] of scaleOwners) {
      if (!path || !owner.fields.has(replicasInScale)) continue;
      // As upstream, the entry replaces that of the same manager and keeps its time.
      const time = owners.get(id)?.time;
      owners.delete(id);
      owners.set(id, { ...owner, apiVersion: this.groupVersion, time, fields: FieldSet.of(path) });
    }
    return encodeManagers([...owners.values()]);
  }
}

/** Indexes managers, of which a client may store thousands. */
function byIdentifier(managers: readonly Manager[]): Map<string, Manager> {
  return new Map(managers.map((manager) => [managerIdentifier(manager), manager]));
}

/** Annotations of claims and volumes. Upstream: component-helpers/storage/volume/pv_helpers.go. */
export const bindCompleted = 'pv.kubernetes.io/bind-completed';
export const boundByController = 'pv.kubernetes.io/bound-by-controller';
export const provisionedBy = 'pv.kubernetes.io/provisioned-by';
export const migratedTo = 'pv.kubernetes.io/migrated-to';
export const selectedNode = 'volume.kubernetes.io/selected-node';
export const storageProvisioner = 'volume.kubernetes.io/storage-provisioner';
export const betaStorageProvisioner = 'volume.beta.kubernetes.io/storage-provisioner';

interface Annotated {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
}

export function hasAnnotation({ metadata }: Annotated, name: string): boolean {
  return Object.hasOwn(metadata.annotations ?? {}, name);
}

export const betaStorageClass = 'volume.beta.kubernetes.io/storage-class';

const abbreviations = { ReadWriteOnce: 'RWO', ReadOnlyMany: 'ROX', ReadWriteMany: 'RWX', ReadWriteOncePod: 'RWOP' };

/** Formats access modes as `RWO,RWX`, in a fixed order. */
export function accessModesText(modes: readonly string[] | undefined): string {
  return Object.entries(abbreviations)
    .filter(([mode]) => modes?.includes(mode))
    .map(([, short]) => short)
    .join(',');
}

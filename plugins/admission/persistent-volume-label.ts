import { AdmissionPlugin, type Attributes, Configuration, inject } from 'kubenest/sdk';
import type { PersistentVolume } from 'kubenest/kinds';
import { setOwn } from '#sdk/internal';
import { IsObject, IsString, Type, ValidateNested } from 'kubenest/sdk/configuration';

type VolumeSpec = PersistentVolume['spec'];

/** Provides topology labels of cloud disks: `topology.kubernetes.io/zone: a`. Several zones are joined by two underscores. */
export interface VolumeLabels {
  /**
   * Returns the labels of a disk; undefined if it is unknown. `source` is the member of the volume's spec
   * (`gcePersistentDisk`), `id` the cloud's identifier.
   */
  labelsOf(source: string, id: string): Readonly<Record<string, string>> | undefined;
}

/** Labels of matching disks. */
export class VolumeLabelRule {
  @IsString()
  source = '';

  /** The cloud's identifier; `*` matches all others. */
  @IsString()
  id = '*';

  @IsObject()
  labels: Readonly<Record<string, string>> = {};
}

/** A static list of labels that an administrator provides, in place of upstream's queries to cloud providers. */
export class PersistentVolumeLabelConfiguration implements VolumeLabels {
  @ValidateNested({ each: true })
  @Type(() => VolumeLabelRule)
  volumes: readonly VolumeLabelRule[] = [];

  labelsOf(source: string, id: string): Readonly<Record<string, string>> | undefined {
    const rules = this.volumes.filter((rule) => rule.source === source);
    return (rules.find((rule) => rule.id === id) ?? rules.find((rule) => rule.id === '*'))?.labels;
  }
}

/** Cloud volume sources with the identifier of their disk; undefined for volumes of other sources. */
const disks: readonly (readonly [source: string, idOf: (spec: Partial<VolumeSpec>) => string | undefined])[] = [
  ['awsElasticBlockStore', ({ awsElasticBlockStore: disk }) => disk && (disk.volumeID ?? '')],
  ['gcePersistentDisk', ({ gcePersistentDisk: disk }) => disk && (disk.pdName ?? '')],
  ['azureDisk', ({ azureDisk: disk }) => disk && (disk.diskName ?? '')],
  ['cinder', ({ cinder: disk }) => disk && (disk.volumeID ?? '')],
  ['vsphereVolume', ({ vsphereVolume: disk }) => disk && (disk.volumePath ?? '')],
];
const zonesSeparator = '__';
/** Annotation of dynamically provisioned volumes, which already have their labels. */
const dynamicallyProvisioned = 'pv.kubernetes.io/provisioned-by';

/**
 * Adds topology labels and the matching node affinity to new volumes of cloud disks. Upstream until 1.31:
 * kubernetes/plugin/pkg/admission/storage/persistentvolume/label/admission.go.
 */
@AdmissionPlugin({
  name: 'PersistentVolumeLabel',
  configuration: PersistentVolumeLabelConfiguration,
  match: [{ groups: [''], resources: ['persistentvolumes'], operations: ['CREATE'] }],
})
export class PersistentVolumeLabel {
  constructor(@inject(Configuration) private readonly source: PersistentVolumeLabelConfiguration) {}

  admit({ object: volume }: Attributes<PersistentVolume>): void {
    if (volume.metadata.annotations?.[dynamicallyProvisioned] !== undefined) return;
    const labels = this.#labelsOf(volume);
    if (!labels || Object.keys(labels).length === 0) return;
    for (const [key, value] of Object.entries(labels)) setOwn((volume.metadata.labels ??= {}), key, value);
    requireNodes(volume, labels);
  }

  #labelsOf({ spec }: PersistentVolume): Readonly<Record<string, string>> | undefined {
    for (const [source, idOf] of disks) {
      const id = idOf(spec ?? {});
      if (id !== undefined) return this.source.labelsOf(source, id);
    }
    return undefined;
  }
}

/** Adds the requirements to every term of the volume's node affinity, except for terms that already use one of the keys. */
function requireNodes(volume: PersistentVolume, labels: Readonly<Record<string, string>>): void {
  const requirements = Object.entries(labels).map(([key, value]) => ({
    key,
    operator: 'In' as const,
    values: value.split(zonesSeparator),
  }));
  const required = volume.spec?.nodeAffinity?.required;
  const terms = required?.nodeSelectorTerms ?? [];
  const isSaid = terms.some(({ matchExpressions = [] }) => matchExpressions.some(({ key }) => Object.hasOwn(labels, key)));
  if (isSaid) return;
  const extended = (terms.length === 0 ? [{}] : terms).map((term: (typeof terms)[number]) => ({
    ...term,
    matchExpressions: [...(term.matchExpressions ?? []), ...requirements],
  }));
  volume.spec = { ...volume.spec, nodeAffinity: { required: { ...required, nodeSelectorTerms: extended } } };
}

import { AdmissionPlugin, type Attributes, Configuration, getOwn, inject, type KubeObject, setOwn } from 'kubenest/sdk';
import { IsObject, IsString, Type, ValidateNested } from 'kubenest/sdk/configuration';

interface NodeSelectorTerm {
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}
interface PersistentVolume extends KubeObject {
  spec?: Readonly<Record<string, unknown>> & { nodeAffinity?: { required?: { nodeSelectorTerms?: NodeSelectorTerm[] } } };
}

/** Where a volume of a cloud is, as labels: `topology.kubernetes.io/zone: a`. Several zones are joined by two underscores. */
export interface VolumeLabels {
  /** `source`: the member of the volume's spec (`gcePersistentDisk`); `id`: what the cloud calls the disk. undefined for one that is not known. */
  labelsOf(source: string, id: string): Readonly<Record<string, string>> | undefined;
}

/** Labels of the disks of one kind. */
export class VolumeLabelRule {
  @IsString()
  source = '';

  /** What the cloud calls the disk; `*` stands for all others. */
  @IsString()
  id = '*';

  @IsObject()
  labels: Readonly<Record<string, string>> = {};
}

/** The labels come of a list, where the server had asked the cloud itself: one that knows it writes them there. */
export class PersistentVolumeLabelConfiguration implements VolumeLabels {
  @ValidateNested({ each: true })
  @Type(() => VolumeLabelRule)
  volumes: readonly VolumeLabelRule[] = [];

  labelsOf(source: string, id: string): Readonly<Record<string, string>> | undefined {
    const rules = this.volumes.filter((rule) => rule.source === source);
    return (rules.find((rule) => rule.id === id) ?? rules.find((rule) => rule.id === '*'))?.labels;
  }
}

/** The sources of clouds, and the members that name a disk. */
const idMembers: Readonly<Record<string, string>> = {
  awsElasticBlockStore: 'volumeID',
  gcePersistentDisk: 'pdName',
  azureDisk: 'diskName',
  cinder: 'volumeID',
  vsphereVolume: 'volumePath',
};
const zonesSeparator = '__';
/** Disks that the provisioner made carry their labels already. */
const dynamicallyProvisioned = 'pv.kubernetes.io/provisioned-by';

/**
 * Tells where the disk of a new volume is, by labels and by the affinity to nodes that are there.
 * Upstream until 1.31: kubernetes/plugin/pkg/admission/storage/persistentvolume/label/admission.go.
 */
@AdmissionPlugin({
  name: 'PersistentVolumeLabel',
  configuration: PersistentVolumeLabelConfiguration,
  match: [{ groups: [''], resources: ['persistentvolumes'], operations: ['CREATE'] }],
})
export class PersistentVolumeLabel {
  constructor(@inject(Configuration) private readonly source: PersistentVolumeLabelConfiguration) {}

  admit({ object }: Attributes): void {
    const volume = object as PersistentVolume;
    if (volume.metadata.annotations?.[dynamicallyProvisioned] !== undefined) return;
    const labels = this.#labelsOf(volume);
    if (!labels || Object.keys(labels).length === 0) return;
    for (const [key, value] of Object.entries(labels)) setOwn((volume.metadata.labels ??= {}), key, value);
    requireNodes(volume, labels);
  }

  #labelsOf({ spec = {} }: PersistentVolume): Readonly<Record<string, string>> | undefined {
    for (const [source, member] of Object.entries(idMembers)) {
      const disk = getOwn(spec, source) as Readonly<Record<string, unknown>> | undefined;
      if (disk) return this.source.labelsOf(source, String(disk[member] ?? ''));
    }
    return undefined;
  }
}

/** Adds the requirements to every term of the volume's affinity; one that speaks of these keys already is the volume's own affair. */
function requireNodes(volume: PersistentVolume, labels: Readonly<Record<string, string>>): void {
  const requirements = Object.entries(labels).map(([key, value]) => ({ key, operator: 'In', values: value.split(zonesSeparator) }));
  const required = volume.spec?.nodeAffinity?.required;
  const terms = required?.nodeSelectorTerms ?? [];
  const isSaid = terms.some(({ matchExpressions = [] }) => matchExpressions.some(({ key }) => Object.hasOwn(labels, key)));
  if (isSaid) return;
  const extended = (terms.length === 0 ? [{}] : terms).map((term: NodeSelectorTerm) => ({
    ...term,
    matchExpressions: [...(term.matchExpressions ?? []), ...requirements],
  }));
  volume.spec = { ...volume.spec, nodeAffinity: { required: { ...required, nodeSelectorTerms: extended } } };
}

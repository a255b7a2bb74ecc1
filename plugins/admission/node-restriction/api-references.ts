import { quote } from 'kubenest/sdk';
import { containersOf, type Pod, refersToSecrets, type Volume, type VolumeProjection } from '../../common/pod-walker.ts';

const harmless: readonly (keyof Volume)[] = [
  'awsElasticBlockStore',
  'azureDisk',
  'cephfs',
  'cinder',
  'downwardAPI',
  'emptyDir',
  'fc',
  'flexVolume',
  'flocker',
  'gcePersistentDisk',
  'gitRepo',
  'hostPath',
  'image',
  'iscsi',
  'nfs',
  'photonPersistentDisk',
  'portworxVolume',
  'quobyte',
  'rbd',
  'scaleIO',
  'storageos',
  'vsphereVolume',
];
const volumeReferences: readonly (readonly [source: keyof Volume, resource: string])[] = [
  ['configMap', 'configmaps (via configmap volumes)'],
  ['secret', 'secrets (via secret volumes)'],
  ['csi', 'csidrivers (via CSI volumes)'],
  ['glusterfs', 'endpoints (via glusterFS volumes)'],
  ['persistentVolumeClaim', 'persistentvolumeclaims'],
  ['ephemeral', 'persistentvolumeclaims (via ephemeral volumes)'],
  ['azureFile', 'secrets (via azureFile volumes)'],
];
const projectedReferences: readonly (readonly [source: keyof VolumeProjection, resource: string])[] = [
  ['configMap', 'configmaps (via projected volumes)'],
  ['secret', 'secrets (via projected volumes)'],
  ['serviceAccountToken', 'serviceaccounts (via projected volumes)'],
  ['clusterTrustBundle', 'clustertrustbundles'],
  ['podCertificate', 'podcertificates'],
];

/**
 * Returns the first API object that a pod refers to, which mirror pods must not do; undefined if there is none. Throws for
 * unknown volume sources. Upstream: kubernetes/pkg/api/pod (HasAPIObjectReference).
 */
export function apiReferenceOf({ spec }: Pod): string | undefined {
  if (spec.serviceAccountName) return 'serviceaccounts';
  if (refersToSecrets(spec)) return 'secrets';
  if (refersToConfigMaps(spec)) return 'configmaps';
  if (spec.resourceClaims?.length) return 'resourceclaims';
  for (const volume of spec.volumes ?? []) {
    const reference = volumeReferenceOf(volume);
    if (reference !== undefined) return reference;
  }
  return undefined;
}

function refersToConfigMaps(spec: Pod['spec']): boolean {
  for (const { container } of containersOf(spec)) {
    if (container.env?.some(({ valueFrom }) => valueFrom?.configMapKeyRef?.name)) return true;
    if (container.envFrom?.some(({ configMapRef }) => configMapRef?.name)) return true;
  }
  return (spec.volumes ?? []).some((volume) => [volume, ...(volume.projected?.sources ?? [])].some(namesConfigMap));
}

function namesConfigMap({ configMap }: Volume | VolumeProjection): boolean {
  return Boolean(configMap?.name);
}

function volumeReferenceOf(volume: Volume): string | undefined {
  if (harmless.some((source) => volume[source])) return undefined;
  const reference = volumeReferences.find(([source]) => volume[source]);
  if (reference) return reference[1];
  if (!volume.projected) throw new Error(`unknown volume type for volume  ${quote(volume.name)}`);
  for (const projected of volume.projected.sources ?? []) {
    const found = projectedReferences.find(([source]) => projected[source]);
    if (found) return found[1];
    if (!projected.downwardAPI) throw new Error(`unknown source for projected volume ${quote(volume.name)}`);
  }
  return undefined;
}

import { type FieldError, fieldPath, invalid } from 'kubenest/sdk';
import type { Pod, Volume, VolumeProjection } from '../../common/pod-walker.ts';
import type { PolicySpec } from './policy.ts';
import { containersWithPaths, type Path } from './containers-with-paths.ts';

/** Volume types, named after their fields, in upstream's order. */
const volumeTypes = [
  'hostPath',
  'emptyDir',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'gitRepo',
  'secret',
  'nfs',
  'iscsi',
  'glusterfs',
  'persistentVolumeClaim',
  'rbd',
  'flexVolume',
  'cinder',
  'cephfs',
  'flocker',
  'downwardAPI',
  'fc',
  'azureFile',
  'configMap',
  'vsphereVolume',
  'quobyte',
  'azureDisk',
  'photonPersistentDisk',
  'storageos',
  'projected',
  'portworxVolume',
  'scaleIO',
  'csi',
  'ephemeral',
] as const;

/** Validates volumes. Volume types that policies predate (`image`) require `*`. */
export function validateVolumes(pod: Pod, spec: PolicySpec): FieldError[] {
  return (pod.spec.volumes ?? []).flatMap((volume, i) => volumeErrors(pod, volume, spec, fieldPath('spec', 'volumes').index(i)));
}

function volumeErrors(pod: Pod, volume: Volume, spec: PolicySpec, path: Path): FieldError[] {
  const field = volumeTypes.find((one) => volume[one] !== undefined);
  const allowed = spec.volumes ?? [];
  if (!field) return allowed.includes('*') ? [] : [invalid(path, '', `unknown volume type for volume: ${volume.name}`)];
  const type = field === 'cephfs' ? 'cephFS' : field;
  const isAllowed = allowed.includes('*') || allowed.includes(type) || (allowed.includes('secret') && isServiceAccountToken(volume));
  if (!isAllowed) return [invalid(path, type, `${type} volumes are not allowed to be used`)];
  switch (type) {
    case 'hostPath':
      return hostPathErrors(pod, volume, spec, path);
    case 'flexVolume':
      return driverErrors(
        volume.flexVolume?.driver,
        spec.allowedFlexVolumes?.map(({ driver }) => driver),
        path.child('driver'),
        'Flexvolume driver',
      );
    case 'csi':
      return driverErrors(
        volume.csi?.driver,
        spec.allowedCSIDrivers?.map(({ name }) => name),
        path.child('csi', 'driver'),
        'Inline CSI driver',
      );
    default:
      return [];
  }
}

function driverErrors(named: string | undefined, allowed: readonly string[] = [], path: Path, title: string): FieldError[] {
  const driver = named ?? '';
  return allowed.length === 0 || allowed.includes(driver) ? [] : [invalid(path, driver, `${title} is not allowed to be used`)];
}

function hostPathErrors(pod: Pod, volume: Volume, { allowedHostPaths = [] }: PolicySpec, path: Path): FieldError[] {
  const hostPath = volume.hostPath?.path ?? '';
  const matching = allowedHostPaths.filter(({ pathPrefix = '' }) => hasPathPrefix(hostPath, pathPrefix));
  if (allowedHostPaths.length === 0 || matching.some(({ readOnly }) => !readOnly)) return [];
  if (matching.length === 0) return [invalid(path.child('hostPath', 'pathPrefix'), hostPath, 'is not allowed to be used')];
  return Array.from(containersWithPaths(pod)).flatMap(({ container, path: at }) =>
    (container.volumeMounts ?? []).flatMap(({ name, readOnly }, i) =>
      name === volume.name && !readOnly ? [invalid(at.child('volumeMounts').index(i).child('readOnly'), false, 'must be read-only')] : [],
    ),
  );
}

/** True if a path is equal to the prefix or below it: `/foo` is a prefix of `/foo` and `/foo/bar`, not of `/food`. */
function hasPathPrefix(path: string, prefix: string): boolean {
  return `${path.replace(/\/$/, '')}/`.startsWith(`${prefix.replace(/\/$/, '')}/`);
}

/** True for the projected volume that the plugin ServiceAccount adds, which replaced the service account's secret volume. */
function isServiceAccountToken({ projected }: Volume): boolean {
  return projected !== undefined && (projected.sources ?? []).every(isServiceAccountTokenSource);
}

function isServiceAccountTokenSource({ serviceAccountToken: token, configMap, downwardAPI }: VolumeProjection): boolean {
  if (!token && !configMap && !downwardAPI) return false;
  if (token && (token.path !== 'token' || token.audience)) return false;
  if (configMap && configMap.name !== 'kube-root-ca.crt') return false;
  return (downwardAPI?.items ?? []).every(
    ({ path, fieldRef }) => path === 'namespace' && fieldRef?.apiVersion === 'v1' && fieldRef.fieldPath === 'metadata.namespace',
  );
}

/** Validation of volume sources that pods and persistent volumes share, some with small differences. Upstream: pkg/apis/core/validation. */
import {
  addError,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  notSupportedText,
  type Path,
  required,
  tooLong,
} from '#apimachinery/validation/field';
import { isDNS1123Subdomain, nameIsDNSSubdomain, validateNamespaceName } from '#apimachinery/validation/names';
import type {
  AWSElasticBlockStoreVolumeSource,
  AzureDiskVolumeSource,
  AzureFilePersistentVolumeSource,
  CSIPersistentVolumeSource,
  CSIVolumeSource,
  CephFSPersistentVolumeSource,
  CinderPersistentVolumeSource,
  FCVolumeSource,
  FlexPersistentVolumeSource,
  FlockerVolumeSource,
  GCEPersistentDiskVolumeSource,
  GlusterfsPersistentVolumeSource,
  HostPathVolumeSource,
  ISCSIPersistentVolumeSource,
  ISCSIVolumeSource,
  LocalVolumeSource,
  NFSVolumeSource,
  PhotonPersistentDiskVolumeSource,
  PortworxVolumeSource,
  QuobyteVolumeSource,
  RBDPersistentVolumeSource,
  ScaleIOPersistentVolumeSource,
  SecretReference,
  StorageOSPersistentVolumeSource,
  VsphereVirtualDiskVolumeSource,
} from '#kubernetes/schema/core_v1.gen';
import {
  byteLength,
  check,
  validateDNS1123Label,
  validateDNS1123Subdomain,
  validateOptionalEnum,
  validateRange,
  validateRequired,
} from './checks.ts';
import { validatePathNoBacksteps } from './paths.ts';

const hostPathTypes = ['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket'];

export function validateHostPath(errors: FieldError[], hostPath: HostPathVolumeSource, path: Path): void {
  if (!validateRequired(errors, hostPath.path, path, 'path')) return;
  validatePathNoBacksteps(errors, hostPath.path, path, 'path');
  validateOptionalEnum(errors, hostPath.type, hostPathTypes, path, 'type');
}

const diskPartitionRange = 'must be between 1 and 255, inclusive';

export function validateGcePersistentDisk(errors: FieldError[], disk: GCEPersistentDiskVolumeSource, path: Path): void {
  validateRequired(errors, disk.pdName, path, 'pdName');
  validateRange(errors, disk.partition, 0, 255, path, 'partition', diskPartitionRange);
}

export function validateAwsElasticBlockStore(errors: FieldError[], disk: AWSElasticBlockStoreVolumeSource, path: Path): void {
  validateRequired(errors, disk.volumeID, path, 'volumeID');
  validateRange(errors, disk.partition, 0, 255, path, 'partition', diskPartitionRange);
}

export function validateNfs(errors: FieldError[], nfs: NFSVolumeSource, path: Path): void {
  validateRequired(errors, nfs.server, path, 'server');
  validateRequired(errors, nfs.path, path, 'path');
  if (!nfs.path?.startsWith('/')) errors.push(invalid(path.child('path'), nfs.path ?? '', 'must be an absolute path'));
}

const iqnFormats = { iqn: /iqn\.\d{4}-\d{2}\.[A-Za-z0-9.-]+:[^,;*&$|\s]+$/, eui: /^eui.[A-Za-z0-9]{16}$/, naa: /^naa.[A-Za-z0-9]{32}$/ };

/** Validates the name of an initiator or a target; its prefix determines the format. */
function validateIqn(errors: FieldError[], name: string, unknownFormat: string, path: Path, field: string): void {
  const format = (['iqn', 'eui', 'naa'] as const).find((prefix) => name.startsWith(prefix));
  if (!format) errors.push(invalid(path.child(field), name, unknownFormat));
  else if (name.length > 1024 || !iqnFormats[format].test(name)) errors.push(invalid(path.child(field), name, 'must be valid format'));
}

const iscsiNameTooLong =
  'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';

/** True if volume name and portal together exceed the length of an initiator's name. */
function iscsiNameIsTooLong(
  volumeName: string,
  { initiatorName, targetPortal = '' }: ISCSIVolumeSource | ISCSIPersistentVolumeSource,
): boolean {
  return initiatorName !== undefined && byteLength(`${volumeName}:${targetPortal}`) > 64;
}

export function validateIscsi(errors: FieldError[], iscsi: ISCSIVolumeSource, path: Path): void {
  validateRequired(errors, iscsi.targetPortal, path, 'targetPortal');
  validateIscsiTarget(errors, iscsi, 'must be valid format starting with iqn, eui, or naa', path);
}

/** Validates the length of the names, which depends on the volume's name. */
export function validateIscsiVolumeName(errors: FieldError[], iscsi: ISCSIVolumeSource, volumeName: string, path: Path): void {
  if (iscsiNameIsTooLong(volumeName, iscsi)) errors.push(invalid(path.child('name'), volumeName, iscsiNameTooLong));
}

export function validateIscsiPersistentVolume(
  errors: FieldError[],
  iscsi: ISCSIPersistentVolumeSource,
  volumeName: string,
  path: Path,
): void {
  validateRequired(errors, iscsi.targetPortal, path, 'targetPortal');
  if (iscsiNameIsTooLong(volumeName, iscsi)) errors.push(invalid(path.child('targetportal'), iscsi.targetPortal ?? '', iscsiNameTooLong));
  validateIscsiTarget(errors, iscsi, 'must be valid format', path, () => {
    if (iscsi.secretRef) validateRequired(errors, iscsi.secretRef.name, path.child('secretRef'), 'name');
  });
}

function validateIscsiTarget(
  errors: FieldError[],
  iscsi: ISCSIVolumeSource | ISCSIPersistentVolumeSource,
  unknownFormat: string,
  path: Path,
  secret?: () => void,
): void {
  if (validateRequired(errors, iscsi.iqn, path, 'iqn')) validateIqn(errors, iscsi.iqn, unknownFormat, path, 'iqn');
  validateRange(errors, iscsi.lun, 0, 255, path, 'lun');
  if ((iscsi.chapAuthDiscovery || iscsi.chapAuthSession) && !iscsi.secretRef) errors.push(required(path.child('secretRef')));
  secret?.();
  if (iscsi.initiatorName !== undefined) validateIqn(errors, iscsi.initiatorName, unknownFormat, path, 'initiatorname');
}

export function validateFc(errors: FieldError[], fc: FCVolumeSource, path: Path): void {
  const names = fc.targetWWNs?.length ?? 0;
  const ids = fc.wwids?.length ?? 0;
  if (names === 0 && ids === 0) errors.push(required(path.child('targetWWNs'), 'must specify either targetWWNs or wwids, but not both'));
  if (names > 0 && ids > 0)
    errors.push(invalid(path.child('targetWWNs'), fc.targetWWNs, 'targetWWNs and wwids can not be specified simultaneously'));
  if (names === 0) return;
  if (fc.lun === undefined) errors.push(required(path.child('lun'), 'lun is required if targetWWNs is specified'));
  else validateRange(errors, fc.lun, 0, 255, path, 'lun');
}

const registryFormat = 'must be a host:port pair or multiple pairs separated by commas';

export function validateQuobyte(errors: FieldError[], quobyte: QuobyteVolumeSource, path: Path): void {
  const { registry = '', tenant = '' } = quobyte;
  if (registry === '') errors.push(required(path.child('registry'), registryFormat));
  else if (byteLength(tenant) >= 65)
    errors.push(required(path.child('tenant'), 'must be a UUID and may not exceed a length of 64 characters'));
  else {
    for (const pair of registry.split(',')) if (!isHostPort(pair)) errors.push(invalid(path.child('registry'), registry, registryFormat));
  }
  validateRequired(errors, quobyte.volume, path, 'volume');
}

/** True if Go's net.SplitHostPort accepts the text: hosts with colons are in brackets. */
function isHostPort(text: string): boolean {
  return /^(?:\[[^[\]]*\]|[^[\]:]*):[^[\]:]*$/.test(text);
}

export function validateGlusterfs(errors: FieldError[], glusterfs: GlusterfsPersistentVolumeSource, path: Path): void {
  validateRequired(errors, glusterfs.endpoints, path, 'endpoints');
  validateRequired(errors, glusterfs.path, path, 'path');
  const { endpointsNamespace } = glusterfs;
  if (endpointsNamespace === '')
    errors.push(invalid(path.child('endpointsNamespace'), '', 'if the endpointnamespace is set, it must be a valid namespace name'));
  else if (endpointsNamespace !== undefined)
    check(errors, validateNamespaceName(endpointsNamespace, false), endpointsNamespace, path, 'endpointsNamespace');
}

export function validateFlocker(errors: FieldError[], { datasetName = '', datasetUUID = '' }: FlockerVolumeSource, path: Path): void {
  if (datasetName === '' && datasetUUID === '') errors.push(required(path, 'one of datasetName and datasetUUID is required'));
  if (datasetName !== '' && datasetUUID !== '')
    errors.push(invalid(path, 'resource', 'datasetName and datasetUUID can not be specified simultaneously'));
  if (datasetName.includes('/')) errors.push(invalid(path.child('datasetName'), datasetName, "must not contain '/'"));
}

export function validateRbd(errors: FieldError[], rbd: Pick<RBDPersistentVolumeSource, 'monitors' | 'image'>, path: Path): void {
  if (!rbd.monitors?.length) errors.push(required(path.child('monitors')));
  validateRequired(errors, rbd.image, path, 'image');
}

/** Validates a reference to a secret; only those of persistent volumes have a namespace. */
function validateSecretRef(
  errors: FieldError[],
  secretRef: { name?: string; namespace?: string } | undefined,
  withNamespace: boolean,
  path: Path,
): void {
  if (!secretRef) return;
  validateRequired(errors, secretRef.name, path.child('secretRef'), 'name');
  if (withNamespace) validateRequired(errors, secretRef.namespace, path.child('secretRef'), 'namespace');
}

export function validateCinder(errors: FieldError[], cinder: CinderPersistentVolumeSource, persistent: boolean, path: Path): void {
  validateRequired(errors, cinder.volumeID, path, 'volumeID');
  validateSecretRef(errors, cinder.secretRef, persistent, path);
}

export function validateCephFs(errors: FieldError[], cephfs: Pick<CephFSPersistentVolumeSource, 'monitors'>, path: Path): void {
  if (!cephfs.monitors?.length) errors.push(required(path.child('monitors')));
}

export function validateFlexVolume(errors: FieldError[], flex: Pick<FlexPersistentVolumeSource, 'driver' | 'options'>, path: Path): void {
  validateRequired(errors, flex.driver, path, 'driver');
  for (const key of Object.keys(flex.options ?? {})) {
    const domain = `.${key.split('/', 1)[0]!.toLowerCase()}`;
    if (domain.endsWith('.kubernetes.io') || domain.endsWith('.k8s.io')) {
      errors.push(invalid(path.child('options').key(key), key, 'kubernetes.io and k8s.io namespaces are reserved'));
    }
  }
}

export function validateAzureFile(errors: FieldError[], azure: AzureFilePersistentVolumeSource, path: Path): void {
  validateRequired(errors, azure.secretName, path, 'secretName');
  validateRequired(errors, azure.shareName, path, 'shareName');
  if (azure.secretNamespace === '') errors.push(required(path.child('secretNamespace')));
}

export function validateAzureDisk(errors: FieldError[], azure: AzureDiskVolumeSource, path: Path): void {
  const { diskURI = '', kind } = azure;
  validateRequired(errors, azure.diskName, path, 'diskName');
  validateRequired(errors, diskURI, path, 'diskURI');
  validateOptionalEnum(errors, azure.cachingMode, ['None', 'ReadOnly', 'ReadWrite'], path, 'cachingMode');
  validateOptionalEnum(errors, kind, ['Dedicated', 'Managed', 'Shared'], path, 'kind');
  if (kind === 'Managed' && !diskURI.startsWith('/subscriptions/')) {
    errors.push(
      notSupportedText(path.child('diskURI'), diskURI, [
        '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}',
      ]),
    );
  }
  if (kind !== undefined && kind !== 'Managed' && !diskURI.startsWith('https://')) {
    errors.push(
      notSupportedText(path.child('diskURI'), diskURI, ['https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd']),
    );
  }
}

export function validateVsphereVolume(errors: FieldError[], { volumePath }: VsphereVirtualDiskVolumeSource, path: Path): void {
  validateRequired(errors, volumePath, path, 'volumePath');
}

export function validatePhotonPersistentDisk(errors: FieldError[], { pdID }: PhotonPersistentDiskVolumeSource, path: Path): void {
  validateRequired(errors, pdID, path, 'pdID');
}

export function validatePortworxVolume(errors: FieldError[], { volumeID }: PortworxVolumeSource, path: Path): void {
  validateRequired(errors, volumeID, path, 'volumeID');
}

export function validateScaleIO(
  errors: FieldError[],
  scaleIO: Pick<ScaleIOPersistentVolumeSource, 'gateway' | 'system' | 'volumeName'>,
  path: Path,
): void {
  validateRequired(errors, scaleIO.gateway, path, 'gateway');
  validateRequired(errors, scaleIO.system, path, 'system');
  validateRequired(errors, scaleIO.volumeName, path, 'volumeName');
}

export function validateLocal(errors: FieldError[], local: LocalVolumeSource, path: Path): void {
  if (validateRequired(errors, local.path, path, 'path')) validatePathNoBacksteps(errors, local.path, path, 'path');
}

export function validateStorageOS(errors: FieldError[], storageos: StorageOSPersistentVolumeSource, persistent: boolean, path: Path): void {
  if (validateRequired(errors, storageos.volumeName, path, 'volumeName'))
    validateDNS1123Label(errors, storageos.volumeName, path, 'volumeName');
  if (storageos.volumeNamespace) validateDNS1123Label(errors, storageos.volumeNamespace, path, 'volumeNamespace');
  validateSecretRef(errors, storageos.secretRef, persistent, path);
}

const csiDriverNameMaxLength = 63;

/** Validates the name of a CSI driver, in any case. Upstream: ValidateCSIDriverName. */
export function validateCsiDriverName(errors: FieldError[], driver: string | undefined, path: Path): void {
  if (!driver) {
    errors.push(required(path));
    return;
  }
  if (byteLength(driver) > csiDriverNameMaxLength) errors.push(tooLong(path, '', csiDriverNameMaxLength));
  check(errors, isDNS1123Subdomain(driver.toLowerCase()), driver, path);
}

export function validateCsi(errors: FieldError[], csi: CSIVolumeSource, path: Path): void {
  validateCsiDriverName(errors, csi.driver, path.child('driver'));
  const { nodePublishSecretRef } = csi;
  if (nodePublishSecretRef && validateRequired(errors, nodePublishSecretRef.name, path.child('nodePublishSecretRef'), 'name')) {
    check(errors, nameIsDNSSubdomain(nodePublishSecretRef.name, false), nodePublishSecretRef.name, path, 'name');
  }
}

export function validateCsiPersistentVolume(errors: FieldError[], csi: CSIPersistentVolumeSource, path: Path): void {
  validateCsiDriverName(errors, csi.driver, path.child('driver'));
  validateRequired(errors, csi.volumeHandle, path, 'volumeHandle');
  for (const field of ['controllerPublishSecretRef', 'controllerExpandSecretRef', 'nodePublishSecretRef', 'nodeExpandSecretRef'] as const) {
    const secretRef = csi[field];
    if (secretRef) validatePvSecretReference(errors, secretRef, path.child(field));
  }
}

function validatePvSecretReference(errors: FieldError[], { name, namespace }: SecretReference, path: Path): void {
  if (validateRequired(errors, name, path, 'name')) validateDNS1123Subdomain(errors, name, path, 'name');
  if (validateRequired(errors, namespace, path, 'namespace')) validateDNS1123Label(errors, namespace, path, 'namespace');
}

export const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
export const volumeModes = ['Block', 'Filesystem'];

/** Validates access modes of volumes and claims: known ones, and ReadWriteOncePod only alone. */
export function validateAccessModes(errors: FieldError[], modes: readonly string[] | undefined, path: Path): void {
  for (const mode of modes ?? [])
    if (!accessModes.includes(mode)) addError(errors, notSupported(path.child('accessModes'), mode, accessModes));
  const others = (modes ?? []).some((mode) => mode !== 'ReadWriteOncePod' && accessModes.includes(mode));
  if (modes?.includes('ReadWriteOncePod') && others)
    errors.push(forbidden(path.child('accessModes'), 'may not use ReadWriteOncePod with other access modes'));
}

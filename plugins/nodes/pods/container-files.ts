import { posix } from 'node:path';
import type { Container, Pod, Volume } from 'kubenest/types/core_v1';
import { type FileChange, type FileContent, SimulatedFiles } from '../shell/files.ts';
import { spendWork } from '../shell/work.ts';
import type { MountedTexts } from './cluster-sources.ts';
import { hostNamesOf, hostnameOf } from './environment.ts';
import { type FileStore, noStore, type VolumeChanges } from './file-store.ts';
import { imageProgramOf } from './image-program.ts';

const noTexts: MountedTexts = { texts: {}, volumes: new Set(), unknown: [] };

/** Knowledge about the files of a container. */
export interface KnownContent {
  /** Files of mounted config maps, secrets and the downward API. */
  readonly mounted?: MountedTexts;
  readonly store?: FileStore;
  /** True for a volume whose changes are all known; the default is true for all. */
  readonly isKnown?: (volume: string) => boolean;
  /** True if files of the image may exist that are not simulated: reading one that is not known fails. */
  readonly hasUnknownImage?: boolean;
  /** Number of characters that changes may add. */
  readonly room?: number;
}

/**
 * Files with which the process of a container starts: its host name, what is simulated of its image, its empty volumes, and `mounted`. The
 * content of all other volumes is unknown, also that of the volumes that `isKnown` excludes.
 */
export function initialFiles(pod: Pod, container: Container, known: KnownContent = {}): SimulatedFiles {
  const { mounted = noTexts, store = noStore, isKnown = () => true, hasUnknownImage = false, room = Infinity } = known;
  const hostname = hostnameOf(pod);
  const folders: string[] = [];
  const readOnly: string[] = [];
  const knownFolders: string[] = [];
  const unknown: string[] = [...mounted.unknown, ...(hasUnknownImage ? ['/'] : [])];
  for (const { path, volume, isReadOnly } of mountsOf(pod, container)) {
    const name = volume?.name ?? '';
    const isMounted = mounted.volumes.has(name);
    folders.push(path);
    const isKnownVolume = volume && isKnown(name) && (volume.emptyDir || store.isKnown(pod, volume));
    if (isKnownVolume) knownFolders.push(path);
    else if (!isMounted) unknown.push(path);
    if (isReadOnly || isMounted) readOnly.push(path);
  }
  const texts = {
    '/etc/hostname': `${hostname}\n`,
    '/etc/hosts': `127.0.0.1\tlocalhost\n${pod.status?.podIP ?? '127.0.0.1'}\t${hostNamesOf(pod).join('\t')}\n`,
    ...imageProgramOf(container)?.files,
    ...mounted.texts,
  };
  return new SimulatedFiles({ texts, folders, readOnly, unknown, known: knownFolders } satisfies FileContent, room);
}

/** The volumes of a container whose files outlive it: those of the pod, and those that pods share. */
export function lastingVolumes(pod: Pod, container: Container): { readonly path: string; readonly name: string }[] {
  return mountsOf(pod, container).flatMap(({ path, volume }) => (volume && isLasting(volume) ? [{ path, name: volume.name ?? '' }] : []));
}

const isLasting = ({ emptyDir, hostPath, persistentVolumeClaim, ephemeral }: Volume): boolean =>
  Boolean(emptyDir ?? hostPath ?? persistentVolumeClaim ?? ephemeral);

/** Splits changes into those in lasting volumes, by volume, and the others, which end with the container. */
export function splitChanges(
  pod: Pod,
  container: Container,
  changes: ReadonlyMap<string, FileChange>,
): { readonly volumes: VolumeChanges; readonly own: ReadonlyMap<string, FileChange> } {
  const mounts = lastingVolumes(pod, container);
  const volumes = new Map<string, Map<string, FileChange>>();
  const own = new Map<string, FileChange>();
  spendWork((changes.size * mounts.length) >> 3);
  for (const [path, change] of changes) {
    const mount = mounts.find((one) => path.startsWith(`${one.path}/`));
    if (!mount) own.set(path, change);
    else {
      const inVolume = volumes.get(mount.name) ?? new Map<string, FileChange>();
      volumes.set(mount.name, inVolume.set(path.slice(mount.path.length), change));
    }
  }
  return { volumes, own };
}

/** Makes the changes of the pod's lasting volumes in the files of a container. */
export function applyVolumes(pod: Pod, container: Container, volumes: VolumeChanges, files: SimulatedFiles): void {
  for (const { path, name } of lastingVolumes(pod, container)) {
    const changes = volumes.get(name) ?? new Map<string, FileChange>();
    files.apply(new Map([...changes].map(([relative, change]) => [path + relative, change])));
  }
}

interface Mount {
  readonly path: string;
  readonly volume: Volume | undefined;
  readonly isReadOnly: boolean;
}

/** The mounts of a container; those with a path in the volume are left to `volume: undefined`, whose content is unknown. */
export function mountsOf({ spec }: Pod, { volumeMounts = [] }: Container): Mount[] {
  const volumes = new Map(volumeMounts.length === 0 ? [] : spec?.volumes?.map((volume) => [volume.name, volume] as const));
  spendWork(volumeMounts.length + volumes.size);
  return volumeMounts.map(({ name, mountPath = '/', readOnly, subPath, subPathExpr }) => ({
    path: posix.resolve('/', mountPath),
    volume: subPath || subPathExpr ? undefined : volumes.get(name),
    isReadOnly: readOnly ?? false,
  }));
}

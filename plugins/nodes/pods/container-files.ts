import { posix } from 'node:path';
import type { Container, Pod, Volume } from 'kubenest/types/core_v1';
import { type FileChange, type FileContent, SimulatedFiles } from '../shell/files.ts';
import { spendWork } from '../shell/work.ts';
import { hostnameOf } from './environment.ts';

/** Texts of mounted files by absolute path, and the volumes whose content they are. */
export interface MountedTexts {
  readonly texts: Readonly<Record<string, string>>;
  readonly volumes: ReadonlySet<string>;
  /** Mounted files whose content is not known. */
  readonly unknown: readonly string[];
}

/** Changes of files in the emptyDir volumes of a pod: by volume, then by path in it. */
export type VolumeChanges = ReadonlyMap<string, ReadonlyMap<string, FileChange>>;

const noTexts: MountedTexts = { texts: {}, volumes: new Set(), unknown: [] };

/**
 * Files with which the process of a container starts: its host name, its empty volumes, and `mounted`. The content of all other volumes is
 * unknown, also that of the volumes that `isKnown` excludes.
 */
export function initialFiles(
  pod: Pod,
  container: Container,
  mounted = noTexts,
  isKnown: (volume: string) => boolean = () => true,
  room = Infinity,
): SimulatedFiles {
  const hostname = hostnameOf(pod);
  const folders: string[] = [];
  const readOnly: string[] = [];
  const unknown: string[] = [...mounted.unknown];
  for (const { path, volume, isReadOnly } of mountsOf(pod, container)) {
    const name = volume?.name ?? '';
    const isMounted = mounted.volumes.has(name);
    folders.push(path);
    if (!isMounted && !(volume?.emptyDir && isKnown(name))) unknown.push(path);
    if (isReadOnly || isMounted) readOnly.push(path);
  }
  const texts = {
    '/etc/hostname': `${hostname}\n`,
    '/etc/hosts': `127.0.0.1\tlocalhost\n${pod.status?.podIP ?? '127.0.0.1'}\t${hostname}\n`,
    ...mounted.texts,
  };
  return new SimulatedFiles({ texts, folders, readOnly, unknown } satisfies FileContent, room);
}

/** The emptyDir volumes of a container. */
export function emptyVolumes(pod: Pod, container: Container): { readonly path: string; readonly name: string }[] {
  return mountsOf(pod, container).flatMap(({ path, volume }) => (volume?.emptyDir ? [{ path, name: volume.name ?? '' }] : []));
}

/** Splits changes into those in emptyDir volumes, by volume, and the others, which end with the container. */
export function splitChanges(
  pod: Pod,
  container: Container,
  changes: ReadonlyMap<string, FileChange>,
): { readonly volumes: VolumeChanges; readonly own: ReadonlyMap<string, FileChange> } {
  const mounts = emptyVolumes(pod, container);
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

/** Makes the changes of the pod's emptyDir volumes in the files of a container. */
export function applyVolumes(pod: Pod, container: Container, volumes: VolumeChanges, files: SimulatedFiles): void {
  for (const { path, name } of emptyVolumes(pod, container)) {
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

import type { Container, Pod, Volume } from 'kubenest/types/core_v1';
import type { FileChange } from '../shell/files.ts';
import type { ContainerSources, Variables } from './cluster-sources.ts';

/** Changes of files in the volumes of a pod that outlive its containers: by volume, then by path in it. */
export type VolumeChanges = ReadonlyMap<string, ReadonlyMap<string, FileChange>>;

/** Changes of a container's files that its own process did not make. */
export interface OtherChanges {
  /** Time of the last one, in milliseconds since the epoch. */
  readonly at: number;
  readonly volumes: VolumeChanges;
  /** Those outside of volumes, by absolute path. */
  readonly own: ReadonlyMap<string, FileChange>;
}

/**
 * Files and variables of a pod's containers that do not follow from the pod's object: those of volumes that pods share, those of `kubectl
 * exec`, and those of config maps, secrets and services.
 */
export interface FileStore {
  /** True if the content of a volume that is not an emptyDir is known: it was empty, and all changes of it were recorded. */
  isKnown(pod: Pod, volume: Volume): boolean;
  /** Returns the changes in shared volumes which the present run of a container found at its start. */
  atStart(pod: Pod, container: Container): VolumeChanges;
  /** Returns the changes that commands and other pods have made since the start of the present run; undefined if there are none. */
  sinceStart(pod: Pod, container: Container): OtherChanges | undefined;
  /** Returns the variables and mounted files which the present run of a container found at its start. */
  sources(pod: Pod, container: Container): ContainerSources;
  /** Returns the variables for the services that existed at the start of the present run of a container. */
  services(pod: Pod, container: Container): Variables;
  /** Returns why the volumes of a pod cannot be mounted; undefined if they can. */
  mountProblem(pod: Pod): string | undefined;
  /** Returns why the environment of a container cannot be made; undefined if it can. */
  environmentProblem(pod: Pod, container: Container): string | undefined;
}

/** Store for pods that share nothing, and know no other objects. */
export const noStore: FileStore = {
  isKnown: () => false,
  atStart: () => new Map(),
  sinceStart: () => undefined,
  sources: () => ({ env: {}, mounted: { texts: {}, volumes: new Set(), unknown: [] } }),
  services: () => ({}),
  mountProblem: () => undefined,
  environmentProblem: () => undefined,
};

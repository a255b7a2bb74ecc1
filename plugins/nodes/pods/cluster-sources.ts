import type { ConfigMap, Secret } from 'kubenest/types/core_v1';

export type SourceResource = 'configmaps' | 'secrets';
export type Variables = Readonly<Record<string, string>>;

/** Objects of the cluster from which containers get variables and files. */
export interface ClusterSources {
  /** Returns a config map or a secret; undefined if it does not exist. */
  read(resource: SourceResource, namespace: string, name: string): ConfigMap | Secret | undefined;
  /** Returns the variables for the services of a namespace that existed at a time, in milliseconds since the epoch. */
  services(namespace: string, time: number): Variables;
  /** Returns the variables for the API server. */
  apiServer(): Variables;
  /** Returns the allocatable resources of a node. */
  allocatable(node: string): Variables;
}

/** Texts of mounted files by absolute path, and the volumes whose content they are. */
export interface MountedTexts {
  readonly texts: Readonly<Record<string, string>>;
  readonly volumes: ReadonlySet<string>;
  /** Mounted files whose content is not known. */
  readonly unknown: readonly string[];
}

/** Environment variables and mounted files of a container from config maps, secrets, the downward API and its resources. */
export interface ContainerSources {
  readonly env: Readonly<Record<string, string>>;
  readonly mounted: MountedTexts;
}

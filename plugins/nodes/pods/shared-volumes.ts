import type { Pod, PersistentVolumeClaim, Volume } from 'kubenest/types/core_v1';
import { type FileChange, sizeOfChange } from '../shell/files.ts';

/** Change of a path in a volume that pods share. */
export interface SharedChange {
  readonly change: FileChange;
  /** Place in the order of all changes. */
  readonly sequence: number;
  /** The run of a container that made it; undefined for a command. */
  readonly by: object | undefined;
}

/** Changes of a volume by path, the latest last. Never modified. */
export type SharedContent = ReadonlyMap<string, SharedChange>;

interface Volumes {
  readonly content: SharedContent;
  /** Time of the last change, in milliseconds since the epoch. */
  readonly changedAt: number;
  readonly size: number;
}

/** Number of changes above which the oldest removals are forgotten. */
const maxChanges = 2_000;

/** Returns a claim; undefined if it does not exist. */
export type FindClaim = (namespace: string, name: string) => PersistentVolumeClaim | undefined;

const provisionedBy = 'volume.kubernetes.io/storage-provisioner';

/**
 * Files of the volumes that several pods can mount: a claim's until it is deleted, and a hostPath's of a node. Like all files of simulated
 * pods they end with the server.
 *
 * Example: pod `a` writes `/data/x` on the claim `data`: the content of `default/data` has the change of `/x`. Pod `b`, which starts later,
 * finds it; a process that ran before does not.
 */
export class SharedVolumes {
  readonly #volumes = new Map<string, Volumes>();
  #sequence = 0;
  #size = 0;

  /** `provisioner` provisions volumes that start empty. */
  constructor(
    private readonly findClaim: FindClaim,
    private readonly provisioner: string,
  ) {}

  /** Number of characters of all changes. */
  get size(): number {
    return this.#size;
  }

  /** Place of the last change. */
  get sequence(): number {
    return this.#sequence;
  }

  /** True if the volume started empty on the simulated nodes. */
  isKnown({ metadata }: Pod, volume: Volume): boolean {
    const name = claimOf(metadata.name ?? '', volume);
    if (name === undefined) return volume.hostPath?.type === 'DirectoryOrCreate';
    return this.findClaim(metadata.namespace ?? '', name)?.metadata.annotations?.[provisionedBy] === this.provisioner;
  }

  /** Returns the present content of a volume and the time of its last change. */
  get(key: string): Volumes {
    return this.#volumes.get(key) ?? { content: new Map(), changedAt: 0, size: 0 };
  }

  /** Adds changes. */
  commit(key: string, changes: ReadonlyMap<string, FileChange>, now: number, by?: object): void {
    if (changes.size === 0) return;
    const present = this.get(key);
    this.#sequence += 1;
    const content = new Map(present.content);
    for (const [path, change] of changes) {
      content.delete(path);
      content.set(path, { change, sequence: this.#sequence, by });
    }
    forgetRemovals(content);
    const size = [...content].reduce((sum, [path, { change }]) => sum + sizeOfChange(path, change), 0);
    this.#size += size - present.size;
    this.#volumes.set(key, { content, changedAt: now, size });
  }

  /** Forgets the content of a volume. */
  delete(key: string): void {
    this.#size -= this.get(key).size;
    this.#volumes.delete(key);
  }

  /** Forgets the hostPath volumes of a node. */
  deleteNode(node: string): void {
    for (const key of this.#volumes.keys()) if (key.startsWith(`${node}:`)) this.delete(key);
  }
}

function forgetRemovals(content: Map<string, SharedChange>): void {
  for (const [path, { change }] of content) {
    if (content.size <= maxChanges) return;
    if (change === 'removed') content.delete(path);
  }
}

/** Name of the claim that a volume of a pod mounts; undefined if it mounts none. */
function claimOf(pod: string, { persistentVolumeClaim, ephemeral, name }: Volume): string | undefined {
  return persistentVolumeClaim ? persistentVolumeClaim.claimName : ephemeral ? `${pod}-${name}` : undefined;
}

/** Identifies a volume that pods can share: `NODE:PATH` or `NAMESPACE/CLAIM`; undefined for other volumes. */
export function sharedKey({ metadata, spec }: Pod, volume: Volume): string | undefined {
  if (volume.hostPath) return `${spec?.nodeName ?? ''}:${volume.hostPath.path ?? ''}`;
  const claim = claimOf(metadata.name ?? '', volume);
  return claim === undefined ? undefined : claimKey(metadata.namespace ?? '', claim);
}

/** Identifies the volume of a claim. */
export function claimKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

/** Identifies the volumes of a pod that other pods can mount. */
export function sharedKeys(pod: Pod): string[] {
  return (pod.spec?.volumes ?? []).flatMap((volume) => sharedKey(pod, volume) ?? []);
}

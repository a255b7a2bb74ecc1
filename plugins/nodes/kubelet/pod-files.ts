import { Buffer } from 'node:buffer';
import type { Container, Pod } from 'kubenest/types/core_v1';
import { applyVolumes, initialFiles, type MountedTexts, splitChanges } from '../pods/container-files.ts';
import { containersOf, statusOf } from '../pods/container-roles.ts';
import type { KnownPods } from '../pods/known-pods.ts';
import { runMainProcess, startOf } from '../pods/main-process.ts';
import { type FileChange, type SimulatedFiles, sizeOfChange } from '../shell/files.ts';
import { limitWork, maxWork } from '../shell/work.ts';

type Changes = Map<string, FileChange>;

/** Files that commands in a pod have changed. */
interface KeptFiles extends Disposable {
  /** By emptyDir volume. */
  readonly volumes: Map<string, Changes>;
  /** By container name: changes that end with the run that `id` names. */
  readonly containers: Map<string, { readonly id: string; readonly changes: Changes }>;
  /** Size of all changes. */
  size: number;
}

/** Number of characters that the changes in all pods together may have. */
const defaultCapacity = 32 * 1_048_576;

/**
 * Files of the containers of simulated pods: those that the simulated commands of the containers have written by now, and those that commands of
 * `kubectl exec` have changed. The latter end with the container or the pod, and with the server. All of them share one capacity, as on a disk.
 */
export class PodFiles {
  readonly #kept = new Map<string, KeptFiles>();
  #used = 0;

  constructor(
    private readonly pods: KnownPods,
    private readonly capacity = defaultCapacity,
  ) {}

  /** Size of all changes that are kept. */
  get used(): number {
    return this.#used;
  }

  /** Returns the present files of a container. Changes of them fail with "No space left on device" if they exceed the capacity. */
  open(pod: Pod, container: Container, mounted: MountedTexts, now: number): SimulatedFiles {
    const kept = this.#kept.get(pod.metadata.uid ?? '');
    const volumes = new Map<string, Changes>();
    const own = limitWork(maxWork, () => mainProcessFiles(pod, container, volumes, now));
    if (kept) merge(kept.volumes, volumes);
    const files = initialFiles(pod, container, mounted, undefined, this.capacity - this.#used);
    files.apply(own);
    applyVolumes(pod, container, volumes, files);
    const present = kept?.containers.get(container.name ?? '');
    if (present?.id === runId(pod, container)) files.apply(present.changes);
    return files;
  }

  /** Keeps the changes that a command made since `before`. */
  keep(pod: Pod, container: Container, files: SimulatedFiles, before: ReadonlyMap<string, FileChange>): void {
    const changed = new Map([...files.changes].filter(([path, change]) => before.get(path) !== change).map(ownMemory));
    if (changed.size === 0) return;
    const kept = this.#of(pod);
    const { volumes, own } = splitChanges(pod, container, changed);
    merge(volumes, kept.volumes);
    const [name, id] = [container.name ?? '', runId(pod, container)];
    const present = kept.containers.get(name);
    kept.containers.set(name, { id, changes: new Map([...(present?.id === id ? present.changes : []), ...own]) });
    this.#count(kept);
  }

  #of({ metadata }: Pod): KeptFiles {
    const { uid = '', namespace = '', name = '' } = metadata;
    const present = this.#kept.get(uid);
    if (present) return present;
    const subscription = this.pods.watch(namespace, name, (pod) => this.#podChanged(uid, pod));
    const kept: KeptFiles = {
      volumes: new Map(),
      containers: new Map(),
      size: 0,
      [Symbol.dispose]: () => subscription[Symbol.dispose](),
    };
    this.#kept.set(uid, kept);
    return kept;
  }

  /** Forgets the files of a pod that has ended, and of the containers that do not run any more. */
  #podChanged(uid: string, pod: Pod | undefined): void {
    const kept = this.#kept.get(uid);
    if (!kept) return;
    const hasEnded = pod?.metadata.uid !== uid || pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
    if (hasEnded) {
      this.#kept.delete(uid);
      this.#used -= kept.size;
      return kept[Symbol.dispose]();
    }
    for (const [name, { id }] of kept.containers) if (!isRunning(pod, name) || runId(pod, { name }) !== id) kept.containers.delete(name);
    this.#count(kept);
  }

  #count(kept: KeptFiles): void {
    const all = [...kept.volumes.values(), ...[...kept.containers.values()].map(({ changes }) => changes)];
    const size = all.reduce((sum, changes) => [...changes].reduce((part, [path, change]) => part + sizeOfChange(path, change), sum), 0);
    this.#used += size - kept.size;
    kept.size = size;
  }
}

/** Collects the files that the main processes of a pod have written by now: those in volumes, and returns those of the container. */
function mainProcessFiles(pod: Pod, container: Container, volumes: Map<string, Changes>, now: number): ReadonlyMap<string, FileChange> {
  let own: ReadonlyMap<string, FileChange> = new Map();
  for (const one of containersOf(pod, pod.status)) {
    const startedAt = startOf(one.status);
    const run = startedAt === 0 ? undefined : runMainProcess(pod, one.container, (now - startedAt) / 1_000);
    if (!run) continue;
    const changes = splitChanges(pod, one.container, run.files.changes);
    merge(changes.volumes, volumes);
    if (one.container.name === container.name) own = changes.own;
  }
  return own;
}

function merge(more: ReadonlyMap<string, ReadonlyMap<string, FileChange>>, volumes: Map<string, Changes>): void {
  for (const [volume, changes] of more) volumes.set(volume, new Map([...(volumes.get(volume) ?? []), ...changes]));
}

/** Copies a text, which may be a slice of one that is much longer. */
function ownMemory([path, change]: [string, FileChange]): [string, FileChange] {
  const copy = (text: string): string => Buffer.from(text).toString();
  return [copy(path), typeof change === 'string' ? change : { text: copy(change.text) }];
}

function isRunning(pod: Pod, name: string): boolean {
  return statusOf(pod, { name })?.state?.running !== undefined;
}

/** Names the present run of a container. */
function runId(pod: Pod, container: Pick<Container, 'name'>): string {
  const status = statusOf(pod, container);
  return status?.containerID ?? String(startOf(status));
}

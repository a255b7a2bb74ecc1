import type { Container, Pod, Volume } from 'kubenest/types/core_v1';
import { bytesOfText, textOfBytes } from '../shell/bytes.ts';
import { UnsupportedScriptError } from '../shell/script.ts';
import { type FileChange, isSameChange, type SimulatedFiles, sizeOfChange, textOfChange } from '../shell/files.ts';
import { limitWork, maxWork } from '../shell/work.ts';
import { timeOf } from '../time.ts';
import { applyVolumes, initialFiles, lastingVolumes, splitChanges } from './container-files.ts';
import type { ClusterSources, ContainerSources, MountedTexts, Variables } from './cluster-sources.ts';
import { containersOf, statusOf } from './container-roles.ts';
import { containerSources, environmentProblem, hasChangingVariables, mountProblem } from './container-sources.ts';
import { type FileStore, noStore, type OtherChanges, type VolumeChanges } from './file-store.ts';
import type { KnownPods } from './known-pods.ts';
import { runMainProcess, startOf } from './main-process.ts';
import { sharedKey, sharedKeys, type SharedContent, type SharedVolumes } from './shared-volumes.ts';

type Changes = Map<string, FileChange>;

/** Files that commands in a pod have changed. */
interface KeptFiles extends Disposable {
  /** By emptyDir volume. */
  readonly volumes: Map<string, Changes>;
  /** By container name: changes that end with the run that `id` names. */
  readonly containers: Map<string, { readonly id: string; readonly changes: Changes }>;
  /** Time of the last change, in milliseconds since the epoch. */
  changedAt: number;
  /** Size of all changes. */
  size: number;
}

/** A run of a container that mounts shared volumes. */
interface Run {
  readonly id: string;
  readonly container: Container;
  /** The newest version of the pod in which the run is the present one. */
  pod: Pod;
  /** Place in the order of all changes at which it started. */
  readonly sequence: number;
  /** Content of its shared volumes at its start, by volume key. */
  readonly start: ReadonlyMap<string, SharedContent>;
  /** Changes of its process that are in the shared volumes, by volume key and path. */
  readonly committed: Map<string, Changes>;
  /** True if the process has ended and all its changes are in the shared volumes. */
  isOver: boolean;
}

/** Sources that a run of a container found at its start, or the error for those that are too large. */
interface FoundSources {
  readonly id: string;
  readonly sources: ContainerSources | UnsupportedScriptError;
}

/** Number of characters that the changes in all pods together may have. */
const defaultCapacity = 32 * 1_048_576;

/**
 * Files of the containers of simulated pods: those that the simulated commands of the containers have written by now, and those that
 * commands of `kubectl exec` have changed. The latter end with the container or the pod, or with the volume if pods share it, and with the
 * server. All of them share one capacity, as on a disk.
 */
export class PodFiles implements FileStore {
  readonly #kept = new Map<string, KeptFiles>();
  /** By UID of the pod, then by container. */
  readonly #runs = new Map<string, Map<string, Run>>();
  /** By UID of the pod, then by container: sources that its present run found at its start. */
  readonly #sources = new Map<string, Map<string, FoundSources>>();
  /** Pods that wait for a config map or a secret, by namespace. */
  readonly #waiting = new Map<string, Map<string, Pod>>();
  #used = 0;
  #isFlushing = false;

  /**
   * `changed` is called with each pod that finds other files than before, or that may start now. Without `cluster`, no sources are known.
   */
  constructor(
    private readonly pods: KnownPods,
    private readonly shared: SharedVolumes,
    private readonly changed: (pod: Pod) => void = () => {},
    private readonly capacity = defaultCapacity,
    private readonly cluster?: ClusterSources,
  ) {}

  /** Size of all changes that are kept. */
  get used(): number {
    return this.#used + this.shared.size;
  }

  isKnown(pod: Pod, volume: Volume): boolean {
    return this.shared.isKnown(pod, volume);
  }

  atStart(pod: Pod, container: Container): VolumeChanges {
    const run = this.#runOf(pod, container);
    const found = new Map<string, Changes>();
    for (const { name, key } of sharedVolumesOf(pod, container)) {
      const content = run?.start.get(key) ?? this.shared.get(key).content;
      found.set(name, new Map([...content].map(([path, { change }]) => [path, change])));
    }
    return found;
  }

  sinceStart(pod: Pod, container: Container): OtherChanges | undefined {
    const kept = this.#kept.get(pod.metadata.uid ?? '');
    const run = this.#runOf(pod, container);
    const volumes = new Map<string, ReadonlyMap<string, FileChange>>(kept?.volumes);
    const own = kept?.containers.get(container.name ?? '');
    let at = kept?.changedAt ?? 0;
    for (const { name, key } of sharedVolumesOf(pod, container)) {
      const { content, changedAt } = this.shared.get(key);
      const others = [...content].filter(([, { sequence, by }]) => sequence > (run?.sequence ?? 0) && by !== run);
      if (others.length === 0) continue;
      volumes.set(name, new Map(others.map(([path, { change }]) => [path, change])));
      at = Math.max(at, changedAt);
    }
    if (at === 0) return undefined;
    return { at, volumes, own: own?.id === runId(pod, container) ? own.changes : new Map() };
  }

  sources(pod: Pod, container: Container): ContainerSources {
    const { cluster } = this;
    if (!cluster) return noStore.sources(pod, container);
    const [uid, name, id] = [pod.metadata.uid ?? '', container.name ?? '', runId(pod, container)];
    const ofPod = this.#sources.get(uid) ?? new Map<string, FoundSources>();
    const present = ofPod.get(name);
    const found = present?.id === id ? present : { id, sources: orTooLarge(() => containerSources(pod, container, cluster)) };
    if (found !== present && startOf(statusOf(pod, container)) > 0) this.#sources.set(uid, ofPod.set(name, found));
    if (found.sources instanceof UnsupportedScriptError) throw found.sources;
    return found.sources;
  }

  services(pod: Pod, container: Container): Variables {
    const { cluster } = this;
    if (!cluster) return {};
    const startedAt = startOf(statusOf(pod, container)) || Infinity;
    const links = (pod.spec?.enableServiceLinks ?? true) ? cluster.services(pod.metadata.namespace ?? '', startedAt) : {};
    return { ...cluster.apiServer(), ...links };
  }

  /** Returns the mounted files of a container as they are now. */
  mounted(pod: Pod, container: Container): MountedTexts {
    return (this.cluster ? containerSources(pod, container, this.cluster) : noStore.sources(pod, container)).mounted;
  }

  mountProblem(pod: Pod): string | undefined {
    return this.#waitsFor(pod, this.cluster && mountProblem(pod, this.cluster));
  }

  environmentProblem(pod: Pod, container: Container): string | undefined {
    return this.#waitsFor(pod, this.cluster && environmentProblem(pod, container, this.cluster));
  }

  #waitsFor(pod: Pod, problem: string | undefined): string | undefined {
    const { namespace = '', uid = '' } = pod.metadata;
    if (problem !== undefined) this.#waiting.set(namespace, (this.#waiting.get(namespace) ?? new Map<string, Pod>()).set(uid, pod));
    return problem;
  }

  /** Lets the pods of a namespace that wait for a config map or a secret try again. */
  sourceChanged(namespace: string): void {
    const waiting = this.#waiting.get(namespace);
    this.#waiting.delete(namespace);
    for (const pod of waiting?.values() ?? []) this.changed(pod);
  }

  /** Returns the present files of a container. Changes of them fail with "No space left on device" if they exceed the capacity. */
  open(pod: Pod, container: Container, mounted: MountedTexts, now: number): SimulatedFiles {
    const kept = this.#kept.get(pod.metadata.uid ?? '');
    const volumes = new Map<string, Changes>();
    const own = limitWork(maxWork, () => this.#mainProcessFiles(pod, container, volumes, now));
    if (kept) merge(kept.volumes, volumes);
    for (const key of sharedKeys(pod)) this.#flush(key, now);
    for (const { name, key } of sharedVolumesOf(pod, container))
      volumes.set(name, new Map([...this.shared.get(key).content].map(([path, { change }]) => [path, change])));
    const files = initialFiles(pod, container, { mounted, store: this, room: this.capacity - this.used });
    files.apply(own);
    applyVolumes(pod, container, volumes, files);
    const present = kept?.containers.get(container.name ?? '');
    if (present?.id === runId(pod, container)) files.apply(present.changes);
    return files;
  }

  /** Keeps the changes that a command made since `before`. */
  keep(pod: Pod, container: Container, files: SimulatedFiles, before: ReadonlyMap<string, FileChange>, now: number): void {
    const changed = new Map([...files.changes].filter(([path, change]) => before.get(path) !== change).map(ownMemory));
    if (changed.size === 0) return;
    const { volumes, own } = splitChanges(pod, container, changed);
    const shared = new Map(sharedVolumesOf(pod, container).map(({ name, key }) => [name, key]));
    const ofPod = new Map([...volumes].filter(([name]) => !shared.has(name)));
    if (ofPod.size + own.size > 0) this.#keepOfPod(pod, container, ofPod, own, now);
    for (const [name, key] of shared) this.#commit(key, volumes.get(name) ?? new Map<string, FileChange>(), now);
  }

  #keepOfPod(pod: Pod, container: Container, volumes: VolumeChanges, own: ReadonlyMap<string, FileChange>, now: number): void {
    const kept = this.#of(pod);
    kept.changedAt = now;
    merge(volumes, kept.volumes);
    const [name, id] = [container.name ?? '', runId(pod, container)];
    const present = kept.containers.get(name);
    kept.containers.set(name, { id, changes: new Map([...(present?.id === id ? present.changes : []), ...own]) });
    this.#count(kept);
    this.changed(pod);
  }

  #commit(key: string, changes: ReadonlyMap<string, FileChange>, now: number, by?: Run): void {
    if (changes.size === 0) return;
    this.shared.commit(key, changes, now, by);
    for (const pod of this.pods.ofVolume(key)) this.changed(pod);
  }

  /** Takes over a new version of a pod. */
  podChanged(pod: Pod): void {
    const hasShared = sharedKeys(pod).length > 0;
    for (const { container } of containersOf(pod, undefined)) {
      if (hasShared) this.#runOf(pod, container);
      if (this.cluster && hasChangingVariables(container) && isRunning(pod, container.name ?? ''))
        orTooLarge(() => this.sources(pod, container));
    }
  }

  /** Records what the processes of a deleted pod have left in shared volumes. */
  podDeleted({ metadata }: Pod, now: number): void {
    const runs = this.#runs.get(metadata.uid ?? '');
    this.#runs.delete(metadata.uid ?? '');
    for (const run of runs?.values() ?? []) this.#record(run, now);
    this.#sources.delete(metadata.uid ?? '');
    this.#waiting.get(metadata.namespace ?? '')?.delete(metadata.uid ?? '');
  }

  /** Forgets a volume that pods shared. */
  volumeDeleted(key: string): void {
    this.shared.delete(key);
  }

  /** Forgets the volumes of a node. */
  nodeDeleted(node: string): void {
    this.shared.deleteNode(node);
  }

  /**
   * Returns the present run of a container that mounts shared volumes; undefined before the first one. A new run finds what all others have
   * left.
   */
  #runOf(pod: Pod, container: Container): Run | undefined {
    const startedAt = startOf(statusOf(pod, container));
    const volumes = startedAt === 0 ? [] : sharedVolumesOf(pod, container);
    if (volumes.length === 0) return undefined;
    const uid = pod.metadata.uid ?? '';
    const runs = this.#runs.get(uid) ?? new Map<string, Run>();
    const [name, id] = [container.name ?? '', runId(pod, container)];
    const present = runs.get(name);
    if (present?.id === id) {
      present.pod = pod;
      return present;
    }
    if (present) this.#record(present, startedAt);
    for (const { key } of volumes) this.#flush(key, startedAt);
    const start = new Map(volumes.map(({ key }) => [key, this.shared.get(key).content]));
    const run: Run = { id, container, pod, sequence: this.shared.sequence, start, committed: new Map(), isOver: false };
    this.#runs.set(uid, runs.set(name, run));
    return run;
  }

  /** Records what the processes of all pods have left in a volume by now. */
  #flush(key: string, now: number): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    try {
      limitWork(maxWork, () => {
        for (const { metadata } of this.pods.ofVolume(key))
          for (const run of this.#runs.get(metadata.uid ?? '')?.values() ?? []) this.#record(run, now);
      });
    } finally {
      this.#isFlushing = false;
    }
  }

  /** Records the changes of a run in shared volumes by now, except for those that are recorded. */
  #record(run: Run, now: number): void {
    if (run.isOver) return;
    const { pod, container } = run;
    const { startedAt, finishedAt } = statusOf(pod, container)?.state?.terminated ?? {};
    const until =
      startedAt === undefined ? (now - startOf(statusOf(pod, container))) / 1_000 : (timeOf(finishedAt) - timeOf(startedAt)) / 1_000 + 1;
    const process = limitWork(maxWork, () => runMainProcess(pod, container, this, until));
    if (!process) return;
    run.isOver = startedAt !== undefined;
    const { volumes } = splitChanges(pod, container, process.files.changes);
    for (const { name, key } of sharedVolumesOf(pod, container)) {
      const present = run.committed.get(key) ?? new Map<string, FileChange>();
      const start = run.start.get(key);
      const isNew = ([path, change]: [string, FileChange]): boolean => !isSameChange(present.get(path) ?? start?.get(path)?.change, change);
      const changes = new Map([...(volumes.get(name) ?? [])].filter(isNew).map(ownMemory));
      if (changes.size === 0 || this.used + sizeOf(changes) > this.capacity) continue;
      run.committed.set(key, new Map([...present, ...changes]));
      this.#commit(key, changes, now, run);
    }
  }

  #of({ metadata }: Pod): KeptFiles {
    const { uid = '', namespace = '', name = '' } = metadata;
    const present = this.#kept.get(uid);
    if (present) return present;
    const subscription = this.pods.watch(namespace, name, (pod) => this.#podChanged(uid, pod));
    const kept: KeptFiles = {
      volumes: new Map(),
      containers: new Map(),
      changedAt: 0,
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
    const size = all.reduce((sum, changes) => sum + sizeOf(changes), 0);
    this.#used += size - kept.size;
    kept.size = size;
  }

  /** Collects the files that the main processes of a pod have written by now: those in volumes, and returns those of the container. */
  #mainProcessFiles(pod: Pod, container: Container, volumes: Map<string, Changes>, now: number): ReadonlyMap<string, FileChange> {
    let own: ReadonlyMap<string, FileChange> = new Map();
    for (const one of containersOf(pod, pod.status)) {
      const startedAt = startOf(one.status);
      const run = startedAt === 0 ? undefined : runMainProcess(pod, one.container, this, (now - startedAt) / 1_000);
      if (!run) continue;
      const changes = splitChanges(pod, one.container, run.files.changes);
      merge(changes.volumes, volumes);
      if (one.container.name === container.name) own = changes.own;
    }
    return own;
  }
}

/** Returns the error for sources that are too large for the simulation. */
function orTooLarge(read: () => ContainerSources): ContainerSources | UnsupportedScriptError {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnsupportedScriptError) return error;
    throw error;
  }
}

/** The volumes of a container that other pods can mount. */
function sharedVolumesOf(pod: Pod, container: Container): { readonly name: string; readonly key: string }[] {
  if (sharedKeys(pod).length === 0) return [];
  const mounted = new Set(lastingVolumes(pod, container).map(({ name }) => name));
  return (pod.spec?.volumes ?? []).flatMap((volume) => {
    const [name, key] = [volume.name ?? '', sharedKey(pod, volume)];
    return key !== undefined && mounted.has(name) ? [{ name, key }] : [];
  });
}

function sizeOf(changes: ReadonlyMap<string, FileChange>): number {
  return [...changes].reduce((sum, [path, change]) => sum + sizeOfChange(path, change), 0);
}

function merge(more: ReadonlyMap<string, ReadonlyMap<string, FileChange>>, volumes: Map<string, Changes>): void {
  for (const [volume, changes] of more) volumes.set(volume, new Map([...(volumes.get(volume) ?? []), ...changes]));
}

/** Copies a text, which may be a slice of one that is much longer. */
function ownMemory([path, change]: [string, FileChange]): [string, FileChange] {
  const copy = (text: string): string => textOfBytes(bytesOfText(text));
  const text = copy(textOfChange(change));
  return [copy(path), typeof change === 'string' ? change : 'link' in change ? { link: text } : { text }];
}

function isRunning(pod: Pod, name: string): boolean {
  return statusOf(pod, { name })?.state?.running !== undefined;
}

/** Names the present run of a container. */
function runId(pod: Pod, container: Pick<Container, 'name'>): string {
  const status = statusOf(pod, container);
  return status?.containerID ?? String(startOf(status));
}

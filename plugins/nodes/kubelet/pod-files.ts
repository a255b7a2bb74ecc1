import type { Container, Pod } from 'kubenest/types/core_v1';
import { applyVolumes, initialFiles, type MountedTexts, splitChanges } from '../pods/container-files.ts';
import { containersOf } from '../pods/container-roles.ts';
import type { KnownPods } from '../pods/known-pods.ts';
import { runMainProcess, startOf } from '../pods/main-process.ts';
import type { FileChange, SimulatedFiles } from '../shell/files.ts';

type Changes = Map<string, FileChange>;

/** Files that commands in a pod have changed. */
interface KeptFiles {
  /** By emptyDir volume. */
  readonly volumes: Map<string, Changes>;
  /** By container name: changes that end with the run that `id` names. */
  readonly containers: Map<string, { readonly id: string; readonly changes: Changes }>;
}

/**
 * Files of the containers of simulated pods: those that the simulated commands of the containers have written by now, and those that commands of
 * `kubectl exec` have changed. They are lost when the server ends.
 */
export class PodFiles {
  readonly #kept = new Map<string, KeptFiles>();

  constructor(private readonly pods: KnownPods) {}

  /** Returns the present files of a container. */
  open(pod: Pod, container: Container, mounted: MountedTexts, now: number): SimulatedFiles {
    const kept = this.#kept.get(pod.metadata.uid ?? '');
    const volumes = new Map<string, Changes>();
    const merge = (more: ReadonlyMap<string, ReadonlyMap<string, FileChange>>): void => {
      for (const [volume, changes] of more) volumes.set(volume, new Map([...(volumes.get(volume) ?? []), ...changes]));
    };
    let own: ReadonlyMap<string, FileChange> = new Map();
    for (const one of containersOf(pod, pod.status)) {
      const startedAt = startOf(one.status);
      if (startedAt === 0) continue;
      const run = runMainProcess(pod, one.container, (now - startedAt) / 1_000);
      const changes = splitChanges(pod, one.container, run?.files.changes ?? new Map());
      merge(changes.volumes);
      if (one.container.name === container.name) own = changes.own;
    }
    if (kept) merge(kept.volumes);
    const files = initialFiles(pod, container, mounted);
    files.apply(own);
    applyVolumes(pod, container, volumes, files);
    const present = kept?.containers.get(container.name ?? '');
    if (present?.id === runId(pod, container)) files.apply(present.changes);
    return files;
  }

  /** Keeps the changes that a command made since `before`. */
  keep(pod: Pod, container: Container, files: SimulatedFiles, before: ReadonlyMap<string, FileChange>): void {
    const changed = new Map([...files.changes].filter(([path, change]) => before.get(path) !== change));
    if (changed.size === 0) return;
    const kept = this.#of(pod);
    const { volumes, own } = splitChanges(pod, container, changed);
    for (const [volume, changes] of volumes) kept.volumes.set(volume, new Map([...(kept.volumes.get(volume) ?? []), ...changes]));
    const [name, id] = [container.name ?? '', runId(pod, container)];
    const present = kept.containers.get(name);
    kept.containers.set(name, { id, changes: new Map([...(present?.id === id ? present.changes : []), ...own]) });
  }

  #of({ metadata }: Pod): KeptFiles {
    const { uid = '', namespace = '', name = '' } = metadata;
    const present = this.#kept.get(uid);
    if (present) return present;
    const kept: KeptFiles = { volumes: new Map(), containers: new Map() };
    this.#kept.set(uid, kept);
    const subscription = this.pods.watch(namespace, name, (pod) => {
      if (pod?.metadata.uid === uid) return;
      this.#kept.delete(uid);
      subscription[Symbol.dispose]();
    });
    return kept;
  }
}

/** Names the present run of a container. */
function runId(pod: Pod, container: Container): string {
  const status = containersOf(pod, pod.status).find((one) => one.container.name === container.name)?.status;
  return status?.containerID ?? String(startOf(status));
}

import type { Container, ContainerStatus, Pod } from 'kubenest/types/core_v1';
import type { SimulatedFiles } from '../shell/files.ts';
import { UnknownProgramError } from '../shell/programs.ts';
import { UnsupportedScriptError } from '../shell/script.ts';
import type { ProcessContext, ProcessResult } from '../shell/process.ts';
import { runCommand } from '../shell/shell.ts';
import { isWorkSpent, spendWork } from '../shell/work.ts';
import { timeOf } from '../time.ts';
import { applyVolumes, initialFiles, splitChanges } from './container-files.ts';
import { containersOf, statusOf } from './container-roles.ts';
import { commandOf, environmentOf, hostnameOf } from './environment.ts';
import { type FileStore, noStore, type VolumeChanges } from './file-store.ts';

/** Earlier runs of a container that are played to find what they left in its emptyDir volumes. */
const maxEarlierRuns = 8;

/** A simulated run of a container's command, with the files that it leaves. */
export interface MainProcess {
  readonly result: ProcessResult;
  readonly files: SimulatedFiles;
}

/**
 * Runs the command of a container, up to a time after its start if that is given. Returns undefined if the command is not simulated. The
 * files of earlier runs in emptyDir volumes are there, unless another container has the volume, too; shared volumes are as the run found
 * them.
 */
export function runMainProcess(
  pod: Pod,
  container: Container,
  store: FileStore = noStore,
  untilSeconds = Infinity,
  more: Pick<ProcessContext, 'showsRepetition' | 'isTerminated'> = {},
): MainProcess | undefined {
  return ifSimulated(() => playRuns(pod, container, store, untilSeconds, more));
}

function playRuns(
  pod: Pod,
  container: Container,
  store: FileStore,
  untilSeconds: number,
  more: Pick<ProcessContext, 'showsRepetition' | 'isTerminated'>,
): MainProcess | undefined {
  const status = statusOf(pod, container);
  const startedAt = startOf(status);
  if (!container.command?.length && !container.args?.length) return undefined;
  const { mounted } = store.sources(pod, container);
  const shared = store.atStart(pod, container);
  let volumes: VolumeChanges = new Map();
  for (let left = Math.min(status?.restartCount ?? 0, maxEarlierRuns); ; left -= 1) {
    const files = initialFiles(pod, container, { mounted, store, isKnown: (volume) => isOwn(pod, volume) });
    applyVolumes(pod, container, shared, files);
    applyVolumes(pod, container, volumes, files);
    const command = (env: Readonly<Record<string, string>>): string[] => commandOf(container, env);
    const result = runSimulated(pod, container, command, files, startedAt, store, {
      untilSeconds: left > 0 ? Infinity : untilSeconds,
      ...more,
    });
    if (!result) return undefined;
    const next = splitChanges(pod, container, files.changes).volumes;
    // A run that left nothing in a volume is like the next one.
    if (left <= 0 || (next.size === 0 && untilSeconds === Infinity)) return { result, files };
    volumes = next;
  }
}

/** Runs the command that the environment makes in the container with its files; undefined if it is not simulated. */
export function runSimulated(
  pod: Pod,
  container: Container,
  command: (env: Readonly<Record<string, string>>) => readonly string[],
  files: SimulatedFiles,
  now: number,
  store: FileStore,
  more: Pick<ProcessContext, 'untilSeconds' | 'showsRepetition' | 'isTerminated'> = {},
): ProcessResult | undefined {
  return ifSimulated(() => {
    const env = environmentOf(pod, container, store);
    const words = command(env);
    return words.length === 0 ? undefined : runCommand(words, { env, hostname: hostnameOf(pod), now, files, ...more });
  });
}

/** Returns undefined for what the simulated shell cannot run. */
export function ifSimulated<T>(run: () => T): T | undefined {
  if (isWorkSpent()) return undefined;
  try {
    return run();
  } catch (error) {
    if (error instanceof UnknownProgramError || error instanceof UnsupportedScriptError) return undefined;
    throw error;
  }
}

/** Time at which the present or last run of a container started, in milliseconds since the epoch. */
export function startOf(status: ContainerStatus | undefined): number {
  const { state, lastState } = status ?? {};
  const startedAt = (state?.running ?? state?.terminated ?? lastState?.terminated)?.startedAt;
  return startedAt === undefined ? 0 : timeOf(startedAt);
}

/** True if only one container of the pod has the volume. */
function isOwn(pod: Pod, volume: string): boolean {
  const containers = containersOf(pod, undefined);
  spendWork(containers.length);
  const users = containers.filter(({ container }) => container.volumeMounts?.some(({ name }) => name === volume));
  return users.length === 1;
}

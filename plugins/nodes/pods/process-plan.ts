import type { Container, Pod } from 'kubenest/types/core_v1';
import { initialFiles } from './container-files.ts';
import type { Role } from './container-roles.ts';
import { type FileStore, noStore } from './file-store.ts';
import { imageProgramOf } from './image-program.ts';
import type { ProcessResult } from '../shell/process.ts';
import { ifSimulated, runMainProcess, runSimulated } from './main-process.ts';
import { durationSetting, settingOf } from './settings.ts';

/** Simulated course of a container's process. */
export interface ProcessPlan {
  /** Run time in milliseconds; Infinity if the process does not end by itself. */
  readonly runMs: number;
  readonly exitCode: number;
  /** Time that the process takes after SIGTERM in milliseconds, and its exit code then. */
  readonly termination: { readonly ms: number; readonly exitCode: number };
}

const sigterm = 143;

/**
 * Course of a container's process: annotations first, then the command, if it is simulated. Others that are meant to end succeed at once:
 * init containers, containers of Jobs, and commands of pods that do not restart when they succeed, unless a client can type into them. All
 * others run, and so do the programs of known images.
 */
export function processPlan(pod: Pod, container: Container, role: Role, store: FileStore = noStore): ProcessPlan {
  const simulated = simulate(pod, container, store);
  const byCommand = simulated ?? defaultPlan(pod, container, role);
  const { name } = container;
  const isCrashing = settingOf(pod, 'crash-loop', name) === 'true';
  const exitCode = Number(settingOf(pod, 'exit-code', name) ?? (isCrashing ? 1 : Number.NaN));
  const runMs = durationSetting(pod, 'run-for', name);
  if (Number.isInteger(exitCode) && exitCode >= 0 && exitCode <= 255) return { ...byCommand, exitCode, runMs: runMs ?? 0 };
  return runMs === undefined ? byCommand : { ...byCommand, runMs };
}

/**
 * Returns the time that the preStop hook of a container takes: the duration of its sleep action, or of its command if that is simulated.
 */
export function preStopMs(pod: Pod, container: Container, store: FileStore = noStore): number {
  const { sleep, exec } = container.lifecycle?.preStop ?? {};
  if (sleep) return (sleep.seconds ?? 0) * 1_000;
  const { command } = exec ?? {};
  const run = (words: readonly string[]): ProcessResult | undefined => {
    const { mounted } = store.sources(pod, container);
    return runSimulated(pod, container, () => words, initialFiles(pod, container, { mounted }), 0, store);
  };
  const result = command && ifSimulated(() => run(command));
  return (result?.seconds ?? 0) * 1_000;
}

function simulate(pod: Pod, container: Container, store: FileStore): ProcessPlan | undefined {
  const run = runMainProcess(pod, container, store, Infinity, { isTerminated: pod.metadata.deletionTimestamp !== undefined });
  if (!run) return undefined;
  const { exitCode, seconds, trapped } = run.result;
  const termination = trapped ? { ms: trapped.seconds * 1_000, exitCode: trapped.exitCode } : { ms: 0, exitCode: sigterm };
  return { runMs: seconds * 1_000, exitCode, termination };
}

function defaultPlan(pod: Pod, container: Container, role: Role): ProcessPlan {
  const isJob = pod.metadata.ownerReferences?.some(({ kind, controller }) => kind === 'Job' && controller) ?? false;
  const program = imageProgramOf(container);
  const hasCommand = Boolean(container.command?.length || container.args?.length);
  const isTask = role === 'main' && hasCommand && !program && !container.stdin && (pod.spec?.restartPolicy ?? 'Always') !== 'Always';
  const ends = (role === 'init' || (role === 'main' && isJob) || isTask) && !program?.isIdle;
  return { runMs: ends ? 0 : Infinity, exitCode: 0, termination: { ms: 0, exitCode: isJob ? sigterm : 0 } };
}

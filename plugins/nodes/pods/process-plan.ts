import type { Container, Pod } from 'kubenest/types/core_v1';
import { initialFiles } from './container-files.ts';
import { type Role, statusOf } from './container-roles.ts';
import { type FileStore, noStore } from './file-store.ts';
import { imageProgramOf } from './image-program.ts';
import type { ProcessResult } from '../shell/process.ts';
import { timeOf } from '../time.ts';
import { ifSimulated, runMainProcess, runSimulated, startOf } from './main-process.ts';
import { durationSetting, settingOf } from './settings.ts';

/** Simulated course of a container's process. */
export interface ProcessPlan {
  /** Run time in milliseconds; Infinity if the process does not end by itself. */
  readonly runMs: number;
  readonly exitCode: number;
}

/** Time that a process takes after SIGTERM in milliseconds, and its exit code then. */
export interface Termination {
  readonly ms: number;
  readonly exitCode: number;
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

/**
 * Returns how a container's process ends after SIGTERM: by the trap that its command has set by then. A process that survives the signal
 * still ends by itself.
 */
export function terminationOf(pod: Pod, container: Container, store: FileStore = noStore): Termination {
  const seconds = secondsToSigterm(pod, container, store);
  const run = runMainProcess(pod, container, store, seconds, { isTerminated: seconds !== Infinity });
  if (!run) return { ms: 0, exitCode: isOfJob(pod) ? sigterm : 0 };
  const { trapped } = run.result;
  if (!trapped) return { ms: 0, exitCode: sigterm };
  if (trapped.seconds !== Infinity) return { ms: trapped.seconds * 1_000, exitCode: trapped.exitCode };
  const whole = runMainProcess(pod, container, store)?.result;
  return { ms: ((whole?.seconds ?? Infinity) - seconds) * 1_000, exitCode: whole?.exitCode ?? 0 };
}

/** Time from the start of a container to SIGTERM, which follows the preStop hook; Infinity if the pod is not being deleted. */
function secondsToSigterm(pod: Pod, container: Container, store: FileStore): number {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = pod.metadata;
  if (deletionTimestamp === undefined) return Infinity;
  const graceMs = deletionGracePeriodSeconds * 1_000;
  const at = timeOf(deletionTimestamp) - graceMs + Math.min(preStopMs(pod, container, store), graceMs);
  return Math.max(0, at - startOf(statusOf(pod, container))) / 1_000;
}

function simulate(pod: Pod, container: Container, store: FileStore): ProcessPlan | undefined {
  const run = runMainProcess(pod, container, store);
  return run && { runMs: run.result.seconds * 1_000, exitCode: run.result.exitCode };
}

const isOfJob = (pod: Pod): boolean => pod.metadata.ownerReferences?.some(({ kind, controller }) => kind === 'Job' && controller) ?? false;

function defaultPlan(pod: Pod, container: Container, role: Role): ProcessPlan {
  const program = imageProgramOf(container);
  const hasCommand = Boolean(container.command?.length || container.args?.length);
  const isTask = role === 'main' && hasCommand && !program && !container.stdin && (pod.spec?.restartPolicy ?? 'Always') !== 'Always';
  const ends = (role === 'init' || (role === 'main' && isOfJob(pod)) || isTask) && !program?.isIdle;
  return { runMs: ends ? 0 : Infinity, exitCode: 0 };
}

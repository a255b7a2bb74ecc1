import type { Pod } from 'kubenest/types/core_v1';
import { allFailureCount, finishedMs } from './job-pods.ts';

/** Delays before failed pods are replaced: 10 s, 20 s, … up to 10 minutes. Upstream: DefaultJobPodFailureBackOff. */
const firstDelayMs = 10_000;
const maxDelayMs = 600_000;

/** Failures of a job's pods since one succeeded. */
export interface BackoffRecord {
  readonly failures: number;
  readonly lastFailureMs: number;
}

const none: BackoffRecord = { failures: 0, lastFailureMs: 0 };

/** Returns the record after more pods have ended. Upstream: newBackoffRecord of pkg/controller/job/backoff_utils.go. */
export function nextBackoff(record: BackoffRecord = none, succeeded: readonly Pod[], failed: readonly Pod[]): BackoffRecord {
  const failures = failed.map(finishedMs);
  if (succeeded.length === 0) {
    if (failures.length === 0) return record;
    return { failures: record.failures + failures.length, lastFailureMs: Math.max(...failures) };
  }
  const lastSuccess = Math.max(...succeeded.map(finishedMs));
  const later = failures.filter((time) => time > lastSuccess);
  return later.length === 0 ? none : { failures: later.length, lastFailureMs: Math.max(...later) };
}

/** Returns the time to wait before a pod may be created, in milliseconds. */
export function backoffMs({ failures, lastFailureMs }: BackoffRecord, nowMs: number): number {
  if (failures === 0) return 0;
  const delay = Math.min(firstDelayMs * 2 ** (failures - 1), maxDelayMs);
  return Math.max(0, delay - (nowMs - lastFailureMs));
}

/** Returns the time to wait before the pod of an index may be replaced, in milliseconds. */
export function indexBackoffMs(lastFailed: Pod | undefined, nowMs: number): number {
  if (!lastFailed) return 0;
  return backoffMs({ failures: allFailureCount(lastFailed) + 1, lastFailureMs: finishedMs(lastFailed) }, nowMs);
}

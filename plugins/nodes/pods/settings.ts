import type { Pod } from 'kubenest/types/core_v1';
import { parseGoDuration } from '../go-duration.ts';

/** Prefix of the annotations that control the simulation of a pod. */
export const annotationPrefix = 'node.kubenest.dev/';

/**
 * Annotations of a pod. Each applies to all its containers, or to one if `.CONTAINER` follows the name, as in
 * `node.kubenest.dev/exit-code.web: "1"`.
 */
export type Setting =
  /** Exit code of the container's process, which ends after `run-for`. */
  | 'exit-code'
  /** Time until the process ends, as a Go duration, or `forever`. */
  | 'run-for'
  /** `true`: the process ends with exit code 1 whenever it starts. */
  | 'crash-loop'
  /** Duration of the image pull. */
  | 'pull-delay'
  /** Error text of the image pull, which then never succeeds. */
  | 'pull-error'
  /** `false`: the container never becomes ready. */
  | 'ready'
  /** Time from start to readiness. */
  | 'ready-delay'
  /** Time from start to the success of the startup probe, or `forever`. */
  | 'startup-delay'
  /** Time from start from which the liveness probe fails. */
  | 'liveness-failure'
  /** Time between SIGTERM and the end of the process; SIGKILL follows at the end of the grace period. */
  | 'termination-delay'
  /** Text of the log. */
  | 'logs'
  /** JSON object of responses to `exec`: from the command line to its standard output, or to `{stdout, stderr, exitCode}`. */
  | 'exec'
  /** JSON object from container port to a port on 127.0.0.1. */
  | 'port-forward'
  /** Usage that the metrics report, as a quantity. */
  | 'cpu'
  | 'memory';

/** Returns the annotation of a container; undefined if neither it nor the pod's exists. */
export function settingOf({ metadata }: Pod, name: Setting, container?: string): string | undefined {
  const annotations = metadata.annotations;
  if (!annotations) return undefined;
  const key = `${annotationPrefix}${name}`;
  const own = container === undefined ? undefined : `${key}.${container}`;
  if (own !== undefined && Object.hasOwn(annotations, own)) return annotations[own];
  return Object.hasOwn(annotations, key) ? annotations[key] : undefined;
}

/** Milliseconds of a duration setting; undefined if it is missing, invalid or negative. */
export function durationSetting(pod: Pod, name: Setting, container?: string): number | undefined {
  const text = settingOf(pod, name, container);
  if (text === undefined) return undefined;
  const ms = text === 'forever' ? Infinity : parseGoDuration(text);
  return ms !== undefined && ms >= 0 ? ms : undefined;
}

/** Returns the JSON object in a text; undefined if there is none. */
export function parseJsonObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

import { Quantity } from 'kubenest/sdk';
import type { Pod } from 'kubenest/types/core_v1';
import { parseGoDuration } from '../go-duration.ts';

/** Prefix of the annotations that control the simulation of a pod. */
export const annotationPrefix = 'node.kubenest.dev/';

type Check = (text: string) => string | undefined;

const text: Check = () => undefined;
const truthValue: Check = (value) => (value === 'true' || value === 'false' ? undefined : 'must be "true" or "false"');
const duration: Check = (value) => (durationOf(value) === undefined ? 'must be a Go duration such as "1m30s", or "forever"' : undefined);
const quantity: Check = (value) => {
  try {
    Quantity.parse(value);
    return undefined;
  } catch {
    return 'must be a quantity';
  }
};
const exitCode: Check = (value) => (/^\d+$/.test(value) && Number(value) <= 255 ? undefined : 'must be an integer from 0 to 255');

/**
 * Annotations of a pod. Each applies to all its containers, or to one if `.CONTAINER` follows the name, as in
 * `node.kubenest.dev/exit-code.web: "1"`. A check returns the problem of a value.
 */
const checks = {
  /** Exit code of the container's process, which ends after `run-for`. */
  'exit-code': exitCode,
  /** Time until the process ends, as a Go duration, or `forever`. */
  'run-for': duration,
  /** `true`: the process ends with exit code 1 whenever it starts. */
  'crash-loop': truthValue,
  /** Duration of the image pull. */
  'pull-delay': duration,
  /** Error text of the image pull, which then never succeeds. */
  'pull-error': text,
  /** `false`: the container never becomes ready. */
  ready: truthValue,
  /** Time from start to readiness. */
  'ready-delay': duration,
  /** Time from start to the success of the startup probe, or `forever`. */
  'startup-delay': duration,
  /** Time from start from which the liveness probe fails. */
  'liveness-failure': duration,
  /** Time between SIGTERM and the end of the process; SIGKILL follows at the end of the grace period. */
  'termination-delay': duration,
  /** Text of the log. */
  logs: text,
  /** JSON object of responses to `exec`: from the command line to its standard output, or to `{stdout, stderr, exitCode}`. */
  exec: execResponses,
  /** JSON object from container port to a port on 127.0.0.1. */
  'port-forward': forwardedPorts,
  /** Usage that the metrics report, as a quantity. */
  cpu: quantity,
  memory: quantity,
} satisfies Record<string, Check>;

export type Setting = keyof typeof checks;

/** Describes the annotations of the simulation that a pod has and that have no effect. */
export function settingProblems({ metadata, spec = {} }: Pod): string[] {
  const containers = new Set([...(spec.initContainers ?? []), ...(spec.containers ?? [])].map(({ name }) => name));
  return Object.entries(metadata.annotations ?? {}).flatMap(([key, value]) => {
    if (!key.startsWith(annotationPrefix)) return [];
    const [name = '', ...rest] = key.slice(annotationPrefix.length).split('.');
    const container = rest.join('.');
    if (!Object.hasOwn(checks, name)) return [`unknown annotation ${key}`];
    if (rest.length > 0 && !containers.has(container)) return [`annotation ${key}: the pod has no container ${JSON.stringify(container)}`];
    const problem = (checks as Record<string, Check>)[name]?.(value);
    return problem === undefined ? [] : [`annotation ${key}: ${problem}`];
  });
}

function execResponses(value: string): string | undefined {
  const isResponse = (response: unknown): boolean =>
    typeof response === 'string' ||
    (typeof response === 'object' &&
      response !== null &&
      Object.entries(response).every(([name, part]) =>
        name === 'exitCode' ? Number.isInteger(part) : (name === 'stdout' || name === 'stderr') && typeof part === 'string',
      ));
  const responses = parseJsonObject(value);
  if (!responses) return 'must be a JSON object';
  const wrong = Object.keys(responses).find((line) => !isResponse(responses[line]));
  return wrong === undefined ? undefined : `${JSON.stringify(wrong)} must be a text or an object of stdout, stderr and exitCode`;
}

function forwardedPorts(value: string): string | undefined {
  const isPort = (port: number): boolean => Number.isInteger(port) && port >= 1 && port <= 65_535;
  const ports = parseJsonObject(value);
  const isValid = ports && Object.entries(ports).every(([port, local]) => isPort(Number(port)) && isPort(local as number));
  return isValid ? undefined : 'must be a JSON object from ports to ports';
}

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
  const value = settingOf(pod, name, container);
  return value === undefined ? undefined : durationOf(value);
}

function durationOf(value: string): number | undefined {
  const ms = value === 'forever' ? Infinity : parseGoDuration(value);
  return ms !== undefined && ms >= 0 ? ms : undefined;
}

/** Returns the JSON object in a text; undefined if there is none. */
export function parseJsonObject(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

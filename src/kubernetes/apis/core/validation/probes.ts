/** Validation of probes and lifecycle hooks. Upstream: pkg/apis/core/validation. */
import { type FieldError, type Path, forbidden, invalid, required } from '#apimachinery/validation/field';
import { isHTTPHeaderName } from '#apimachinery/validation/names';
import type { HTTPGetAction, Lifecycle, LifecycleHandler, PodOS, Probe } from '#kubernetes/schema/core_v1.gen';
import { check, validateEnum, validateNonnegative, validatePortNumOrName, validateRequired } from './checks.ts';

/** Union of the handlers of probes and hooks; each has only some of them. */
type Handler = Probe & LifecycleHandler;

/** The kind of a probe, each of which has rules of its own. */
export type ProbeKind = 'livenessProbe' | 'readinessProbe' | 'startupProbe';

export function validateProbe(
  errors: FieldError[],
  probe: Probe | undefined,
  gracePeriod: number | undefined,
  path: Path,
  kind: ProbeKind,
): void {
  if (!probe) return;
  const at = path.child(kind);
  validateHandler(errors, probe, gracePeriod, at);
  validateNonnegative(errors, probe.initialDelaySeconds, at, 'initialDelaySeconds');
  validateNonnegative(errors, probe.timeoutSeconds, at, 'timeoutSeconds');
  validateNonnegative(errors, probe.periodSeconds, at, 'periodSeconds');
  validateNonnegative(errors, probe.successThreshold, at, 'successThreshold');
  validateNonnegative(errors, probe.failureThreshold, at, 'failureThreshold');
  const { terminationGracePeriodSeconds: grace, successThreshold = 0 } = probe;
  if (grace !== undefined && grace <= 0) errors.push(invalid(at.child('terminationGracePeriodSeconds'), grace, 'must be greater than 0'));
  if (kind === 'readinessProbe') {
    if (grace !== undefined) errors.push(invalid(at.child('terminationGracePeriodSeconds'), grace, 'must not be set for readinessProbes'));
  } else if (successThreshold !== 1) {
    errors.push(invalid(at.child('successThreshold'), successThreshold, 'must be 1'));
  }
}

function validateHandler(errors: FieldError[], handler: Handler, gracePeriod: number | undefined, path: Path): void {
  let count = 0;
  const isFirst = (field: string): boolean => {
    if (count > 0) errors.push(forbidden(path.child(field), 'may not specify more than 1 handler type'));
    return count++ === 0;
  };
  const { exec, httpGet, tcpSocket, grpc, sleep } = handler;
  if (exec && isFirst('exec') && !exec.command?.length) errors.push(required(path.child('exec', 'command')));
  if (httpGet && isFirst('httpGet')) validateHttpGet(errors, httpGet, path.child('httpGet'));
  if (tcpSocket && isFirst('tcpSocket')) validatePortNumOrName(errors, tcpSocket.port, path.child('tcpSocket'), 'port');
  if (grpc && isFirst('grpc')) validatePortNumOrName(errors, grpc.port, path.child('grpc'), 'port');
  if (sleep && isFirst('sleep')) {
    const { seconds = 0 } = sleep;
    if (gracePeriod !== undefined && (seconds < 0 || seconds > gracePeriod)) {
      errors.push(
        invalid(path.child('sleep'), seconds, `must be non-negative and less than terminationGracePeriodSeconds (${gracePeriod})`),
      );
    }
  }
  if (count === 0) errors.push(required(path, 'must specify a handler type'));
}

function validateHttpGet(errors: FieldError[], http: HTTPGetAction, path: Path): void {
  validateRequired(errors, http.path, path, 'path');
  validatePortNumOrName(errors, http.port, path, 'port');
  validateEnum(errors, http.scheme, ['HTTP', 'HTTPS'], path, 'scheme');
  for (const { name = '' } of http.httpHeaders ?? []) check(errors, isHTTPHeaderName(name), name, path, 'httpHeaders');
}

export function validateLifecycle(
  errors: FieldError[],
  lifecycle: Lifecycle,
  gracePeriod: number | undefined,
  path: Path,
  os: PodOS | undefined,
): void {
  const { postStart, preStop, stopSignal } = lifecycle;
  if (postStart) validateHandler(errors, postStart, gracePeriod, path.child('postStart'));
  if (preStop) validateHandler(errors, preStop, gracePeriod, path.child('preStop'));
  if (stopSignal !== undefined) validateStopSignal(errors, stopSignal, path.child('stopSignal'), os);
}

const windowsSignals = ['SIGKILL', 'SIGTERM'];
/** Sorted in the order of the message. */
const linuxSignals = [
  ...[
    'ABRT',
    'ALRM',
    'BUS',
    'CHLD',
    'CLD',
    'CONT',
    'FPE',
    'HUP',
    'ILL',
    'INT',
    'IO',
    'IOT',
    'KILL',
    'PIPE',
    'POLL',
    'PROF',
    'PWR',
    'QUIT',
    'SEGV',
    'STKFLT',
    'STOP',
    'SYS',
    'TERM',
    'TRAP',
    'TSTP',
    'TTIN',
    'TTOU',
    'URG',
    'USR1',
    'USR2',
    'VTALRM',
    'WINCH',
    'XCPU',
    'XFSZ',
    'RTMIN',
    'RTMAX',
  ].map((name) => `SIG${name}`),
  ...Array.from({ length: 15 }, (_, i) => `SIGRTMIN+${i + 1}`),
  ...Array.from({ length: 14 }, (_, i) => `SIGRTMAX-${i + 1}`),
].sort();

function validateStopSignal(errors: FieldError[], signal: string, path: Path, os: PodOS | undefined): void {
  if (!os) errors.push(forbidden(path, 'may not be set for containers with empty `spec.os.name`'));
  else if (os.name === 'windows') validateEnum(errors, signal, windowsSignals, path);
  else if (os.name === 'linux') validateEnum(errors, signal, linuxSignals, path);
}

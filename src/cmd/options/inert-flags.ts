import { type FlagValue, equalValues, parseFlagValue } from './flag-value.ts';
import type { FlagSpec } from './flag-table.ts';

/** A flag of kube-apiserver whose values change nothing here. */
export interface InertFlag {
  /** Why they change nothing: the server logs it for a value that is not the default. */
  readonly reason: string;
  /** The problem of a value that kube-apiserver refuses, too. */
  readonly problemOf?: (value: string) => string | undefined;
}

const peers = 'requests are never sent on to a server of another version';

/** By name. A launcher may set each of them to whatever kube-apiserver takes: the server starts. */
export const inertFlags: ReadonlyMap<string, InertFlag> = new Map(
  Object.entries<InertFlag>({
    'cloud-config': { reason: 'cloud providers run out of tree' },
    'cloud-provider': { reason: 'cloud providers run out of tree' },
    'contention-profiling': { reason: 'there are no locks' },
    'delete-collection-workers': { reason: 'the objects of a collection are deleted together' },
    'debug-socket-path': { reason: 'profiles are served at /debug/pprof of the secure port' },
    'enable-logs-handler': { reason: 'files of the host are not served' },
    'kubelet-read-only-port': { reason: 'kubelets are reached by their secure port' },
    'kubelet-timeout': { reason: 'kube-apiserver does not use it, either' },
    'log-json-info-buffer-size': { reason: 'the log is one stream' },
    'log-json-split-stream': { reason: 'the log is one stream' },
    'log-text-info-buffer-size': { reason: 'the log is one stream of JSON lines' },
    'log-text-split-stream': { reason: 'the log is one stream of JSON lines' },
    'peer-advertise-ip': { reason: peers },
    'peer-advertise-port': { reason: peers },
    'peer-ca-file': { reason: peers },
    'show-hidden-metrics-for-version': { reason: 'no metric is hidden', problemOf: hiddenMetricsProblem },
    vmodule: { reason: 'the log has one verbosity, --v', problemOf: vmoduleProblem },
    'watch-cache': { reason: 'watches and lists are always served by the watch cache' },
  }),
);

/** True for a value that the user expects to change something. */
export function isUnusual(spec: FlagSpec, value: FlagValue): boolean {
  return !equalValues(value, parseFlagValue(spec.type, [spec.default]));
}

/** Upstream: component-base/metrics/api/v1/validation.go. */
function hiddenMetricsProblem(version: string): string | undefined {
  if (version === '1.35') return undefined;
  return `metrics.showHiddenMetricsForVersion: Invalid value: ${JSON.stringify(version)}: must be omitted or have the value '1.35'; only the previous minor version is allowed`;
}

/** Upstream: component-base/logs/api/v1/pflags.go. */
function vmoduleProblem(text: string): string | undefined {
  const wrong = text.split(',').find((item) => item !== '' && !/^[^=]+=\d+$/.test(item));
  return wrong === undefined
    ? undefined
    : `invalid argument ${JSON.stringify(text)} for --vmodule: ${JSON.stringify(wrong)} does not have the pattern=N format`;
}

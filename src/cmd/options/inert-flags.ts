import { type FlagValue, equalValues, parseFlagValue } from './flag-value.ts';
import type { FlagSpec } from './flag-table.ts';

/** A flag of kube-apiserver that has no effect here. */
export interface InertFlag {
  /** Reason why the flag has no effect. The server logs it for values other than the default. */
  readonly reason: string;
  /** Returns the problem of a value that kube-apiserver rejects too. */
  readonly problemOf?: (value: string) => string | undefined;
}

/** Flags without an effect, by name. Launchers may set each of them to any value that kube-apiserver accepts. */
export const inertFlags: ReadonlyMap<string, InertFlag> = new Map(
  Object.entries<InertFlag>({
    'cloud-config': { reason: 'cloud providers run out of tree' },
    'cloud-provider': { reason: 'cloud providers run out of tree' },
    'contention-profiling': { reason: 'the server has no locks to profile' },
    'delete-collection-workers': { reason: 'one pass deletes all objects of a collection' },
    'debug-socket-path': { reason: 'profiles are served at /debug/pprof of the secure port' },
    'enable-logs-handler': { reason: 'files of the host are not served' },
    'kubelet-read-only-port': { reason: 'kubelets are reached by their secure port' },
    'kubelet-timeout': { reason: 'kube-apiserver does not use it either' },
    'log-json-info-buffer-size': { reason: 'the log is one stream' },
    'log-json-split-stream': { reason: 'the log is one stream' },
    'log-text-info-buffer-size': { reason: 'the log is one stream of JSON lines' },
    'log-text-split-stream': { reason: 'the log is one stream of JSON lines' },
    'show-hidden-metrics-for-version': { reason: 'no metric is hidden', problemOf: hiddenMetricsProblem },
    vmodule: { reason: 'the log has one verbosity, --v', problemOf: vmoduleProblem },
    'watch-cache': { reason: 'watches and lists are always served by the watch cache' },
  }),
);

/** True for a value that the user expects to have an effect. */
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

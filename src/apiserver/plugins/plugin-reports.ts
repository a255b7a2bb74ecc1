import type { ContributionKind } from '#apiserver/base/contribution';
import type { LoadedContribution } from './loaded-contribution.ts';
import { measuredMethods, type PluginUsage } from './plugin-usage.ts';
import type { ExceptionObjects } from './policy/exception-objects.ts';
import type { PolicyException } from './policy/policy-exception.ts';
import type { PolicyMode } from './policy/policy-configuration.ts';

/** A contribution in `/debug/plugins` and `kubenest plugin list`. */
export interface ContributionStatus {
  readonly package: string;
  readonly version: string;
  /** The `integrity` in the configuration, which the server has verified; empty if it has none. */
  readonly integrity: string;
  readonly kind: ContributionKind;
  readonly name: string;
  /** Mode of an admission plugin; absent for other kinds. */
  readonly mode?: PolicyMode;
}

/** An exception to an admission plugin, in `/debug/plugins`. */
export interface ExceptionReport {
  /** The API object (`PolicyException shop/web`); `configuration` for an exception of the configuration file. */
  readonly source: string;
  readonly reason: string;
  /** RFC 3339 time; absent without an end. */
  readonly expires?: string;
  /** Number of calls that it replaced since the server read it. */
  readonly uses: number;
}

/** A contribution in `/debug/plugins`. `calls`, `p50` and `p99` (milliseconds) are absent for kinds that are not measured. */
export interface ContributionReport extends ContributionStatus {
  readonly calls?: number;
  readonly failures: number;
  readonly p50?: number | undefined;
  readonly p99?: number | undefined;
  /** Exceptions to an admission plugin; absent if there are none. */
  readonly exceptions?: readonly ExceptionReport[];
}

export function statusOf({ described, origin, policy }: LoadedContribution): ContributionStatus {
  const { kind, options } = described;
  return {
    package: origin?.package ?? '',
    version: origin?.version ?? '',
    integrity: origin?.integrity ?? '',
    kind,
    name: options.name,
    ...(kind === 'AdmissionPlugin' && { mode: policy?.mode ?? 'enforce' }),
  };
}

export function reportOf(contribution: LoadedContribution, usage: PluginUsage, objects?: ExceptionObjects): ContributionReport {
  const status = statusOf(contribution);
  const own = usage.of(status);
  const { calls, failures } = own;
  if (!measuredMethods[status.kind]) return { ...status, failures };
  const exceptions =
    status.kind === 'AdmissionPlugin' ? [...(contribution.policy?.exceptions ?? []), ...(objects?.of(status.name) ?? [])] : [];
  return {
    ...status,
    calls,
    failures,
    p50: own.milliseconds(0.5),
    p99: own.milliseconds(0.99),
    ...(exceptions.length > 0 && { exceptions: exceptions.map(exceptionReport) }),
  };
}

function exceptionReport({ label = 'configuration', reason, expires, uses }: PolicyException): ExceptionReport {
  return { source: label, reason, ...(expires !== undefined && { expires: new Date(expires).toISOString() }), uses };
}

import type { FeatureGates } from '#apiserver/server/feature-gates';
import { Check, Flag } from './flag.ts';
import { foreignGates } from './foreign-gates.ts';
import { nearestName } from './nearest-name.ts';
import { readTable } from './tables.ts';

interface FeatureGate {
  readonly stage: string;
  readonly default: boolean;
  readonly locked?: true;
}

/** Features that can be on or off. Upstream: component-base/featuregate. */
export class FeatureOptions {
  @Flag('feature-gates')
  @Check<FeatureOptions>((gates: ReadonlyMap<string, string>) => (gates.size > 0 ? gateErrors(gates) : undefined))
  featureGates: ReadonlyMap<string, string> = new Map();

  /** Every gate as it was set, or at its default. */
  gates(): FeatureGates {
    return featureGatesWith(this.featureGates);
  }

  /** Whether /debug/pprof and /debug/flags are there, and metrics can be reset. */
  @Flag('profiling')
  profiling = true;
}

/** The gates that may have another value than their default: what they switch is here. */
const settable: ReadonlySet<string> = new Set([
  'AllowUnsafeMalformedObjectDeletion',
  'CBORServingAndStorage',
  'ClusterTrustBundle',
  'CoordinatedLeaderElection',
  'GenericWorkload',
  'ManifestBasedAdmissionControlConfig',
  'PodCertificateRequest',
  'StorageVersionAPI',
  'StorageVersionMigrator',
]);

/** The stage of every gate: ALPHA, BETA, GA or DEPRECATED. */
export function gateStages(): [name: string, stage: string][] {
  return Object.entries(readTable<Record<string, FeatureGate>>('feature-gates')).map(([name, { stage }]) => [name, stage]);
}

/** Every gate at its default. */
export function defaultFeatureGates(): FeatureGates {
  return featureGatesWith(new Map());
}

/** `values` were checked. */
function featureGatesWith(values: ReadonlyMap<string, string>): FeatureGates {
  const gates = readTable<Record<string, FeatureGate>>('feature-gates');
  const set = new Map([...values].map(([key, text]) => [gateName(key), isTrue(text)]));
  return {
    enabled(name) {
      const gate = Object.hasOwn(gates, name) ? gates[name] : undefined;
      if (!gate) throw new Error(`unrecognized feature gate: ${name}`);
      return set.get(name) ?? gate.default;
    },
  };
}

/** `kube:` names the component that this server is. */
const gateName = (key: string): string => key.replace(/^kube:/, '');
const isTrue = (text: string): boolean => /^[1tT]/.test(text);

/** A gate at its default is accepted, one that is settable, and one that is for others. */
function gateErrors(wanted: ReadonlyMap<string, string>): string[] {
  const known = readTable<Record<string, FeatureGate>>('feature-gates');
  return [...wanted].flatMap(([key, text]) => {
    const name = gateName(key);
    const gate = Object.hasOwn(known, name) ? known[name] : undefined;
    if (!gate) {
      const nearest = nearestName(name, Object.keys(known));
      return `unrecognized feature gate: ${name}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
    }
    if (text === '') return `missing bool value for ${name}`;
    if (!/^(1|t|T|true|TRUE|True|0|f|F|false|FALSE|False)$/.test(text)) return `invalid value of ${name}=${text}: must be true or false`;
    const value = isTrue(text);
    if (value === gate.default || settable.has(name) || foreignGates.has(name)) return [];
    if (gate.locked) return `cannot set feature gate ${name} to ${value}, feature is locked to ${gate.default}`;
    return value
      ? `cannot set feature gate ${name} to true: the feature is not part of this server`
      : `cannot set feature gate ${name} to false: the feature is always on in this server`;
  });
}

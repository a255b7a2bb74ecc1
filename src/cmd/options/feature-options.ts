import type { FeatureGates } from '#apiserver/base/feature-gates';
import { Check, Flag, Warn } from './flag.ts';
import { gateDependencies } from './gate-dependencies.ts';
import { inertGates } from './inert-gates.ts';
import { nearestName } from './nearest-name.ts';
import { readTable } from './tables.ts';

interface FeatureGate {
  readonly stage: string;
  readonly default: boolean;
  readonly locked?: true;
}

/** Feature gates. Upstream: component-base/featuregate. */
export class FeatureOptions {
  @Flag('feature-gates')
  @Check<FeatureOptions>((gates: ReadonlyMap<string, string>) => (gates.size > 0 ? gateErrors(gates) : undefined))
  @Warn<FeatureOptions>((gates: ReadonlyMap<string, string>) => {
    const inert = [...valuesOf(gates)].filter(([name, value]) => value !== gateTable()[name]?.default && inertGates.has(name));
    return inert.length === 0
      ? undefined
      : `--feature-gates has no effect here on ${inert
          .map(([name]) => name)
          .sort()
          .join(', ')}`;
  })
  featureGates: ReadonlyMap<string, string> = new Map();

  /** Returns the value of every gate: as set, or its default. */
  gates(): FeatureGates {
    return featureGatesWith(this.featureGates);
  }

  /** True if a flag names the gate itself, not only its stage. */
  isNamed(gate: string): boolean {
    return [...this.featureGates.keys()].some((key) => gateName(key) === gate);
  }

  /** True if the server serves /debug/pprof and /debug/flags, and clients can reset metrics. */
  @Flag('profiling')
  profiling = true;
}

let table: Readonly<Record<string, FeatureGate>> | undefined;

function gateTable(): Readonly<Record<string, FeatureGate>> {
  table ??= readTable<Record<string, FeatureGate>>('feature-gates');
  return table;
}

/** Returns the stage of every gate: ALPHA, BETA, GA or DEPRECATED. */
export function gateStages(): [name: string, stage: string][] {
  return Object.entries(gateTable()).map(([name, { stage }]) => [name, stage]);
}

/** Returns the default of every gate. */
export function defaultFeatureGates(): FeatureGates {
  return featureGatesWith(new Map());
}

/** Returns every gate, with the values of `wanted`, which must be valid. */
function featureGatesWith(wanted: ReadonlyMap<string, string>): FeatureGates {
  const gates = gateTable();
  const set = valuesOf(wanted);
  return {
    enabled(name) {
      const gate = Object.hasOwn(gates, name) ? gates[name] : undefined;
      if (!gate) throw new Error(`unrecognized feature gate: ${name}`);
      return set.get(name) ?? gate.default;
    },
  };
}

/** Removes the prefix `kube:`, which names this component. */
const gateName = (key: string): string => key.replace(/^kube:/, '');
const isTrue = (text: string): boolean => /^[1tT]/.test(text);
const stageGates: Readonly<Record<string, string>> = { AllAlpha: 'ALPHA', AllBeta: 'BETA' };

/**
 * Returns the gates that are set, including those of a stage:
 *
 *     AllAlpha=true,HPAScaleToZero=false  =>  all gates of stage ALPHA are true, HPAScaleToZero is false
 */
function valuesOf(wanted: ReadonlyMap<string, string>): Map<string, boolean> {
  const values = new Map([...wanted].map(([key, text]) => [gateName(key), isTrue(text)]));
  for (const [gate, stage] of Object.entries(stageGates)) {
    const value = values.get(gate);
    if (value === undefined) continue;
    for (const [name, { stage: own, locked }] of Object.entries(gateTable()))
      if (own === stage && !locked && !values.has(name)) values.set(name, value);
  }
  return values;
}

function gateErrors(wanted: ReadonlyMap<string, string>): string[] {
  const prefixed = [...wanted.keys()].filter((key) => key.startsWith('kube:')).length;
  if (prefixed > 0 && prefixed < wanted.size)
    return ['set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use'];
  const errors = [...wanted].flatMap(([key, text]) => gateError(gateName(key), text) ?? []);
  return errors.length > 0 ? errors : dependencyErrors(featureGatesWith(wanted));
}

function gateError(name: string, text: string): string | undefined {
  const gates = gateTable();
  const gate = Object.hasOwn(gates, name) ? gates[name] : undefined;
  if (!gate) {
    const nearest = nearestName(name, Object.keys(gates));
    return `unrecognized feature gate: ${name}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
  }
  if (text === '') return `missing bool value for ${name}`;
  if (!/^(1|t|T|true|TRUE|True|0|f|F|false|FALSE|False)$/.test(text))
    return `invalid value of ${name}=${text}, err: strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`;
  const value = isTrue(text);
  return gate.locked && value !== gate.default
    ? `cannot set feature gate ${name} to ${value}, feature is locked to ${gate.default}`
    : undefined;
}

function dependencyErrors(gates: FeatureGates): string[] {
  return Object.entries(gateDependencies).flatMap(([name, needed]) => {
    const missing = gates.enabled(name) ? needed.filter((one) => !gates.enabled(one)) : [];
    return missing.length === 0 ? [] : `${name} is enabled, but depends on features that are disabled: [${missing.join(' ')}]`;
  });
}

import type { FeatureGates } from '#apiserver/server/feature-gates';
import { Check, Flag } from './flag.ts';
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

  /** There are no profiles to be read over HTTP, so switching them off is always done. */
  @Flag('profiling')
  profiling = true;
}

/** Every gate at its default: no other value is accepted yet. */
export function defaultFeatureGates(): FeatureGates {
  const gates = readTable<Record<string, FeatureGate>>('feature-gates');
  return {
    enabled(name) {
      const gate = Object.hasOwn(gates, name) ? gates[name] : undefined;
      if (!gate) throw new Error(`unrecognized feature gate: ${name}`);
      return gate.default;
    },
  };
}

/** A gate at its default is accepted. `kube:` names the component that this server is. */
function gateErrors(wanted: ReadonlyMap<string, string>): string[] {
  const known = readTable<Record<string, FeatureGate>>('feature-gates');
  return [...wanted].flatMap(([key, text]) => {
    const name = key.replace(/^kube:/, '');
    const gate = Object.hasOwn(known, name) ? known[name] : undefined;
    if (!gate) {
      const nearest = nearestName(name, Object.keys(known));
      return `unrecognized feature gate: ${name}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
    }
    if (text === '') return `missing bool value for ${name}`;
    if (!/^(1|t|T|true|TRUE|True|0|f|F|false|FALSE|False)$/.test(text)) return `invalid value of ${name}=${text}: must be true or false`;
    const value = /^[1tT]/.test(text);
    if (value === gate.default) return [];
    if (gate.locked) return `cannot set feature gate ${name} to ${value}, feature is locked to ${gate.default}`;
    return `--feature-gates=${name}=${value} is not implemented yet`;
  });
}

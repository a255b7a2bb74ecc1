import { inject } from 'inversify';
import type { GroupResource } from '#apimachinery/meta/types';
import { AdmissionPlugin } from '#apiserver/admission/admission-plugin';
import type { AdmissionMatch, AdmissionPluginClass, AdmissionPluginOptions, Attributes } from '#apiserver/admission/attributes';
import { Configuration } from '#apiserver/plugins/configuration';
import { type PluginServices, serviceTokens } from '#apiserver/plugins/plugin-services';
import { objectOf, type Rule, selects } from './rule.ts';

/** Services that a policy may request. */
export type PolicyService = 'authorizer' | 'client' | 'clock' | 'informers' | 'logger' | 'metrics' | 'shutdownSignal';

export interface PolicyOptions extends Pick<AdmissionPluginOptions, 'name' | 'configuration' | 'before' | 'after'> {
  /** Services that the handlers of its rules get. Default: none. */
  readonly services?: readonly PolicyService[];
  /**
   * Resources that the handlers read by the service `informers`. With `isolation: worker` and in `kubenest webhook` they are followed from
   * the start, and the roles that `kubenest webhook manifests` prints permit it; other resources cannot be read there.
   */
  readonly follows?: readonly GroupResource[];
}

/** Third argument of the handlers of a policy's rules: its `configuration`, if it has a class of it, and its services by name. */
export type PolicyContext<Options> = ConfigurationOf<Options> & ServicesOf<Options>;
type ConfigurationOf<Options> = Options extends { readonly configuration: new () => infer Settings }
  ? { readonly configuration: Settings }
  : unknown;
type ServicesOf<Options> = Options extends { readonly services: readonly (infer Service extends PolicyService)[] }
  ? Pick<PluginServices, Service>
  : unknown;

/**
 * Returns an admission plugin of rules, for `contribute`. It is a class like one with `@AdmissionPlugin`: its `match` is that of all rules,
 * and it has the phases of its rules. Rules of a phase run in their order; the first denial ends it.
 *
 *     export const teamLabels = policy('TeamLabels', when(Pod).created().validate((pod, request) => { … }));
 */
export function policy<const Options extends string | PolicyOptions>(
  options: Options,
  ...rules: readonly [Rule<PolicyContext<Options>>, ...Rule<PolicyContext<Options>>[]]
): AdmissionPluginClass {
  const { services = [], follows = [], ...own }: PolicyOptions = typeof options === 'string' ? { name: options } : options;
  if (follows.length > 0 && !services.includes('informers'))
    throw new Error(`policy ${own.name}: \`follows\` requires \`services: ['informers']\``);
  const type = policyClass(own.configuration !== undefined, services, follows);
  Object.defineProperty(type, 'name', { value: own.name });
  const matchByPhase: Record<Rule['phase'], AdmissionMatch[]> = { admit: [], validate: [] };
  for (const phase of ['admit', 'validate'] as const) {
    const ofPhase = rules.filter((rule) => rule.phase === phase);
    if (ofPhase.length > 0) type.prototype[phase] = runnerOf(ofPhase as readonly Rule[]);
    matchByPhase[phase].push(...ofPhase.flatMap(({ match }) => match));
  }
  AdmissionPlugin({ ...own, match: rules.flatMap(({ match }): readonly AdmissionMatch[] => match), matchByPhase })(type);
  return type;
}

interface PolicyInstance {
  readonly context: object;
}
type PolicyClass = AdmissionPluginClass & { readonly prototype: Partial<Record<Rule['phase'], ReturnType<typeof runnerOf>>> };

/** Returns a class whose constructor takes the configuration, if it has one, and the services, and gets the informers of `follows`. */
function policyClass(isConfigured: boolean, services: readonly PolicyService[], follows: readonly GroupResource[]): PolicyClass {
  const names = [...(isConfigured ? ['configuration'] : []), ...services];
  class Policy implements PolicyInstance {
    readonly context: Partial<PluginServices>;

    constructor(...injected: readonly object[]) {
      this.context = Object.fromEntries(names.map((name, i) => [name, injected[i]]));
      for (const resource of follows) this.context.informers?.for(resource);
    }
  }
  if (isConfigured) inject(Configuration)(Policy, undefined, 0);
  for (const [i, service] of services.entries()) inject(serviceTokens[service])(Policy, undefined, names.length - services.length + i);
  return Policy as unknown as PolicyClass;
}

/** Returns a method that runs those of the rules that select the request. It returns a promise only if a handler does. */
function runnerOf(rules: readonly Rule[]): (this: PolicyInstance, request: Attributes) => void | Promise<void> {
  const runFrom = (first: number, request: Attributes, context: object): void | Promise<void> => {
    for (let i = first; i < rules.length; i += 1) {
      const rule = rules[i]!;
      if (!selects(rule, request)) continue;
      const pending = rule.handle(objectOf(request), request, context);
      if (pending) return pending.then(() => runFrom(i + 1, request, context));
    }
  };
  return function run(request) {
    return runFrom(0, request, this.context);
  };
}

import type { AdmissionHandler, AdmissionMatch, Attributes } from './attributes.ts';
import type { Operation } from '#apiserver/request/admission-context';
import type { AdmissionMetrics, StepTimer } from './admission-metrics.ts';
import { admissionPluginOptions, matchOf } from './admission-plugin.ts';
import { scopeOf, type StepScope, StepSelection } from './step-selection.ts';

/** A plugin's method for one phase. */
export interface Step {
  readonly name: string;
  /** Timer of the step; undefined: the step is not measured. */
  readonly timer: StepTimer | undefined;
  /** Requests out of this scope need no call of `run`; undefined: every request needs one. */
  readonly scope: StepScope | undefined;
  run(request: Attributes): void | Promise<void>;
}

/** The steps of a phase, in order. */
export interface Phase {
  readonly steps: readonly Step[];
  readonly selection: StepSelection<Step>;
  readonly timer: StepTimer | undefined;
}

/** The plugins that match one kind of request. */
export interface CompiledAdmission {
  readonly mutating: Phase;
  readonly validating: Phase;
}

/** Source of the steps of a request. */
export interface AdmissionSteps {
  /** Returns the steps of a kind of request. */
  for(group: string, resource: string, subresource: string, operation: Operation): CompiledAdmission;
}

/** All enabled plugins. They can be replaced; requests in flight continue with the plugins that were current when they began. */
export class AdmissionChain implements AdmissionSteps {
  #current: PluginChain;

  constructor(
    plugins: readonly AdmissionHandler[],
    readonly metrics: AdmissionMetrics | undefined = undefined,
  ) {
    this.#current = new PluginChain(plugins, metrics);
  }

  /** Steps of the current plugins, which a replacement does not change. */
  get current(): AdmissionSteps {
    return this.#current;
  }

  get plugins(): readonly AdmissionHandler[] {
    return this.#current.plugins;
  }

  for(group: string, resource: string, subresource: string, operation: Operation): CompiledAdmission {
    return this.#current.for(group, resource, subresource, operation);
  }

  replace(plugins: readonly AdmissionHandler[]): void {
    this.#current = new PluginChain(plugins, this.metrics);
  }
}

/**
 * Plugins in their order, compiled per resource, subresource and operation, so that a request runs only the plugins that match it.
 */
class PluginChain implements AdmissionSteps {
  readonly #compiled = new Map<string, CompiledAdmission>();

  constructor(
    readonly plugins: readonly AdmissionHandler[],
    readonly metrics: AdmissionMetrics | undefined,
  ) {
    for (const plugin of plugins) {
      if (!plugin.admit && !plugin.validate)
        throw new Error(`admission plugin ${admissionPluginOptions(plugin).name} has neither admit nor validate`);
    }
  }

  /** Returns the steps of a kind of request, cached. */
  for(group: string, resource: string, subresource: string, operation: Operation): CompiledAdmission {
    const key = `${group}/${resource}/${subresource}/${operation}`;
    let compiled = this.#compiled.get(key);
    if (!compiled) {
      const phase = (name: 'admit' | 'validate'): Phase => {
        const matching = this.plugins.filter((plugin) =>
          matchOf(admissionPluginOptions(plugin), name).some((match) => matches(match, group, resource, subresource, operation)),
        );
        return this.#phase(matching, name, operation);
      };
      compiled = { mutating: phase('admit'), validating: phase('validate') };
      this.#compiled.set(key, compiled);
    }
    return compiled;
  }

  #phase(plugins: readonly AdmissionHandler[], phase: 'admit' | 'validate', operation: Operation): Phase {
    const steps = plugins
      .filter((plugin) => plugin[phase])
      .map((plugin) => {
        const { name } = admissionPluginOptions(plugin);
        const timer = this.metrics?.plugin(name, phase, operation);
        return { name, timer, scope: scopeOf(plugin), run: (request: Attributes): void | Promise<void> => plugin[phase]?.(request) };
      });
    return { steps, selection: new StepSelection(steps), timer: this.metrics?.step(phase, operation) };
  }
}

function matches(match: AdmissionMatch, group: string, resource: string, subresource: string, operation: Operation): boolean {
  return (
    match.operations.includes(operation) &&
    (match.groups === undefined || match.groups.includes('*') || match.groups.includes(group)) &&
    (match.resources.includes('*') || match.resources.includes(resource)) &&
    (match.subresources === undefined ? subresource === '' : match.subresources.includes('*') || match.subresources.includes(subresource))
  );
}

import type { AdmissionHandler, AdmissionMatch, Attributes, Operation } from './attributes.ts';
import type { AdmissionMetrics } from './admission-metrics.ts';
import { admissionPluginOptions } from './admission-plugin.ts';

interface Step {
  readonly name: string;
  run(request: Attributes): void | Promise<void>;
}
/** The plugins that look at one kind of request, in their order. */
export interface CompiledAdmission {
  readonly mutating: readonly Step[];
  readonly validating: readonly Step[];
}

/** What is told of every step that ran; `error` is undefined when the plugin let the request pass. */
export type ObserveStep = (plugin: string, phase: 'admit' | 'validate', request: Attributes, milliseconds: number, error: unknown) => void;

/** All enabled plugins in their one order, compiled per resource, subresource and operation, so that a request pays only for what looks at it. */
export class AdmissionChain {
  readonly #compiled = new Map<string, CompiledAdmission>();

  constructor(
    readonly plugins: readonly AdmissionHandler[],
    readonly metrics: AdmissionMetrics | undefined = undefined,
  ) {
    for (const plugin of plugins) {
      if (!plugin.admit && !plugin.validate)
        throw new Error(`admission plugin ${admissionPluginOptions(plugin).name} has neither admit nor validate`);
    }
  }

  /** Which plugins look at this; the answer is kept. */
  for(group: string, resource: string, subresource: string, operation: Operation): CompiledAdmission {
    const key = `${group}/${resource}/${subresource}/${operation}`;
    let compiled = this.#compiled.get(key);
    if (!compiled) {
      const matching = this.plugins.filter((plugin) =>
        admissionPluginOptions(plugin).match.some((match) => matches(match, group, resource, subresource, operation)),
      );
      compiled = {
        mutating: matching.filter((plugin) => plugin.admit).map((plugin) => this.#step(plugin, 'admit')),
        validating: matching.filter((plugin) => plugin.validate).map((plugin) => this.#step(plugin, 'validate')),
      };
      this.#compiled.set(key, compiled);
    }
    return compiled;
  }

  #step(plugin: AdmissionHandler, phase: 'admit' | 'validate'): Step {
    const { name } = admissionPluginOptions(plugin);
    const observe = this.metrics?.plugin;
    const run = (request: Attributes): void | Promise<void> => plugin[phase]?.(request);
    if (!observe) return { name, run };
    return {
      name,
      run(request) {
        const began = performance.now();
        const done = (error: unknown): void => observe(name, phase, request, performance.now() - began, error);
        try {
          const result = run(request);
          if (result === undefined) return void done(undefined);
          return result.then(
            () => done(undefined),
            (error: unknown) => {
              done(error);
              throw error;
            },
          );
        } catch (error) {
          done(error);
          throw error;
        }
      },
    };
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

import { describe, describes } from '#apiserver/base/contribution';
import type { AdmissionHandler, AdmissionMatch, AdmissionPluginClass, AdmissionPluginOptions } from './attributes.ts';

/** Declares a class as an admission plugin. `admit` and `validate` are called only for requests that `match` selects. */
export function AdmissionPlugin(options: AdmissionPluginOptions): ClassDecorator {
  return describes('AdmissionPlugin', options);
}

/** Returns the decorator options of a plugin class or instance. Throws if the class is not decorated. */
export function admissionPluginOptions(plugin: AdmissionHandler | AdmissionPluginClass): AdmissionPluginOptions {
  const type = typeof plugin === 'function' ? plugin : plugin.constructor;
  const described = describe(type);
  if (described?.kind !== 'AdmissionPlugin') throw new Error(`${type.name} is not decorated with @AdmissionPlugin`);
  return described.options as AdmissionPluginOptions;
}

/** Returns the requests for which a plugin is called in a phase. */
export function matchOf({ match, matchByPhase }: AdmissionPluginOptions, phase: 'admit' | 'validate'): readonly AdmissionMatch[] {
  return matchByPhase?.[phase] ?? match;
}

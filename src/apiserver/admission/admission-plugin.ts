import { describe, describes } from '#apiserver/base/contribution';
import type { AdmissionHandler, AdmissionPluginClass, AdmissionPluginOptions } from './attributes.ts';

/** Marks a class as an admission plugin. Its `match` is compiled: `admit` and `validate` are called for nothing else. */
export function AdmissionPlugin(options: AdmissionPluginOptions): ClassDecorator {
  return describes('AdmissionPlugin', options);
}

/** The options that a class, or the class of an instance, was decorated with. Throws for a class without them. */
export function admissionPluginOptions(plugin: AdmissionHandler | AdmissionPluginClass): AdmissionPluginOptions {
  const type = typeof plugin === 'function' ? plugin : plugin.constructor;
  const described = describe(type);
  if (described?.kind !== 'AdmissionPlugin') throw new Error(`${type.name} is not decorated with @AdmissionPlugin`);
  return described.options as AdmissionPluginOptions;
}

import type { AdmissionHandler, AdmissionPluginClass, AdmissionPluginOptions } from './attributes.ts';

const optionsOf = new WeakMap<object, AdmissionPluginOptions>();

/** Marks a class as an admission plugin. Its `match` is compiled: `admit` and `validate` are called for nothing else. */
export function AdmissionPlugin(options: AdmissionPluginOptions): ClassDecorator {
  return (target) => {
    optionsOf.set(target, options);
  };
}

/** The options that a class, or the class of an instance, was decorated with. Throws for a class without them. */
export function admissionPluginOptions(plugin: AdmissionHandler | AdmissionPluginClass): AdmissionPluginOptions {
  const type = typeof plugin === 'function' ? plugin : plugin.constructor;
  const options = optionsOf.get(type);
  if (!options) throw new Error(`${type.name} is not decorated with @AdmissionPlugin`);
  return options;
}

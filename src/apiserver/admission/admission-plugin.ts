import type { AdmissionPluginOptions } from './attributes.ts';

const optionsOf = new WeakMap<object, AdmissionPluginOptions>();

/** Marks a class as an admission plugin. Its `match` is compiled: `admit` and `validate` are called for nothing else. */
export function AdmissionPlugin(options: AdmissionPluginOptions): ClassDecorator {
  return (target) => {
    optionsOf.set(target, options);
  };
}

/** The options that a plugin's class was decorated with. Throws for a class without them. */
export function admissionPluginOptions(plugin: object): AdmissionPluginOptions {
  const options = optionsOf.get(plugin.constructor);
  if (!options) throw new Error(`${plugin.constructor.name} is not decorated with @AdmissionPlugin`);
  return options;
}

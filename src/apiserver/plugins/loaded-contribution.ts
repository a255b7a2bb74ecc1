import type { Container } from 'inversify';
import { type ContributionKind, type Described, describe } from './contribution.ts';
import { defaultGuard, type PluginGuard } from './guard-admission.ts';
import { newPlugin, type PluginClass } from './new-plugin.ts';

/** One class that is added to the server, ready to be made. */
export interface LoadedContribution {
  readonly described: Described;
  readonly guard: PluginGuard;
  /** Makes the instance, in the container of its package under that of the services. Throws an error that names the plugin. */
  make(services: Container): object;
}

/**
 * A class that is at hand, such as the one that a test is about; `configuration`: an instance of the class that its decorator
 * names, by default a new one. Throws for a class that is not decorated.
 */
export function contributionOf(type: PluginClass<object>, configuration?: object): LoadedContribution {
  const described = describe(type);
  if (!described) throw new Error(`${type.name} is not decorated as a plugin`);
  const { name, configuration: Configuration } = described.options;
  return {
    described,
    guard: defaultGuard,
    make: (services) => newPlugin(services, name, type, configuration ?? (Configuration && new Configuration())),
  };
}

/** Those that were decorated as the kind. */
export function contributionsOf(contributions: readonly LoadedContribution[], kind: ContributionKind): LoadedContribution[] {
  return contributions.filter(({ described }) => described.kind === kind);
}

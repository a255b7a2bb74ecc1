import type { Container } from 'inversify';
import { type ContributionKind, type Described, describe } from '#apiserver/base/contribution';
import type { Contribution } from './contribute.ts';
import { defaultGuard, type PluginGuard } from './guard-admission.ts';
import { newPlugin } from './new-plugin.ts';

/** One thing that is added to the server, ready to be made. */
export interface LoadedContribution {
  readonly described: Described;
  readonly guard: PluginGuard;
  /** Validated; undefined for one that takes none. */
  readonly configuration: object | undefined;
  /** Makes the instance of a class, in the container of its package under that of the services. Throws an error that names the plugin. */
  make(services: Container): object;
}

/** The instance of a class; a value is what it is. */
export function makeContribution(services: Container, contribution: Contribution, name: string, configuration?: object): object {
  return typeof contribution === 'function' ? newPlugin(services, name, contribution, configuration) : contribution;
}

/**
 * A contribution that is at hand, such as the one that a test is about; `configuration`: an instance of the class that its
 * decorator names, by default a new one. Throws for a class that is not decorated.
 */
export function contributionOf(contribution: Contribution, configuration?: object): LoadedContribution {
  const described = describe(contribution);
  if (!described) throw new Error(`${(contribution as { readonly name?: string }).name} is not decorated as a plugin`);
  const { name, configuration: Configuration } = described.options;
  const settings = configuration ?? (Configuration && new Configuration());
  return {
    described,
    guard: defaultGuard,
    configuration: settings,
    make: (services) => makeContribution(services, contribution, name, settings),
  };
}

/** Those that were decorated as the kind. */
export function contributionsOf(contributions: readonly LoadedContribution[], kind: ContributionKind): LoadedContribution[] {
  return contributions.filter(({ described }) => described.kind === kind);
}

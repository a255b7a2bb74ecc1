import type { Container } from 'inversify';
import { type ContributionKind, type Described, describe } from '#apiserver/base/contribution';
import type { Contribution } from './contribute.ts';
import { defaultGuard, type PluginGuard } from './guard-admission.ts';
import { newPlugin, type OwnBindings } from './new-plugin.ts';
import type { PluginOrigin } from './plugin-origin.ts';
import type { PluginPolicy } from './policy/plugin-policy.ts';

/** A contribution that is ready to be instantiated. */
export interface LoadedContribution {
  readonly described: Described;
  /** Undefined for a contribution without a package, as in tests. */
  readonly origin?: PluginOrigin | undefined;
  readonly guard: PluginGuard;
  /** Position of its package in the configuration; undefined for a contribution without a package. */
  readonly entry?: number | undefined;
  /** Policy of an admission plugin; undefined: every denial denies its request. */
  readonly policy?: PluginPolicy | undefined;
  /** Validated configuration; undefined if the contribution takes none. */
  readonly configuration: object | undefined;
  /**
   * Instantiates the class in its package's container, a child of the services' container. Throws an error that names the
   * plugin. `own`: further values by injection token, which only this contribution sees.
   */
  make(services: Container, own?: ReadonlyMap<symbol, object>): object;
  /**
   * Returns the members that depend on the configuration, for another configuration; undefined for a contribution that only a restart
   * configures again. Throws a ConfigurationError.
   */
  reconfigure?(configuration: unknown): Pick<LoadedContribution, 'configuration' | 'make'>;
}

/** Instantiates a class; returns a value unchanged. */
export function makeContribution(services: Container, contribution: Contribution, name: string, own: OwnBindings = {}): object {
  return typeof contribution === 'function' ? newPlugin(services, name, contribution, own) : contribution;
}

/**
 * Wraps a contribution without a package, for example for tests. `configuration` is an instance of the class that its
 * decorator names; default: a new one. Throws if the class is not decorated.
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
    make: (services, values) => makeContribution(services, contribution, name, { configuration: settings, values }),
  };
}

/** Returns the contributions of a kind. */
export function contributionsOf(contributions: readonly LoadedContribution[], kind: ContributionKind): LoadedContribution[] {
  return contributions.filter(({ described }) => described.kind === kind);
}

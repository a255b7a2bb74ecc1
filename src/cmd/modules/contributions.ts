import type { Container } from 'inversify';
import { Logger } from '#apiserver/base/logger';
import { Metrics } from '#apiserver/base/metrics/metrics';
import type { ContributionKind } from '#apiserver/base/contribution';
import { contributionsOf, type LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import { PluginFailures } from '#apiserver/plugins/plugin-failures';

/** Contributions of packages. */
export class Contributions {
  constructor(readonly all: readonly LoadedContribution[]) {}

  of(kind: ContributionKind): LoadedContribution[] {
    return contributionsOf(this.all, kind);
  }

  /** Creates the instances of a kind, each behind its guard. Throws an error that names a plugin which cannot be created. */
  make<T>(
    kind: ContributionKind,
    services: Container,
    guard: (made: T, contribution: LoadedContribution, failures: PluginFailures) => T,
  ): T[] {
    const failures = new PluginFailures(services.get<Logger>(Logger), services.get<Metrics>(Metrics));
    return this.of(kind).map((contribution) => guard(contribution.make(services) as T, contribution, failures));
  }
}

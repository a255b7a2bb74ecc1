import type { Container } from 'inversify';
import { Logger } from '#apiserver/base/logger';
import { Metrics } from '#apiserver/base/metrics/metrics';
import type { ContributionKind } from '#apiserver/base/contribution';
import { contributionsOf, type LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import { PluginFailures } from '#apiserver/plugins/plugin-failures';
import { type ContributionReport, reportOf } from '#apiserver/plugins/plugin-reports';
import { measureCalls, PluginUsage } from '#apiserver/plugins/plugin-usage';

/** Contributions of packages. */
export class Contributions {
  readonly usage = new PluginUsage();

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
    const failures = new PluginFailures(services.get<Logger>(Logger), services.get<Metrics>(Metrics), this.usage);
    return this.of(kind).map((contribution) => {
      const guarded = guard(contribution.make(services) as T, contribution, failures);
      const { described, origin } = contribution;
      measureCalls(guarded as object, kind, this.usage.of({ package: origin?.package, name: described.options.name }));
      return guarded;
    });
  }

  /** Returns a report on each contribution of a package, in their order. */
  reports(): ContributionReport[] {
    return this.all.filter(({ origin }) => origin).map((contribution) => reportOf(contribution, this.usage));
  }
}

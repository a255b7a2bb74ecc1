import type { Container } from 'inversify';
import { Logger } from '#apiserver/base/logger';
import { Metrics } from '#apiserver/base/metrics/metrics';
import type { ContributionKind } from '#apiserver/base/contribution';
import { contributionsOf, type LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import { PluginInstances } from '#apiserver/plugins/dispose-plugin';
import { PluginFailures } from '#apiserver/plugins/plugin-failures';
import { type ContributionReport, reportOf } from '#apiserver/plugins/plugin-reports';
import type { ExceptionObjects } from '#apiserver/plugins/policy/exception-objects';
import { measureCalls, PluginUsage } from '#apiserver/plugins/plugin-usage';

/** Contributions of packages. */
export class Contributions {
  readonly usage = new PluginUsage();
  /** Exceptions that are API objects; undefined until the admission plugins are created, and without their API. */
  exceptionObjects: ExceptionObjects | undefined;

  #all: readonly LoadedContribution[];
  #instances: PluginInstances | undefined;

  constructor(all: readonly LoadedContribution[]) {
    this.#all = all;
  }

  get all(): readonly LoadedContribution[] {
    return this.#all;
  }

  /** Replaces the contributions that have the kind and the name of one of these. */
  replace(changed: readonly LoadedContribution[]): void {
    this.#all = this.#all.map((before) => changed.find((next) => isSame(next, before)) ?? before);
  }

  /** Creates the counter and log of failures. */
  failures(services: Container): PluginFailures {
    return new PluginFailures(services.get<Logger>(Logger), services.get<Metrics>(Metrics), this.usage);
  }

  /** The instances that are in use; undefined until the first one is created. */
  get instances(): PluginInstances | undefined {
    return this.#instances;
  }

  /** Creates an instance, which `instances` disposes of. `own`: values that only this contribution sees. */
  instantiate(contribution: LoadedContribution, services: Container, own?: ReadonlyMap<symbol, object>): object {
    const { described, origin, guard } = contribution;
    const instance = contribution.make(services, own);
    this.#instances ??= new PluginInstances(this.failures(services));
    const plugin = { sort: sortOf(described.kind), name: described.options.name, package: origin?.package };
    this.#instances.add({ plugin, instance, origin, timeoutMs: guard.timeoutMs });
    return instance;
  }

  of(kind: ContributionKind): LoadedContribution[] {
    return contributionsOf(this.all, kind);
  }

  /** Creates the instances of a kind, each behind its guard. Throws an error that names a plugin which cannot be created. */
  make<T>(
    kind: ContributionKind,
    services: Container,
    guard: (made: T, contribution: LoadedContribution, failures: PluginFailures) => T,
  ): T[] {
    const failures = this.failures(services);
    return this.of(kind).map((contribution) => {
      const guarded = guard(this.instantiate(contribution, services) as T, contribution, failures);
      const { described, origin } = contribution;
      measureCalls(guarded as object, kind, this.usage.of({ package: origin?.package, name: described.options.name }));
      return guarded;
    });
  }

  /** Returns a report on each contribution of a package, in their order. */
  reports(): ContributionReport[] {
    return this.all.filter(({ origin }) => origin).map((contribution) => reportOf(contribution, this.usage, this.exceptionObjects));
  }
}

/** Returns the kind of a contribution as in a sentence: `admission plugin`, `audit backend`. */
function sortOf(kind: ContributionKind): string {
  const words = kind.replaceAll(/(?<=.)[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();
  return kind === 'AdmissionPlugin' ? words : words.replace(/ plugin$/, '');
}

function isSame({ described: one }: LoadedContribution, { described: other }: LoadedContribution): boolean {
  return one.kind === other.kind && one.options.name === other.options.name;
}

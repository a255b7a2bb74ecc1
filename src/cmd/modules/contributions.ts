import type { Container } from 'inversify';
import type { ContributionKind } from '#apiserver/base/contribution';
import { contributionsOf, type LoadedContribution } from '#apiserver/plugins/loaded-contribution';

/** What packages add to the server. */
export class Contributions {
  constructor(readonly all: readonly LoadedContribution[]) {}

  of(kind: ContributionKind): LoadedContribution[] {
    return contributionsOf(this.all, kind);
  }

  /** The instances of a kind, each behind its guard. Throws an error that names the plugin which cannot be made. */
  make<T>(kind: ContributionKind, services: Container, guard: (name: string, made: T, timeoutMs: number) => T): T[] {
    return this.of(kind).map(({ described, guard: { timeoutMs }, make }) => guard(described.options.name, make(services) as T, timeoutMs));
  }
}

import type { Container } from 'inversify';
import type { ContributionKind } from '#apiserver/base/contribution';
import { contributionsOf, type LoadedContribution } from '#apiserver/plugins/loaded-contribution';

/** Contributions of packages. */
export class Contributions {
  constructor(readonly all: readonly LoadedContribution[]) {}

  of(kind: ContributionKind): LoadedContribution[] {
    return contributionsOf(this.all, kind);
  }

  /** Creates the instances of a kind, each behind its guard. Throws an error that names a plugin which cannot be created. */
  make<T>(kind: ContributionKind, services: Container, guard: (name: string, made: T, timeoutMs: number) => T): T[] {
    return this.of(kind).map(({ described, guard: { timeoutMs }, make }) => guard(described.options.name, make(services) as T, timeoutMs));
  }
}

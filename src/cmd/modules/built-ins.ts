import { Inject, Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { type ContributionKind, describe } from '#apiserver/base/contribution';
import type { Contribution } from '#apiserver/plugins/contribute';

/** The server's own contributions, found among the values that modules provide: classes and values described as those of packages are. */
@Injectable()
export class BuiltIns {
  constructor(@Inject(DiscoveryService) private readonly discovery: DiscoveryService) {}

  /** Those of a kind by their names, in the order of the providers. */
  of(kind: ContributionKind): ReadonlyMap<string, Contribution> {
    const all = new Map<string, Contribution>();
    for (const { isNotMetatype, instance } of this.discovery.getProviders()) {
      const described = isNotMetatype && isDescribable(instance) ? describe(instance) : undefined;
      if (described?.kind === kind) all.set(described.options.name, instance as Contribution);
    }
    return all;
  }
}

function isDescribable(value: unknown): value is object {
  return typeof value === 'function' || (typeof value === 'object' && value !== null);
}

/** Providers of contributions, as BuiltIns finds them. */
export function contributionProviders(contributions: Iterable<Contribution>): { provide: symbol; useValue: Contribution }[] {
  return [...contributions].map((contribution) => ({ provide: Symbol(describe(contribution)?.options.name), useValue: contribution }));
}

import { Inject, Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { type ContributionKind, describe } from '#apiserver/base/contribution';
import type { Contribution } from '#apiserver/plugins/contribute';

/** The server's own contributions: classes and values that modules provide and that are described like those of packages. */
@Injectable()
export class BuiltIns {
  constructor(@Inject(DiscoveryService) private readonly discovery: DiscoveryService) {}

  /** Returns the contributions of a kind by name, in the order of the providers. */
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

/** Returns providers of contributions, which BuiltIns discovers. */
export function contributionProviders(contributions: Iterable<Contribution>): { provide: symbol; useValue: Contribution }[] {
  return [...contributions].map((contribution) => ({ provide: Symbol(describe(contribution)?.options.name), useValue: contribution }));
}

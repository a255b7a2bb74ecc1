import type { Attributes } from 'kubenest/sdk';
import { objectCountName, type QuotaEvaluator } from './evaluator.ts';
import { one, type QuotaAmounts } from './quota-amounts.ts';

/**
 * Counts objects of any resource, also under its legacy name if it has one. Upstream:
 * apiserver/pkg/quota/v1/generic/evaluator.go.
 */
export class ObjectCountEvaluator implements QuotaEvaluator {
  readonly #usage: QuotaAmounts;

  constructor(group: string, resource: string, alias?: string) {
    const names = [objectCountName(group, resource), ...(alias === undefined ? [] : [alias])];
    this.#usage = new Map(names.map((name) => [name, one]));
  }

  handles({ operation, subresource }: Attributes): boolean {
    return operation === 'CREATE' && subresource === '';
  }

  matchingResources(names: Iterable<string>): string[] {
    return [...names].filter((name) => this.#usage.has(name));
  }

  matchesScope(): boolean {
    return false;
  }

  usage(): QuotaAmounts {
    return this.#usage;
  }
}

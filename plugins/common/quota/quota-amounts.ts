import { Quantity } from 'kubenest/sdk';
import type { Amounts } from '../pod-resources.ts';

/** Immutable quantities by resource name. */
export type QuotaAmounts = ReadonlyMap<string, Quantity>;

export const one = Quantity.fromInteger(1);
export const zero = Quantity.fromInteger(0);

/** Returns the amounts of some names: those of a set, or of other amounts. */
export function mask(amounts: QuotaAmounts, names: { has(name: string): boolean }): Amounts {
  return new Map([...amounts].filter(([name]) => names.has(name)));
}

export function withoutZeros(amounts: QuotaAmounts): Amounts {
  return new Map([...amounts].filter(([, quantity]) => quantity.sign !== 0));
}

/** Returns the difference `amounts` - `before` for each name of either. */
export function growth(amounts: QuotaAmounts, before: QuotaAmounts): Amounts {
  const grown: Amounts = new Map();
  for (const name of new Set([...amounts.keys(), ...before.keys()])) {
    const difference = (amounts.get(name) ?? zero).sub(before.get(name) ?? zero);
    grown.set(name, difference.sign > 0 ? difference : zero);
  }
  return grown;
}

export function sum(a: QuotaAmounts, b: QuotaAmounts): Amounts {
  const total = new Map(a);
  for (const [name, quantity] of b) total.set(name, total.get(name)?.add(quantity) ?? quantity);
  return total;
}

export function areEqual(a: QuotaAmounts, b: QuotaAmounts): boolean {
  return a.size === b.size && [...a].every(([name, quantity]) => b.get(name)?.equals(quantity));
}

/** Returns the names whose amount exceeds the limit. */
export function exceeding(amounts: QuotaAmounts, limits: QuotaAmounts): Set<string> {
  const exceeded = new Set<string>();
  for (const [name, amount] of amounts) {
    const limit = limits.get(name);
    if (limit && amount.compare(limit) > 0) exceeded.add(name);
  }
  return exceeded;
}

/** Formats amounts: `cpu=1,memory=2Gi`. */
export function amountsText(amounts: QuotaAmounts): string {
  return [...amounts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, quantity]) => `${name}=${quantity}`)
    .join(',');
}

export function namesText(names: Iterable<string>): string {
  return [...names].sort().join(',');
}

import { type Quantity, QuantityParseError } from '#apimachinery/api/quantity';
import { hugePagesPrefix } from '#kubernetes/apis/core/resource-list';
import { quantityOf } from './checks.ts';

/** True if a quantity consists of whole pages of the size that the resource name states. */
export function isHugePageValueDivisible(name: string, quantity: Quantity): boolean {
  try {
    const pageSize = quantityOf(name.slice(hugePagesPrefix.length));
    return pageSize.sign > 0 && pageSize.isInteger() && quantity.value() % pageSize.value() === 0n;
  } catch (error) {
    if (error instanceof QuantityParseError) return false;
    throw error;
  }
}

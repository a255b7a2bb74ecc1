/** Returns the next generation as an int64, which wraps around after the maximum. */
export function nextGeneration(generation: number | undefined): number {
  const current = generation ?? 0;
  if (typeof current === 'number' && current < Number.MAX_SAFE_INTEGER) return current + 1;
  // An unsafe integer is a bigint at runtime, despite the type of its field.
  return BigInt.asIntN(64, BigInt(current) + 1n) as unknown as number;
}

/** Generation after a change, as int64 counts: behind the greatest comes the least. */
export function nextGeneration(generation: number | undefined): number {
  const current = generation ?? 0;
  if (typeof current === 'number' && current < Number.MAX_SAFE_INTEGER) return current + 1;
  // An integer that no double holds is a bigint, whatever the type of its field says.
  return BigInt.asIntN(64, BigInt(current) + 1n) as unknown as number;
}

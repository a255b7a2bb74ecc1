import { createHash } from 'node:crypto';

/**
 * Returns the hand of queues of a flow: distinct indices from 0 to `deckSize` - 1, always the same for the flow. Two flows
 * rarely have the same hand, so a flow that fills its queues leaves other flows some of theirs. Upstream:
 * apiserver/pkg/util/shufflesharding/dealer.go.
 */
export function dealHand(flow: string, deckSize: number, handSize: number): number[] {
  let hash = createHash('sha256').update(flow).digest().readBigUInt64LE();
  const remainders: number[] = [];
  for (let i = 0; i < handSize; i += 1) {
    const cards = BigInt(deckSize - i);
    remainders.push(Number(hash % cards));
    hash /= cards;
  }
  // Each remainder is an index among the remaining cards; it is shifted past those dealt before.
  return remainders.map((remainder, i) => {
    let card = remainder;
    for (let j = i; j > 0; j -= 1) if (card >= (remainders[j - 1] as number)) card += 1;
    return card;
  });
}

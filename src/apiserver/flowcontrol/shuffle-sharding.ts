import { createHash } from 'node:crypto';

/**
 * Deals a hand of queues to a flow, always the same one: two flows rarely have the same hand, so a flow that fills its queues
 * leaves others some of theirs. All different, from 0 to `deckSize` - 1. Upstream: apiserver/pkg/util/shufflesharding/dealer.go.
 */
export function dealHand(flow: string, deckSize: number, handSize: number): number[] {
  let hash = createHash('sha256').update(flow).digest().readBigUInt64LE();
  const remainders: number[] = [];
  for (let i = 0; i < handSize; i += 1) {
    const cards = BigInt(deckSize - i);
    remainders.push(Number(hash % cards));
    hash /= cards;
  }
  // A remainder counts the cards that are left: it is shifted beyond those that were dealt before.
  return remainders.map((remainder, i) => {
    let card = remainder;
    for (let j = i; j > 0; j -= 1) if (card >= (remainders[j - 1] as number)) card += 1;
    return card;
  });
}

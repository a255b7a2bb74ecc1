/**
 * Returns the indexes in the order of upstream's insertion sort, in which some items have no rank: such an item moves before all items
 * sorted so far. An item with a rank goes after the last item whose rank is not greater: `[5, none, 3, none, 4]` becomes `[none, 3, 4,
 * none, 5]`. The sort itself would take a minute for 100,000 items.
 */
export function insertionOrder(places: readonly (number | undefined)[]): number[] {
  const before = predecessors(places);
  /** The successor of each item; that of undefined is the first item. */
  const next = new Map<number | undefined, number | undefined>();
  places.forEach((_, index) => {
    const neighbour = before.get(index);
    next.set(index, next.get(neighbour));
    next.set(neighbour, index);
  });
  const order: number[] = [];
  for (let index = next.get(undefined); index !== undefined; index = next.get(index)) order.push(index);
  return order;
}

/**
 * Returns for each item with a rank the index of its predecessor: among the items up to it, the last one with the greatest rank that is not
 * greater.
 */
function predecessors(places: readonly (number | undefined)[]): Map<number, number> {
  const sorted = places.flatMap((place, index) => (place === undefined ? [] : [{ place, index }])).sort((a, b) => a.place - b.place);
  const previous = new Map<number, number | undefined>();
  const following = new Map<number | undefined, number>();
  sorted.forEach(({ index }, at) => {
    const last = sorted[at - 1]?.index;
    previous.set(index, last);
    following.set(last, index);
  });
  const found = new Map<number, number>();
  // From last to first, so that later items are already removed from the list.
  for (let index = places.length - 1; index >= 0; index -= 1) {
    if (places[index] === undefined) continue;
    const last = previous.get(index);
    if (last !== undefined) found.set(index, last);
    const after = following.get(index);
    if (after === undefined) following.delete(last);
    else {
      previous.set(after, last);
      following.set(last, after);
    }
  }
  return found;
}

/** An item of a roster, and where it stands; -1: no longer. */
export interface Place<T> {
  readonly item: T;
  at: number;
}

/**
 * What comes and goes with every request, in any order. No Set or Map: of those the engine makes a new table every few additions,
 * and an old table keeps its entries and the table after it. Once one has grown old, all that follow it, and every request that
 * was ever in one, stay until the next full collection: half of what a create leaves behind was that.
 */
export class Roster<T> implements Iterable<T> {
  readonly #places: Place<T>[] = [];

  get size(): number {
    return this.#places.length;
  }

  add(item: T): Place<T> {
    const place = { item, at: this.#places.length };
    this.#places.push(place);
    return place;
  }

  /** Nothing happens where it has been removed. */
  remove(place: Place<T>): void {
    if (place.at < 0) return;
    const last = this.#places.pop()!;
    if (last !== place) {
      this.#places[place.at] = last;
      last.at = place.at;
    }
    place.at = -1;
  }

  /** Those that are there now; they may be removed meanwhile. */
  *[Symbol.iterator](): Generator<T> {
    for (const { item } of this.#places.slice()) yield item;
  }

  /** Removes those that `leaves` says, and returns them. It must not change the roster. */
  removeWhere(leaves: (item: T) => boolean): T[] {
    const leaving = this.#places.filter(({ item }) => leaves(item));
    for (const place of leaving) this.remove(place);
    return leaving.map(({ item }) => item);
  }
}

/** An item of a roster with its index; -1 after its removal. */
export interface Place<T> {
  readonly item: T;
  at: number;
}

/**
 * A collection of items that are added and removed with every request, in any order. V8 reallocates the table of a Set or Map every
 * few additions, and an old table references its entries and its successor. Once one table is in old space, all later ones and
 * their entries survive until the next full collection; this was half of the memory retained by a create.
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

  /** Removes an item; does nothing if it was removed before. */
  remove(place: Place<T>): void {
    if (place.at < 0) return;
    const last = this.#places.pop()!;
    if (last !== place) {
      this.#places[place.at] = last;
      last.at = place.at;
    }
    place.at = -1;
  }

  /** Iterates over the current items, which may be removed meanwhile. */
  *[Symbol.iterator](): Generator<T> {
    for (const { item } of this.#places.slice()) yield item;
  }

  /** Removes the items for which `leaves` returns true, and returns them. `leaves` must not change the roster. */
  removeWhere(leaves: (item: T) => boolean): T[] {
    const leaving = this.#places.filter(({ item }) => leaves(item));
    for (const place of leaving) this.remove(place);
    return leaving.map(({ item }) => item);
  }
}

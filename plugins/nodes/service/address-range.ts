/** A range of IPv4 addresses. */
export class AddressRange {
  readonly #base: number;
  readonly #size: number;

  /** `prefix`: number of leading bits that the addresses share. */
  constructor(base: readonly [number, number, number, number], prefix: number) {
    this.#base = base.reduce((value, byte) => value * 256 + byte, 0);
    this.#size = 2 ** (32 - prefix);
  }

  /** Returns the wanted address if it is free, else the first free one after the first of the range; undefined if there is none. */
  free(taken: ReadonlySet<string>, wanted?: string): string | undefined {
    if (wanted) return taken.has(wanted) ? undefined : wanted;
    for (let at = 1; at < this.#size - 1; at++) {
      const value = this.#base + at;
      const address = [24, 16, 8, 0].map((bits) => Math.floor(value / 2 ** bits) % 256).join('.');
      if (!taken.has(address)) return address;
    }
    return undefined;
  }
}

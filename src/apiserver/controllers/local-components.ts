/** Components of a cluster whose controllers this server runs, or stands by to run: by the name of their lease. */
export class LocalComponents {
  readonly #leases = new Set<string>();

  add(lease: string): void {
    this.#leases.add(lease);
  }

  has(lease: string): boolean {
    return this.#leases.has(lease);
  }
}

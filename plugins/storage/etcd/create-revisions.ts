import type { Revision } from 'kubenest/sdk';

const maxKeys = 16_384;

/** LRU cache of the keys' create revisions, which responses to writes do not contain. */
export class CreateRevisions {
  readonly #known = new Map<string, { readonly revision: Revision; readonly createRevision: Revision }>();

  has(key: string): boolean {
    return this.#known.has(key);
  }

  /** Returns the create revision; undefined if the key is unknown at that revision. */
  of(key: string, revision: Revision): Revision | undefined {
    const known = this.#known.get(key);
    return known?.revision === revision ? known.createRevision : undefined;
  }

  /** Adds an entry unless a newer one exists. */
  set(key: string, revision: Revision, createRevision: Revision): void {
    const known = this.#known.get(key);
    if (known && known.revision > revision) return;
    this.#known.delete(key);
    this.#known.set(key, { revision, createRevision });
    if (this.#known.size > maxKeys) this.#known.delete(this.#known.keys().next().value as string);
  }

  delete(key: string): void {
    this.#known.delete(key);
  }
}

import type { Revision } from 'kubenest/sdk';

const maxKeys = 16_384;

/** When the keys that were lately seen were created: a write's answer does not tell. The longest unseen are forgotten. */
export class CreateRevisions {
  readonly #known = new Map<string, { readonly revision: Revision; readonly createRevision: Revision }>();

  has(key: string): boolean {
    return this.#known.has(key);
  }

  /** Undefined if the key is not known at that revision. */
  of(key: string, revision: Revision): Revision | undefined {
    const known = this.#known.get(key);
    return known?.revision === revision ? known.createRevision : undefined;
  }

  /** Older news than what is known is passed over. */
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

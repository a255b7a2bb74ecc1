import type { CachedObject } from './cached-object.ts';

/** Index of the current objects by one field, so that a list by `spec.nodeName=x` does not scan all pods. */
export class FieldIndex {
  readonly #field: string;
  readonly #byValue = new Map<string, Map<string, CachedObject>>();

  constructor(field: string, objects: Iterable<CachedObject>) {
    this.#field = field;
    for (const object of objects) this.replace(undefined, object);
  }

  /** Returns the objects with the value, in any order. */
  get(value: string): Iterable<CachedObject> {
    return this.#byValue.get(value)?.values() ?? [];
  }

  /** Replaces a state in the index. Unreadable objects have no fields and are not indexed. */
  replace(previous: CachedObject | undefined, object: CachedObject | undefined): void {
    const before = this.#valueOf(previous);
    const after = this.#valueOf(object);
    if (before !== undefined && before !== after) {
      const objects = this.#byValue.get(before);
      objects?.delete(previous!.key);
      if (objects?.size === 0) this.#byValue.delete(before);
    }
    if (after === undefined) return;
    let objects = this.#byValue.get(after);
    if (!objects) this.#byValue.set(after, (objects = new Map()));
    objects.set(object!.key, object!);
  }

  #valueOf(object: CachedObject | undefined): string | undefined {
    return object && !object.failure ? object.fields[this.#field] : undefined;
  }
}

import type { Encode, Revision, Storage } from 'kubenest/sdk';

export interface WriteToPerform {
  readonly verb: 'create' | 'update' | 'delete';
  readonly key: string;
  /** Expected revision of an update or a deletion. */
  readonly expected: Revision;
  readonly encode: Encode;
}

/** Performs a recorded write. Returns its revision. */
export function perform(storage: Storage, { verb, key, expected, encode }: WriteToPerform): Promise<{ readonly revision: Revision }> {
  switch (verb) {
    case 'create':
      return storage.create(key, encode);
    case 'update':
      return storage.update(key, expected, encode);
    case 'delete':
      return storage.delete(key, expected);
  }
}

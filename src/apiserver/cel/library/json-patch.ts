/** Escaping of keys in JSON pointers. Upstream: apiserver/pkg/cel/library/jsonpatch.go. */
import { func, global } from '../check/declarations.ts';
import { stringType } from '../check/types.ts';
import type { Library } from '../environment.ts';

export const jsonPatchLibrary: Library = {
  functions: [
    func(
      'jsonpatch.escapeKey',
      global('string_jsonpatch_escapeKey_string', [stringType], stringType, (key: string) =>
        key.replace(/[/~]/g, (char) => (char === '/' ? '~1' : '~0')),
      ),
    ),
  ],
};

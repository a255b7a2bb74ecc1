import { createJsonPatchSteps, type JsonPatchOperation } from '#apimachinery/patch/create-patch';
import { isJsonObject, type JsonObject } from '#apimachinery/patch/own-property';
import type { Steps } from '#apimachinery/runtime/steps';

/**
 * Returns the operations that make the changes from `before` to `after` in `sent`, the document of the review. `before` is the decoded form
 * of `sent`, which may have defaults that the cluster's version does not have: an operation below such a member adds the whole member.
 * Fields of `sent` that the decoder does not know stay.
 */
export function* reviewPatch(sent: JsonObject, before: unknown, after: unknown): Steps<JsonPatchOperation[]> {
  const added = new Set<string>();
  const operations: JsonPatchOperation[] = [];
  for (const operation of yield* createJsonPatchSteps(before, after)) {
    yield;
    const missing = missingParent(sent, operation.path);
    if (missing === undefined) operations.push(...present(sent, operation));
    else if (!added.has(missing)) {
      added.add(missing);
      operations.push({ op: 'add', path: missing, value: valueAt(after, missing) });
    }
  }
  return operations;
}

/** Adapts an operation on a member that only the decoded form has. */
function present(sent: JsonObject, operation: JsonPatchOperation): JsonPatchOperation[] {
  if (operation.op === 'add' || valueAt(sent, operation.path) !== undefined) return [operation];
  return operation.op === 'remove' ? [] : [{ ...operation, op: 'add' }];
}

/** Returns the path of the outermost parent that the document does not have; undefined if it has all. */
function missingParent(document: JsonObject, path: string): string | undefined {
  const tokens = path.split('/').slice(1, -1);
  let value: unknown = document;
  for (const [i, token] of tokens.entries()) {
    value = memberOf(value, token);
    if (value === undefined || value === null) return `/${tokens.slice(0, i + 1).join('/')}`;
  }
  return undefined;
}

function valueAt(document: unknown, path: string): unknown {
  return path
    .split('/')
    .slice(1)
    .reduce((value, token) => memberOf(value, token), document);
}

/** Returns a member by its token of a JSON pointer (RFC 6901). */
function memberOf(value: unknown, token: string): unknown {
  if (Array.isArray(value)) return value[Number(token)] as unknown;
  const name = token.replaceAll('~1', '/').replaceAll('~0', '~');
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

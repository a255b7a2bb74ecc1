import type { KubeObject, ObjectMeta } from '#apimachinery/meta/types';
import { applyJsonPatch as patched } from '#apimachinery/patch/json-patch';
import { isJsonObject, type JsonObject, setOwn } from '#apimachinery/patch/own-property';
import type { Attributes } from '#apiserver/admission/attributes';
import { type DeniedRequest, forbidden } from '#apiserver/admission/forbidden';
import { replaceObject } from '#apiserver/admission/replace-object';

/** Denies a request: the client receives 403 and `pods "web" is forbidden: message`. */
export function deny(request: DeniedRequest, message: string): never {
  throw forbidden(request, message);
}

/** Adds a warning to the response, which kubectl prints as `Warning: message`. */
export function warn(request: Pick<Attributes, 'addWarning'>, message: string): void {
  request.addWarning(message);
}

/** Returns the value of a label; undefined if the object has no such label. */
export function labelOf({ metadata: { labels } }: { readonly metadata: ObjectMeta }, key: string): string | undefined {
  return labels && Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/** Returns the value of an annotation; undefined if the object has no such annotation. */
export function annotationOf({ metadata: { annotations } }: { readonly metadata: ObjectMeta }, key: string): string | undefined {
  return annotations && Object.hasOwn(annotations, key) ? annotations[key] : undefined;
}

/** Sets labels; existing ones with other keys are kept. */
export function setLabels({ metadata }: { metadata: ObjectMeta }, labels: Readonly<Record<string, string>>): void {
  metadata.labels = { ...metadata.labels, ...labels };
}

/** Sets annotations; existing ones with other keys are kept. */
export function setAnnotations({ metadata }: { metadata: ObjectMeta }, annotations: Readonly<Record<string, string>>): void {
  metadata.annotations = { ...metadata.annotations, ...annotations };
}

/**
 * Applies the operations of an RFC 6902 patch to an object in place, as the API server applies patches of clients. Throws an Error if an
 * operation does not apply; the object is then unchanged. `createJsonPatch` makes a patch from two objects:
 *
 *     applyJsonPatch(object, createJsonPatch(before, after));
 */
export function applyJsonPatch(object: KubeObject, operations: readonly object[]): void {
  replaceObject(object, structuredClone(patched(object, operations)) as KubeObject);
}

/**
 * Sets absent members at any depth; existing ones are kept, lists as a whole:
 *
 *     setDefaults({ a: 1, b: { c: [1] } }, { a: 2, b: { c: [], d: 3 }, e: 4 })   ->   { a: 1, b: { c: [1], d: 3 }, e: 4 }
 *
 * Values are copied.
 */
export function setDefaults(object: object, defaults: object): void {
  const target = object as JsonObject;
  for (const [key, value] of Object.entries(defaults)) {
    const present = Object.hasOwn(target, key) ? target[key] : undefined;
    if (present === undefined) setOwn(target, key, structuredClone(value));
    else if (isJsonObject(present) && isJsonObject(value)) setDefaults(present, value);
  }
}

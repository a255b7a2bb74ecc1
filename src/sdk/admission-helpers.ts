import type { ObjectMeta } from '#apimachinery/meta/types';
import { isJsonObject, type JsonObject, setOwn } from '#apimachinery/patch/own-property';
import type { Attributes } from '#apiserver/admission/attributes';
import { forbidden } from '#apiserver/admission/forbidden';

/** Denies a request: the client gets 403 and `pods "web" is forbidden: message`. */
export function deny(request: Pick<Attributes, 'resource' | 'name' | 'object'>, message: string): never {
  throw forbidden(request, message);
}

/** Tells the client something with the answer, as `Warning: message` of kubectl. */
export function warn(request: Pick<Attributes, 'addWarning'>, message: string): void {
  request.addWarning(message);
}

/** Sets labels; those that are there with other names stay. */
export function setLabels({ metadata }: { metadata: ObjectMeta }, labels: Readonly<Record<string, string>>): void {
  metadata.labels = { ...metadata.labels, ...labels };
}

/** Sets annotations; those that are there with other names stay. */
export function setAnnotations({ metadata }: { metadata: ObjectMeta }, annotations: Readonly<Record<string, string>>): void {
  metadata.annotations = { ...metadata.annotations, ...annotations };
}

/**
 * Fills in what an object lacks, at any depth; what it says itself stays, lists as a whole:
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

import type { KubeObject } from '#apimachinery/meta/types';
import { deepEqual } from '#apimachinery/runtime/equality';
import { encodeJson, parseJson } from '#apimachinery/runtime/json/json';
import type { FieldSet } from './field-set.ts';
import type { Shape } from './shape.ts';
import { compare } from './compare.ts';
import { toFieldSet } from './owned-fields.ts';
import { validate } from './validate.ts';

export const lastAppliedConfigAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';
const maxAnnotationBytes = 256 * 1024;

function annotationsOf(object: KubeObject): Record<string, string> | undefined {
  const { annotations } = object.metadata ?? {};
  return typeof annotations === 'object' && annotations !== null ? annotations : undefined;
}

function lastApplied(object: KubeObject): string {
  const annotations = annotationsOf(object);
  const value = annotations && Object.hasOwn(annotations, lastAppliedConfigAnnotation) ? annotations[lastAppliedConfigAnnotation] : '';
  return typeof value === 'string' ? value : '';
}

/**
 * Returns the fields that kubectl's client-side apply set and that still have its values: kubectl's server-side apply may take them without
 * a conflict. Undefined if the annotation is absent, malformed or of another version.
 */
export function fieldsOfLastApplied(shape: Shape, groupVersion: string, live: KubeObject): FieldSet | undefined {
  const text = lastApplied(live);
  if (!text) return undefined;
  try {
    const applied = parseJson(Buffer.from(text)).value as KubeObject;
    if (applied?.apiVersion !== groupVersion) return undefined;
    validate(shape, applied);
    const fields = toFieldSet(shape, applied);
    const comparison = compare(shape, applied, live, { left: 'raw', right: 'typed' });
    return comparison ? fields.difference(comparison.modified).difference(comparison.added).difference(comparison.removed) : fields;
  } catch {
    // The annotation is client input: if it is malformed, conflicts remain.
    return undefined;
  }
}

/** Updates the annotation of client-side apply, so that kubectl can switch back to it. Returns the object itself if it has none. */
export function updateLastApplied(object: KubeObject, applied: KubeObject): KubeObject {
  if (!lastApplied(object)) return object;
  const annotations: Record<string, string> = { ...object.metadata.annotations, [lastAppliedConfigAnnotation]: buildLastApplied(applied) };
  let size = 0;
  for (const [key, value] of Object.entries(annotations)) size += Buffer.byteLength(key) + Buffer.byteLength(value);
  if (size > maxAnnotationBytes) delete annotations[lastAppliedConfigAnnotation];
  return deepEqual(annotations, object.metadata.annotations) ? object : { ...object, metadata: { ...object.metadata, annotations } };
}

/**
 * Returns the configuration without the annotation. Annotations that are not a map of strings, including null, are left out; an empty map
 * is kept.
 */
function buildLastApplied(applied: KubeObject): string {
  const annotations = annotationsOf(applied);
  const { annotations: _, ...metadata } = applied.metadata;
  if (!annotations) return `${encodeJson({ ...applied, metadata })}\n`;
  const others = Object.entries(annotations).filter(([key]) => key !== lastAppliedConfigAnnotation);
  const kept = Object.fromEntries(others.map(([key, value]) => [key, value ?? '']));
  return `${encodeJson({ ...applied, metadata: { ...metadata, annotations: kept } })}\n`;
}

import { compareUtf8 } from '#apimachinery/runtime/json/json';
import type { StructType } from '#apimachinery/runtime/schema';
import { type GroupVersionKind, groupVersionString, isGroupVersion, parseGroupVersion } from '#apimachinery/meta/types';

/** Returns the message of upstream's scheme for an unregistered kind. */
export function noKindRegistered(kind: string, apiVersion: string): string {
  return `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`;
}

/** Lookup of kinds beyond those of one endpoint: the part of upstream's runtime.Scheme that decoding needs. */
export interface KindLookup {
  /** True if any API of the server has the kind. */
  has(kind: GroupVersionKind): boolean;
  /** Returns the Go name of the internal type: `core.ConfigMap`. */
  internalName(kind: GroupVersionKind): string;
  /** Returns the type of a built-in kind of a resource. */
  typeOf(kind: GroupVersionKind): StructType | undefined;
}

/** Groups whose servers have schemes of their own upstream, without the kinds of other groups. */
const ownSchemes: ReadonlySet<string> = new Set(['apiextensions.k8s.io', 'apiregistration.k8s.io']);

/** True if upstream's scheme of a kind has another kind. */
export function isRegistered(kinds: KindLookup, kind: GroupVersionKind, beside: GroupVersionKind): boolean {
  const isShared = kind.group === beside.group || !(ownSchemes.has(kind.group) || ownSchemes.has(beside.group));
  return isShared && kinds.has(kind);
}

/** Returns the reason why an object of one kind cannot be converted to another. */
export function kindProblem(kinds: KindLookup, actual: GroupVersionKind, wanted: GroupVersionKind): string {
  if (!isRegistered(kinds, actual, wanted)) return noKindRegistered(actual.kind, groupVersionString(actual));
  return `converting (${actual.version}.${actual.kind}) to (${kinds.internalName(wanted)}): unknown conversion`;
}

/** Returns the reason why an object of a kind without a version cannot be converted to another kind. */
export function internalKindProblem(kinds: KindLookup, kind: string, wanted: GroupVersionKind): string {
  const actual = { ...wanted, kind };
  if (kinds.has(actual)) return `converting (${kinds.internalName(actual)}) to (${kinds.internalName(wanted)}): unknown conversion`;
  const group = JSON.stringify(wanted.group);
  return `no kind ${JSON.stringify(kind)} is registered for the internal version of group ${group} in scheme "pkg/runtime/scheme.go:111"`;
}

/**
 * Completes a document's kind with the expected one; an invalid apiVersion counts as missing. Upstream:
 * serializer/json (gvkWithDefaults).
 */
export function completeKind(apiVersion: string, kind: string, expected: GroupVersionKind): GroupVersionKind {
  if (apiVersion === '' || !isGroupVersion(apiVersion))
    return { group: expected.group, version: expected.version, kind: kind || expected.kind };
  return { ...parseGroupVersion(apiVersion), kind: kind || expected.kind };
}

const kindKey = /^[kK\u212a]ind$/iu;
const apiVersionKey = /^apiver[sS\u017f]ion$/iu;

/** Kind and apiVersion of a document, and Go's message if one of them has the wrong type. */
export interface FoundTypeMeta {
  readonly apiVersion: string;
  readonly kind: string;
  readonly problem: string | undefined;
}

/**
 * Returns apiVersion and kind as Go's JSON package reads them for the choice of a decoder: keys match in any case, and the last one counts.
 * `order`: `sorted` if the document was YAML, whose keys upstream sorts. Upstream: SimpleMetaFactory in
 * apimachinery/pkg/runtime/serializer/json/meta.go.
 */
export function foldedTypeMeta(raw: unknown, order: 'given' | 'sorted'): FoundTypeMeta {
  const found = { apiVersion: '', kind: '', problem: undefined as string | undefined };
  if (raw === null) return found;
  if (typeof raw !== 'object' || Array.isArray(raw)) {
    found.problem = `json: cannot unmarshal ${jsonTypeOf(raw)} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`;
    return found;
  }
  const keys: string[] = [];
  for (const key in raw) if (fieldOf(key)) keys.push(key);
  if (order === 'sorted') keys.sort(compareUtf8);
  for (const key of keys) {
    const field = fieldOf(key)!;
    const value = (raw as Readonly<Record<string, unknown>>)[key];
    if (typeof value === 'string') found[field] = value;
    else if (value !== null && value !== undefined)
      found.problem ??= `json: cannot unmarshal ${jsonTypeOf(value)} into Go struct field .${field} of type string`;
  }
  return found;
}

function fieldOf(key: string): 'apiVersion' | 'kind' | undefined {
  if (key.length === 4) return kindKey.test(key) ? 'kind' : undefined;
  return key.length === 10 && apiVersionKey.test(key) ? 'apiVersion' : undefined;
}

/**
 * Returns the message of Go's JSON package for an apiVersion or kind of the wrong type; undefined if they are valid or
 * missing.
 */
export function typeMetaProblem(raw: unknown): string | undefined {
  return foldedTypeMeta(raw, 'given').problem;
}

function jsonTypeOf(value: unknown): string {
  return Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
}

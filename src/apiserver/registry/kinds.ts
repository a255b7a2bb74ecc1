import { type GroupVersionKind, groupVersionString, parseGroupVersion } from '#apimachinery/meta/types';

/** What upstream's scheme says of a kind that it does not have. */
export function noKindRegistered(kind: string, apiVersion: string): string {
  return `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`;
}

/** What is known of kinds beyond an endpoint's own: upstream's runtime.Scheme as far as documents ask for it. */
export interface KindLookup {
  /** Whether any API of the server has this kind. */
  has(kind: GroupVersionKind): boolean;
  /** As Go names the internal type: `core.ConfigMap`. */
  internalName(kind: GroupVersionKind): string;
}

/** Why an object of one kind is none of another. */
export function kindProblem(kinds: KindLookup, said: GroupVersionKind, wanted: GroupVersionKind): string {
  if (!kinds.has(said)) return noKindRegistered(said.kind, groupVersionString(said));
  return `converting (${said.version}.${said.kind}) to (${kinds.internalName(wanted)}): unknown conversion`;
}

/** Upstream: apimachinery/pkg/runtime/schema/group_version.go (ParseGroupVersion). */
export function isGroupVersion(text: string): boolean {
  return text.split('/', 3).length < 3;
}

/** What a document leaves out is taken from what is expected, and a version that is none is none. Upstream: serializer/json (gvkWithDefaults). */
export function completeKind(apiVersion: string, kind: string, expected: GroupVersionKind): GroupVersionKind {
  if (apiVersion === '' || !isGroupVersion(apiVersion))
    return { group: expected.group, version: expected.version, kind: kind || expected.kind };
  return { ...parseGroupVersion(apiVersion), kind: kind || expected.kind };
}

/** What Go's JSON package says of a document whose version and kind cannot be told; undefined where they can, or are missing. */
export function typeMetaProblem(raw: unknown): string | undefined {
  if (raw === null) return undefined;
  if (typeof raw !== 'object' || Array.isArray(raw))
    return `json: cannot unmarshal ${jsonTypeOf(raw)} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`;
  for (const field of ['apiVersion', 'kind'] as const) {
    const value = (raw as Partial<Record<typeof field, unknown>>)[field];
    if (value !== undefined && value !== null && typeof value !== 'string')
      return `json: cannot unmarshal ${jsonTypeOf(value)} into Go struct field .${field} of type string`;
  }
  return undefined;
}

function jsonTypeOf(value: unknown): string {
  return Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
}

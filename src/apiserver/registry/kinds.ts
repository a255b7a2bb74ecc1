import { type GroupVersionKind, parseGroupVersion } from '#apimachinery/meta/types';

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

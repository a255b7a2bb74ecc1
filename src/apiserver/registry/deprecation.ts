/** The deprecation of a version of a resource. */
export interface Deprecation {
  readonly deprecationWarning?: string | undefined;
  readonly removedRelease?: string | undefined;
}

/**
 * Returns the deprecation of `group/version Kind` in one minor release, with its removal in another. Upstream:
 * apiserver/pkg/endpoints/deprecation, WarningMessage.
 */
export function deprecated(type: string, since: string, removedRelease: string, replacement?: string): Deprecation {
  const use = replacement === undefined ? '' : `; use ${replacement}`;
  return { deprecationWarning: `${type} is deprecated in v${since}+, unavailable in v${removedRelease}+${use}`, removedRelease };
}

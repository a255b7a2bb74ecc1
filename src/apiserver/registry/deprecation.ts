/** What a definition says of a version that is deprecated. */
export interface Deprecation {
  readonly deprecationWarning?: string | undefined;
  readonly removedRelease?: string | undefined;
}

/** Of `group/version Kind`, deprecated in one minor release and removed in another. Upstream: apiserver/pkg/endpoints/deprecation, WarningMessage. */
export function deprecated(type: string, since: string, removedRelease: string, replacement?: string): Deprecation {
  const use = replacement === undefined ? '' : `; use ${replacement}`;
  return { deprecationWarning: `${type} is deprecated in v${since}+, unavailable in v${removedRelease}+${use}`, removedRelease };
}

import type { ServerTraits } from '#apiserver/registry/resource-definition';

/** Capability of pods to have privileged containers and Windows host processes (`--allow-privileged`). */
export const privilegedContainers = 'PrivilegedContainers';

/** True if a gate that is off by default is on. */
export function isOptedIn({ isEnabled }: ServerTraits, feature: string): boolean {
  return isEnabled?.(feature) === true;
}

/** True if a gate that is on by default is off. */
export function isOptedOut({ isEnabled }: ServerTraits, feature: string): boolean {
  return isEnabled?.(feature) === false;
}

import type { ServerTraits } from '#apiserver/registry/resource-definition';

/** Capability of pods to have privileged containers and Windows host processes (`--allow-privileged`). */
export const privilegedContainers = 'PrivilegedContainers';

/** True if a gate that is off by default is on. */
export function isOptedIn({ isEnabled }: ServerTraits, feature: string): boolean {
  return isEnabled?.(feature) === true;
}

/** True if addresses and CIDRs of older fields must not be ambiguous: no leading zeros, no IPv4-mapped IPv6, no host bits. */
export function validatesStrictAddresses(server: ServerTraits): boolean {
  return !isOptedOut(server, 'StrictIPCIDRValidation');
}

/** True if a gate that is on by default is off. */
export function isOptedOut({ isEnabled }: ServerTraits, feature: string): boolean {
  return isEnabled?.(feature) === false;
}

/** Features that the flags of the server allow in pods. One set for the process, as upstream's pkg/capabilities. */
export interface Capabilities {
  /** `--allow-privileged` */
  readonly allowPrivileged: boolean;
  /** `--feature-gates`, for validation that runs without a request; undefined if all gates have their defaults. */
  readonly isEnabled?: ((feature: string) => boolean) | undefined;
}

let current: Capabilities = { allowPrivileged: false };

/** Sets the capabilities. It must be called once, before the first request. */
export function setCapabilities(capabilities: Capabilities): void {
  current = capabilities;
}

export function capabilities(): Capabilities {
  return current;
}

/** True if a gate that is off by default is on. */
export function isOptedIn(feature: string): boolean {
  return current.isEnabled?.(feature) === true;
}

/** True if a gate that is on by default is off. */
export function isOptedOut(feature: string): boolean {
  return current.isEnabled?.(feature) === false;
}

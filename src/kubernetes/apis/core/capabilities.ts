/** What the flags of the server allow pods. One set for the process, as upstream's pkg/capabilities. */
export interface Capabilities {
  /** `--allow-privileged` */
  readonly allowPrivileged: boolean;
  /** `--feature-gates`, for what is validated without a request; undefined: all are at their defaults. */
  readonly isEnabled?: ((feature: string) => boolean) | undefined;
}

let current: Capabilities = { allowPrivileged: false };

/** To be called once, before the first request. */
export function setCapabilities(capabilities: Capabilities): void {
  current = capabilities;
}

export function capabilities(): Capabilities {
  return current;
}

/** True if a gate is on that is off by default. */
export function isOptedIn(feature: string): boolean {
  return current.isEnabled?.(feature) === true;
}

/** True if a gate is off that is on by default. */
export function isOptedOut(feature: string): boolean {
  return current.isEnabled?.(feature) === false;
}

/** What the flags of the server allow pods. One set for the process, as upstream's pkg/capabilities. */
export interface Capabilities {
  /** `--allow-privileged` */
  readonly allowPrivileged: boolean;
}

let current: Capabilities = { allowPrivileged: false };

/** To be called once, before the first request. */
export function setCapabilities(capabilities: Capabilities): void {
  current = capabilities;
}

export function capabilities(): Capabilities {
  return current;
}

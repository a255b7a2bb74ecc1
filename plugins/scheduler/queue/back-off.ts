/** Delays before a pod that failed is tried again: the first, doubled up to the longest. */
export interface BackOff {
  readonly initialMs: number;
  readonly maxMs: number;
}

/** Upstream: pkg/scheduler/apis/config/v1/defaults.go. */
export const defaultBackOff: BackOff = { initialMs: 1_000, maxMs: 10_000 };

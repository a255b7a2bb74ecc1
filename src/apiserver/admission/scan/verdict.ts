/** Result of a policy for an object, in the words of policy reports. Upstream: openreports.io/v1alpha1 and wgpolicyk8s.io/v1alpha2. */
export type VerdictResult =
  /** The object complies. */
  | 'pass'
  /** The policy would deny the object. */
  | 'fail'
  /** The policy would admit the object with a warning or an audit annotation. */
  | 'warn'
  /** The policy could not be evaluated. */
  | 'error'
  /** An exception or exemption covers the object. */
  | 'skip';

/** Verdict of one policy on one object. */
export interface Verdict {
  /** Name of the policy; for a plugin that is a policy itself, its own name. */
  readonly policy: string;
  /** Part of the policy that decided: a binding, or a mode such as `enforce`. */
  readonly rule?: string;
  readonly result: VerdictResult;
  /** Reason; absent if the object complies. */
  readonly message?: string;
}

/** Receives the verdicts of a plugin in a scan of stored objects. */
export interface VerdictRecorder {
  record(verdict: Verdict): void;
  /** True if the policy has a verdict already, because it applies to CREATE: an evaluation for UPDATE can leave it out. */
  isKnown(policy: string): boolean;
  /** States that the plugin's policy does not apply to the object, so that it has no verdict. */
  recordNone(): void;
}

import type { KubeObject } from '#apimachinery/meta/types';
import type { Pace } from '#apimachinery/runtime/pace';

/** Operation of a write. Upstream: apiserver/pkg/admission/interfaces.go (Operation). */
export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** Attributes of one write that a verb passes to admission. */
export interface AdmissionCall {
  readonly operation: Operation;
  readonly namespace: string;
  readonly name: string;
  readonly object: KubeObject | undefined;
  readonly oldObject: KubeObject | undefined;
  readonly options: Readonly<Record<string, unknown>>;
  readonly dryRun: boolean;
  /** Pace of work on the larger object; undefined for small objects. */
  readonly pace?: Pace | undefined;
}

/** Admission of one request. The AdmissionInterceptor opens it; the verb calls it at upstream's two points. */
export interface AdmissionContext {
  /** Runs the mutating plugins. Returns undefined, not a promise, if none of them is asynchronous. */
  admit(call: AdmissionCall): void | Promise<void>;
  /** Runs the validating plugins. Returns undefined, not a promise, if none of them is asynchronous. */
  validate(call: AdmissionCall): void | Promise<void>;
}

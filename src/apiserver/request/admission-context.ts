import type { KubeObject } from '#apimachinery/meta/types';

/** Upstream: apiserver/pkg/admission/interfaces.go (Operation). */
export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** One write, as its verb describes it to admission. */
export interface AdmissionCall {
  readonly operation: Operation;
  readonly namespace: string;
  readonly name: string;
  readonly object: KubeObject | undefined;
  readonly oldObject: KubeObject | undefined;
  readonly options: Readonly<Record<string, unknown>>;
  readonly dryRun: boolean;
}

/** The admission of one request, opened by the AdmissionInterceptor and called by the verb at upstream's two points. */
export interface AdmissionContext {
  /** Runs the mutating plugins. Returns undefined, not a promise, if none of them is asynchronous. */
  admit(call: AdmissionCall): void | Promise<void>;
  /** Runs the validating plugins, likewise. */
  validate(call: AdmissionCall): void | Promise<void>;
}

import type { Operation } from '#apiserver/request/admission-context';
import type { GroupVersionKind, GroupVersionResource, KubeObject } from '#apimachinery/meta/types';
import type { ContributionOptions } from '#apiserver/base/contribution';
import type { PluginClass } from '#apiserver/base/contribution';
import type { ObjectForms } from './object-forms.ts';
import type { Reinvocation } from './reinvocation.ts';
import type { AdmissionTrace } from '#apiserver/request/request-trace';
import type { UserInfo } from '#apiserver/request/user-info';
import type { VerdictRecorder } from './scan/verdict.ts';

/** Attributes of a request for admission plugins. Upstream: apiserver/pkg/admission/interfaces.go. */
export interface Attributes<T extends KubeObject = KubeObject> {
  readonly operation: Operation;
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  /** Subresource; empty for the resource itself. */
  readonly subresource: string;
  /** Namespace; empty for cluster-scoped objects. For a namespace, its own name. */
  readonly namespace: string;
  /** Name; may be empty on create with a generateName. */
  readonly name: string;
  /** Object to be stored; `admit` may change it in place. Undefined for DELETE. */
  readonly object: T;
  /** Stored object, for UPDATE and DELETE; read-only. */
  readonly oldObject: T | undefined;
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions of the request. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly dryRun: boolean;
  readonly user: UserInfo;
  /** Conversions of the request's objects to other versions. */
  readonly forms: ObjectForms;
  readonly reinvocation: Reinvocation;
  /** Deadline in milliseconds of the monotonic clock; 0: none. */
  readonly deadline: number;
  /** Trace for notes that explain the verdict; undefined if the request is not traced. */
  readonly trace?: AdmissionTrace | undefined;
  /**
   * Recorder of verdicts by policy. It is set in scans of stored objects, which are not requests: a plugin that has several policies
   * records the verdict of each, and does not count them in metrics of requests.
   */
  readonly verdicts?: VerdictRecorder | undefined;
  /** Headers for calls to other services, which make them part of the same trace; undefined if the request is not sampled. */
  readonly traceHeaders?: Readonly<Record<string, string>> | undefined;
  /** Runs the work in a span of that name if the request is sampled. */
  within?<T>(name: string, attributes: readonly (readonly [key: string, value: string])[], work: () => T): T;
  /** Records a call to another service between two times of the monotonic clock, which does not count as the server's own latency. */
  waited?(from: number, to: number): void;
  /** Adds an annotation to the audit event; at level Request, only if the event contains the request body. */
  addAnnotation(key: string, value: string, level?: 'Metadata' | 'Request'): void;
  /** Adds a Warning header to the response. */
  addWarning(text: string): void;
}

/**
 * Requests that a plugin handles; groups, resources and subresources may be `*`. Without `subresources`, only the resource itself
 * matches.
 */
export interface AdmissionMatch {
  readonly groups?: readonly string[];
  readonly resources: readonly string[];
  readonly subresources?: readonly string[];
  readonly operations: readonly Operation[];
}

/** An admission plugin. It takes part in the phases whose methods it has; it denies by throwing a StatusError. */
export interface AdmissionHandler {
  admit?(request: Attributes): void | Promise<void>;
  validate?(request: Attributes): void | Promise<void>;
}

/** Class of an admission plugin, whose dependencies are injected by `@inject(Token)` on constructor parameters. */
export type AdmissionPluginClass = PluginClass<AdmissionHandler>;

export interface AdmissionPluginOptions extends ContributionOptions {
  readonly match: readonly AdmissionMatch[];
  /** Requests that each method handles, if these are only a part of `match`. */
  readonly matchByPhase?: Readonly<Record<'admit' | 'validate', readonly AdmissionMatch[]>>;
  /** Plugins before which this one runs. Without `before` and `after`, it runs before the policies and webhooks. */
  readonly before?: readonly string[];
  readonly after?: readonly string[];
}

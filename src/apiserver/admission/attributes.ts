import type { Operation } from '#apiserver/request/admission-context';
import type { GroupVersionKind, GroupVersionResource, KubeObject } from '#apimachinery/meta/types';
import type { ContributionOptions } from '#apiserver/base/contribution';
import type { PluginClass } from '#apiserver/base/contribution';
import type { ObjectForms } from './object-forms.ts';
import type { Reinvocation } from './reinvocation.ts';
import type { AdmissionTrace } from '#apiserver/request/request-trace';
import type { UserInfo } from '#apiserver/request/user-info';

/** What an admission plugin gets to see of a request. Upstream: apiserver/pkg/admission/interfaces.go. */
export interface Attributes<T extends KubeObject = KubeObject> {
  readonly operation: Operation;
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  /** Empty for the resource itself. */
  readonly subresource: string;
  /** Empty for cluster-scoped objects, and for a namespace the namespace itself. */
  readonly namespace: string;
  /** May be empty on create with a generateName. */
  readonly name: string;
  /** The object that is to be stored; `admit` may change it in place. undefined for DELETE. */
  readonly object: T;
  /** What is stored, for UPDATE and DELETE; never to be changed. */
  readonly oldObject: T | undefined;
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions of the request. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly dryRun: boolean;
  readonly user: UserInfo;
  /** How objects of this request look in other versions. */
  readonly forms: ObjectForms;
  readonly reinvocation: Reinvocation;
  /** Milliseconds of the monotonic clock after which nobody waits for the answer; 0: there is no such time. */
  readonly deadline: number;
  /** Of a request that is traced: where to tell what explains the verdict. */
  readonly trace?: AdmissionTrace | undefined;
  /** To be sent with what a plugin asks elsewhere for the request, which is a part of the same trace then; undefined where there is none. */
  readonly traceHeaders?: Readonly<Record<string, string>> | undefined;
  /** Does work that a collector of traces is told of under that name, if the request is sampled; without it, nobody is told. */
  within?<T>(name: string, attributes: readonly (readonly [key: string, value: string])[], work: () => T): T;
  /** Another service was asked between these times of the monotonic clock: that is none of the server's own latency. */
  waited?(from: number, to: number): void;
  /** Adds `key: value` to the audit event; at level Request, only to events that have the request's body, too. */
  addAnnotation(key: string, value: string, level?: 'Metadata' | 'Request'): void;
  /** Sends a Warning header to the client. */
  addWarning(text: string): void;
}

/** Which requests a plugin looks at; groups, resources and subresources may be `*`. Without `subresources`: the resource itself only. */
export interface AdmissionMatch {
  readonly groups?: readonly string[];
  readonly resources: readonly string[];
  readonly subresources?: readonly string[];
  readonly operations: readonly Operation[];
}

/** The phases of a plugin are the methods that it has. Throwing a StatusError denies. */
export interface AdmissionHandler {
  admit?(request: Attributes): void | Promise<void>;
  validate?(request: Attributes): void | Promise<void>;
}

/** What it needs it asks for with `@inject(Token)` on the parameters of its constructor. */
export type AdmissionPluginClass = PluginClass<AdmissionHandler>;

export interface AdmissionPluginOptions extends ContributionOptions {
  readonly match: readonly AdmissionMatch[];
  /** Names of plugins that run after, or before, this one; without both it stands before the policies and webhooks. */
  readonly before?: readonly string[];
  readonly after?: readonly string[];
}

import type { Status } from '#apimachinery/meta/types';
import type { AdmissionMatch } from '#apiserver/admission/attributes';
import type { Operation } from '#apiserver/request/admission-context';
import type { GroupResource, GroupVersionKind, GroupVersionResource } from '#apimachinery/meta/types';
import type { TraceNote } from '#apiserver/request/request-trace';
import type { UserInfo } from '#apiserver/request/user-info';
import type { PluginRequest } from '../plugin-request.ts';
import type { VerifiedFiles } from '../verified-modules.ts';

/*
 * Messages between the server and the worker thread of a plugin package. Objects are JSON texts, which keep the numbers of parsed JSON
 * (runtime/numbers.ts); structured clones do not.
 */

/** Package that the thread loads. */
export interface WorkerTask {
  readonly request: PluginRequest;
  readonly folder: string;
  /** Files of an unpacked archive whose integrity was verified. */
  readonly verified: VerifiedFiles | undefined;
}

/** An admission plugin of the thread. */
export interface IsolatedPlugin {
  readonly name: string;
  readonly file: string | undefined;
  readonly match: readonly AdmissionMatch[];
  readonly matchByPhase?: Readonly<Record<PhaseName, readonly AdmissionMatch[]>> | undefined;
  readonly before?: readonly string[] | undefined;
  readonly after?: readonly string[] | undefined;
  readonly phases: readonly PhaseName[];
}

export type PhaseName = 'admit' | 'validate';

/** Attributes of a request as plain data. */
export interface IsolatedAttributes {
  readonly operation: Operation;
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly object: string | undefined;
  readonly oldObject: string | undefined;
  readonly options: string;
  readonly dryRun: boolean;
  readonly user: UserInfo;
  readonly isReinvoke: boolean;
  readonly isTraced: boolean;
  readonly traceHeaders: Readonly<Record<string, string>> | undefined;
}

/** Methods of services that the thread calls, by service. */
export interface ServiceCall {
  readonly service: 'client' | 'authorizer';
  readonly method: string;
  /** The user of `client.asUser`. */
  readonly user?: UserInfo | undefined;
  /** Arguments as a JSON text. */
  readonly arguments: string;
}

/** An error as plain data. `status` is set for a StatusError, `notPlain` for an object that is not JSON. */
export interface IsolatedError {
  readonly message: string;
  readonly stack?: string | undefined;
  readonly status?: Status;
  readonly notPlain?: boolean;
}

/** A change of a resource that the thread follows. The objects come as ADDED first; `synced` follows when all were sent. */
export type FollowedEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly namespace: string; readonly name: string; readonly text: string }
  | { readonly type: 'restarted' | 'synced' };

export type ToWorker =
  | { readonly type: 'call'; readonly id: number; readonly plugin: string; readonly phase: PhaseName; readonly request: IsolatedAttributes }
  | { readonly type: 'ping' }
  | { readonly type: 'followed'; readonly resource: GroupResource; readonly event: FollowedEvent }
  | { readonly type: 'answer'; readonly id: number; readonly value?: string; readonly error?: IsolatedError }
  | { readonly type: 'shutdown' };

/** Effects of a call besides its outcome. */
export interface CallEffects {
  readonly warnings: readonly string[];
  readonly annotations: readonly (readonly [key: string, value: string, level: 'Metadata' | 'Request' | undefined])[];
  readonly notes: readonly TraceNote[];
}

export interface CallOutcome extends CallEffects {
  readonly type: 'done';
  readonly id: number;
  /** The object, if the plugin changed it. */
  readonly object?: string;
  /** A stand-in for a value that the plugin returned by mistake. */
  readonly returned?: unknown;
  readonly requiresReinvocation?: boolean;
  readonly error?: IsolatedError;
}

/** Values of one series of a metric. */
export interface MetricUpdate {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly options: {
    readonly name: string;
    readonly help: string;
    readonly labels?: readonly string[];
    readonly buckets?: readonly number[];
  };
  readonly method: 'inc' | 'set' | 'observe';
  readonly labels: Readonly<Record<string, string>>;
  readonly values: readonly number[];
}

export type FromWorker =
  | { readonly type: 'ready'; readonly plugins: readonly IsolatedPlugin[] }
  | { readonly type: 'refused'; readonly problems: readonly string[] }
  | { readonly type: 'pong' }
  | { readonly type: 'follow'; readonly resource: GroupResource }
  /** The thread has received so many characters of the resources that it follows. */
  | { readonly type: 'read'; readonly characters: number }
  /** The thread has received the answer to a call of a service. */
  | { readonly type: 'received'; readonly id: number }
  | CallOutcome
  | ({ readonly type: 'service'; readonly id: number } & ServiceCall)
  | { readonly type: 'log'; readonly level: 'info' | 'warn' | 'error'; readonly fields: object; readonly message: string }
  | { readonly type: 'metrics'; readonly updates: readonly MetricUpdate[] }
  | { readonly type: 'stray'; readonly kind: 'uncaughtException' | 'unhandledRejection'; readonly error: IsolatedError };

import { type ContributionOptions, describes, type PluginClass } from '#apiserver/base/contribution';
import type { EventForm } from './event-form.ts';
import type { GroupResource, GroupVersionKind, GroupVersionResource, KubeObject } from '#apimachinery/meta/types';
import type { OfType } from '#apiserver/registry/kind';

/** Object to reconcile. It may not exist (any more). */
export interface ReconcileRequest {
  /** Empty for a cluster-scoped object. */
  readonly namespace: string;
  readonly name: string;
}

/** Outcome of a reconcile that succeeded. */
export interface ReconcileResult {
  /** Reconcile the object again after this time, in milliseconds. */
  readonly requeueAfterMs?: number;
  /** Reconcile the object again with the growing delay of a failure, without an error in the log. */
  readonly requeue?: boolean;
}

export interface ReconcileContext {
  /** Aborts when the reconcile exceeds its timeout, when the server stops, and when another server takes over. */
  readonly signal: AbortSignal;
  /** Number of failures of this object since its last success. */
  readonly retries: number;
}

/** A resource and the kind of its objects. */
export interface ControlledResource extends GroupVersionResource, GroupVersionKind {
  readonly isClusterScoped?: boolean;
}

/** Permission of a controller's user, as in a ClusterRole. */
export interface ControllerRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

export interface ControllerOptions<T extends KubeObject = KubeObject> extends ContributionOptions {
  /**
   * Resource whose objects are reconciled: each change of an object adds it to the queue. A kind (`Pod`) gives `filter` the type of its
   * objects.
   */
  readonly for?: ControlledResource & OfType<T>;
  /** True for the changes of objects of `for` that matter; `old` is undefined for new and deleted objects. Default: all. */
  filter?(object: T, old: T | undefined): boolean;
  /** Resources whose objects are controlled by objects of `for`: their changes add the controlling object. */
  readonly owns?: readonly GroupResource[];
  /** Name of a feature without which it does not run. */
  readonly featureGate?: string;
  /** Number of objects reconciled at a time. Default: 1. */
  readonly concurrency?: number;
  /** Time after which a reconcile counts as failed, in milliseconds. Default: 60,000. */
  readonly timeoutMs?: number;
  /** Delay after the first failure of an object, which each further one doubles, in milliseconds. Default: 5. */
  readonly minBackoffMs?: number;
  /** Longest delay between attempts at an object that fails, in milliseconds. Default: 1,000,000. */
  readonly maxBackoffMs?: number;
  /**
   * Name of the Lease in kube-system whose holder runs the controller; controllers with the same one run together. Default:
   * `kubenest-controllers`.
   */
  readonly lease?: string;
  /** Service account in kube-system as which it acts. Default: its name. */
  readonly serviceAccount?: string;
  /** Name of the component in its events. Default: its name. */
  readonly component?: string;
  /** Form of its events. Default: `events.k8s.io`. */
  readonly events?: EventForm;
  /** First part of the User-Agent of its requests, and thus its field manager. Default: the name of the controller. */
  readonly userAgent?: string;
  /**
   * Permissions of the controller's user. The server writes them as the ClusterRole
   * `kubenest:controller:NAME` with its binding, and adds that to write events. Omitted: a package's controller may only write events.
   */
  readonly rules?: readonly ControllerRule[];
}

/**
 * A controller: it has `reconcile`, `run`, or methods with `@Schedule`. Upstream: controller-runtime/pkg/reconcile; controller-manager's
 * controllers for `run`.
 */
export interface Reconciler {
  /**
   * Brings the cluster closer to the desired state of the object. It is called again after an error, with a growing delay, and never twice
   * at the same time for one object.
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: a method may return a result on some paths and nothing on others
  reconcile?(request: ReconcileRequest, context: ReconcileContext): Promise<ReconcileResult | void>;
  /** Runs once the informers are synced, for work that does not belong to single objects. Resolves when the signal aborts, or earlier. */
  run?(signal: AbortSignal): Promise<void> | void;
}

/** The class of a controller. `object` permits one that has only schedules. */
export type ControllerClass = PluginClass<Reconciler & object>;

/** Returns the requests that follow from a change; `old` is undefined for new and deleted objects. */
export type RequestMapper<T extends KubeObject = KubeObject> = (object: T, old: T | undefined) => Iterable<ReconcileRequest>;

/** A method that maps changes of another resource to requests. */
export interface WatchedResource {
  readonly resource: GroupResource;
  readonly method: string;
}

const watched = Symbol.for('kubenest.controller.watches');

/** Declares a class as a controller. */
export function Controller<T extends KubeObject = KubeObject>(options: ControllerOptions<T>): (type: ControllerClass) => void {
  return describes('Controller', options);
}

/** Calls the method, a RequestMapper, for each change of the resource and adds the requests that it returns to the queue. */
export function Watches(resource: GroupResource): MethodDecorator {
  return (target, method) => {
    const own: WatchedResource[] = Object.hasOwn(target, watched)
      ? (target as Watching)[watched]
      : [...((target as Watching)[watched] ?? [])];
    own.push({ resource, method: method as string });
    Object.defineProperty(target, watched, { value: own, configurable: true });
  };
}

/** A filter for changes of the specification: the status and metadata do not matter. Upstream: predicate.GenerationChangedPredicate. */
export function generationChanged(object: KubeObject, old: KubeObject | undefined): boolean {
  return object.metadata.generation !== old?.metadata.generation;
}

interface Watching {
  [watched]: WatchedResource[];
}

/** Returns the resources that the methods of a controller watch. */
export function watchesOf(controller: object): readonly WatchedResource[] {
  return (controller as Partial<Watching>)[watched] ?? [];
}

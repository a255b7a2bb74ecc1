import type { GroupResource, KubeObject } from '#apimachinery/meta/types';
import { deepFreeze } from '#apimachinery/runtime/deep-freeze';
import type { IndexFunction, ObjectHandler, SharedInformer, SharedInformers } from '#apiserver/controllers/shared-informer';
import { type PluginOrigin, runnerInContext } from './plugin-origin.ts';

/** Reports a failure of a function that the controller of a package has passed, with its description. */
export type OnFault = (what: string, error: unknown) => void;

/**
 * The shared informers of the controllers, as the controller of a package gets them: objects are frozen, because they are those of all
 * controllers and of the server; errors of its handlers and index functions are its own; and its indexes have names of their own.
 */
export class PackageSharedInformers implements SharedInformers {
  readonly #informers: SharedInformers;
  readonly #origin: PluginOrigin;
  /** Prefix of the names of its indexes in the shared informers. */
  readonly #prefix: string;
  readonly #onFault: OnFault;
  /** The informers of the controller by resource: it may take one in each reconcile. */
  readonly #own = new Map<SharedInformer, SharedInformer>();

  constructor(informers: SharedInformers, origin: PluginOrigin, controller: string, onFault: OnFault) {
    this.#informers = informers;
    this.#origin = origin;
    this.#prefix = `${origin.package} ${controller} `;
    this.#onFault = onFault;
  }

  for<T extends KubeObject = KubeObject>(resource: GroupResource): SharedInformer<T> {
    const informer = this.#informers.for<T>(resource);
    const known = this.#own.get(informer as unknown as SharedInformer) as SharedInformer<T> | undefined;
    if (known) return known;
    const own = this.#guarded(resource, informer);
    this.#own.set(informer as unknown as SharedInformer, own as unknown as SharedInformer);
    return own;
  }

  #guarded<T extends KubeObject>(resource: GroupResource, informer: SharedInformer<T>): SharedInformer<T> {
    const run = runnerInContext(this.#origin);
    /** Calls a function of the package. Returns undefined if it fails. */
    const call = <R>(what: string, work: () => R): R | undefined => {
      try {
        return run(work);
      } catch (error) {
        this.#onFault(`${what} of ${resource.resource}`, error);
        return undefined;
      }
    };
    const own = new Set<string>();
    const nameOf = (index: string): string => (own.has(index) ? this.#prefix + index : index);
    const handle = (handler: ObjectHandler<T>): Disposable =>
      informer.handle({
        added: (object) => call('handler `added`', () => handler.added?.(deepFreeze(object))),
        updated: (object, old) => call('handler `updated`', () => handler.updated?.(deepFreeze(object), deepFreeze(old))),
        deleted: (object) => call('handler `deleted`', () => handler.deleted?.(deepFreeze(object))),
      });
    return {
      synced: informer.synced,
      get: (namespace, name) => deepFreeze(informer.get(namespace, name)),
      list: (namespace) => informer.list(namespace).map(deepFreeze),
      byIndex: (index, value) => informer.byIndex(nameOf(index), value).map(deepFreeze),
      addIndex: (index, of) => {
        own.add(index);
        informer.addIndex(nameOf(index), (object) => call(`index "${index}"`, () => valuesOf(of, deepFreeze(object))) ?? []);
      },
      handle,
      subscribe: (listener) =>
        handle({
          added: (object) => listener('ADDED', object),
          updated: (object) => listener('MODIFIED', object),
          deleted: (object) => listener('DELETED', object),
        }),
    };
  }
}

/** Returns the values of an object in an index. Throws unless they are texts. */
function valuesOf<T extends KubeObject>(of: IndexFunction<T>, object: T): readonly string[] {
  const values: unknown = of(object);
  if (!Array.isArray(values) || values.some((value) => typeof value !== 'string')) throw new Error('it returned no list of texts');
  return [...(values as string[])];
}

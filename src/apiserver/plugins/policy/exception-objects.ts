import type { Logger } from '#apiserver/base/logger';
import type { Informer, Informers } from '#apiserver/registry/informers';
import { type ExceptionObject, exceptionGroup, exceptionKinds } from './exception-group.ts';
import { PolicyException } from './policy-exception.ts';

/** A stored exception in its compiled form. */
export interface CompiledObject {
  readonly object: ExceptionObject;
  readonly exception: PolicyException;
}

/**
 * The exceptions that are API objects, compiled as they change. An informer feeds it, so that they apply to the next request.
 *
 *     PolicyException shop/web, spec.plugins [TeamLabels]         of('TeamLabels') -> [web, ci]
 *     ClusterPolicyException ci, spec.plugins [TeamLabels, Probes] of('Probes')     -> [ci]
 */
export class ExceptionObjects implements Disposable {
  readonly #kinds: readonly KindOfExceptions[];
  /** Derived from `#kinds`; cleared by each change. */
  readonly #byPlugin = new Map<string, readonly PolicyException[]>();

  constructor(informers: Informers, logger: Logger) {
    const changed = (): void => this.#byPlugin.clear();
    this.#kinds = exceptionKinds.map(
      ({ resource }) => new KindOfExceptions(informers.for<ExceptionObject>({ group: exceptionGroup.group, resource }), logger, changed),
    );
  }

  /** All exceptions. */
  get all(): CompiledObject[] {
    return this.#kinds.flatMap(({ objects }) => [...objects.keys()].sort().map((key) => objects.get(key) as CompiledObject));
  }

  /**
   * Returns the exceptions that name an admission plugin, those of namespaces first, by name: of several that cover a request, the first
   * replaces the call and is counted, on all servers and after each start.
   */
  of(plugin: string): readonly PolicyException[] {
    let found = this.#byPlugin.get(plugin);
    if (!found) {
      found = this.all.filter(({ object }) => object.spec.plugins.includes(plugin)).map(({ exception }) => exception);
      this.#byPlugin.set(plugin, found);
    }
    return found;
  }

  [Symbol.dispose](): void {
    for (const kind of this.#kinds) kind[Symbol.dispose]();
  }
}

class KindOfExceptions implements Disposable {
  /** The compiled objects by namespace and name. */
  objects = new Map<string, CompiledObject>();
  /** The objects since the last interruption of the informer, until it has sent all of them. */
  #next: Map<string, CompiledObject> | undefined;
  readonly #subscription: Disposable;

  constructor(
    informer: Informer<ExceptionObject>,
    private readonly logger: Logger,
    private readonly changed: () => void,
  ) {
    this.#subscription = informer.subscribe((type, object) => this.#receive(type, object), {
      restarted: () => {
        this.#next = new Map();
      },
      synced: () => {
        if (this.#next) this.objects = this.#next;
        this.#next = undefined;
        this.changed();
      },
    });
  }

  #receive(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: ExceptionObject): void {
    const { namespace = '', name = '' } = object.metadata;
    const key = `${namespace}/${name}`;
    const compiled = type === 'DELETED' ? undefined : this.#compiled(object, this.objects.get(key));
    for (const objects of [this.objects, this.#next]) {
      if (compiled) objects?.set(key, compiled);
      else objects?.delete(key);
    }
    this.changed();
  }

  /** Keeps the compiled form, with its counter, if only the metadata or the status changed. Undefined for one that is invalid. */
  #compiled(object: ExceptionObject, before: CompiledObject | undefined): CompiledObject | undefined {
    const { kind, metadata, spec } = object;
    const { namespace = '', name = '', uid, generation } = metadata;
    const old = before?.object.metadata;
    if (before && uid === old?.uid && generation === old?.generation) return { object, exception: before.exception };
    try {
      return { object, exception: new PolicyException(spec, { kind, namespace, name }) };
    } catch (error) {
      // Written to the store by other means than the API, which validates exceptions.
      this.logger.error({ kind, namespace, name, err: error }, 'an exception of admission plugins is invalid and does not apply');
      return undefined;
    }
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }
}

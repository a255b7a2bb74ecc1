import { isPromise } from 'node:util/types';
import { newInternalError, newTimeoutError } from '#apimachinery/api/errors';
import type { KubeObject } from '#apimachinery/meta/types';
import { isJsonObject } from '#apimachinery/patch/own-property';
import { deepCopy } from '#apimachinery/runtime/copy';
import { deepFreeze } from '#apimachinery/runtime/deep-freeze';
import { isNumber } from '#apimachinery/runtime/numbers';
import { plainCopySteps } from '#apimachinery/runtime/plain-data';
import { TooManyErrors } from '#apimachinery/validation/field';
import { isPause } from '#apimachinery/validation/pausing';
import { atOnce } from '#apimachinery/runtime/steps';
import type {
  ContributedAction,
  ContributedFields,
  ContributedGroupOptions,
  ContributedResource,
} from '#apiserver/registry/contributed-group';
import type { Column, Strategy } from '#apiserver/registry/resource-definition';
import type { Guarded } from './guard-access.ts';
import { type PluginFailures, type PluginName, pluginSubject, reasonOf } from './plugin-failures.ts';
import { type RunPlugin, runnerOf } from './plugin-origin.ts';
import { errorOf } from './error-of.ts';
import { denialOf } from './thrown.ts';
import { TimeoutError, within } from './within.ts';

/** Cell of a column whose function failed. */
const failedCell = '<error>';
/** Minimum time between two records of failed columns, because a list has many rows. */
const columnRecordMs = 1_000;

/**
 * Isolates the functions of a package's API group. If one throws anything but a Status error, or returns a value of the wrong form, the
 * client gets an InternalError that names the package; in a table, the cell shows it. The duration of POST handlers is limited: after the
 * timeout the client gets an error that states the unknown outcome.
 */
export function guardActions(options: ContributedGroupOptions, contribution: Guarded, failures: PluginFailures): ContributedGroupOptions {
  return new GroupGuard(contribution, failures).group(options);
}

class GroupGuard {
  readonly #plugin: PluginName;
  readonly #timeoutMs: number;
  readonly #run: RunPlugin;
  #columnRecordedAt = -Infinity;

  constructor(
    { described, guard, origin }: Guarded,
    private readonly failures: PluginFailures,
  ) {
    this.#plugin = { sort: 'API group', name: described.options.name, package: origin?.package };
    this.#timeoutMs = guard.timeoutMs;
    this.#run = runnerOf(origin);
  }

  group(options: ContributedGroupOptions): ContributedGroupOptions {
    return { ...options, resources: options.resources.map((resource) => this.#resource(resource)) };
  }

  #resource(resource: ContributedResource): ContributedResource {
    const { create, read, convert, strategy, status, subresources, columns, kind } = resource;
    return {
      ...resource,
      ...(create && { create: this.#handler(kind, create.bind(resource)) }),
      ...(read && { read: this.#reader(kind, read.bind(resource)) }),
      ...(convert && { convert: (object, apiVersion) => this.#plain('convert', () => convert.call(resource, object, apiVersion)) }),
      ...(strategy && { strategy: this.#strategy(strategy) }),
      ...(typeof status === 'object' && { status: this.#strategy(status) }),
      ...(columns && { columns: columns.map((column) => this.#column(column)) }),
      ...(subresources && {
        subresources: Object.fromEntries(Object.entries(subresources).map(([name, one]) => [name, this.#subresource(one)])),
      }),
    };
  }

  #subresource(one: ContributedFields | ContributedAction): ContributedFields | ContributedAction {
    if ('create' in one) return { ...one, create: this.#handler(one.kind, one.create.bind(one)) };
    return one.strategy ? { ...one, strategy: this.#strategy(one.strategy) } : one;
  }

  /** Guards a POST handler, whose response must be an object of the kind. */
  #handler<A extends unknown[]>(kind: string, work: (...args: A) => KubeObject | Promise<KubeObject>) {
    const checked = (answer: KubeObject): KubeObject => {
      const plain = this.#plain('create', () => answer);
      if (plain.kind === kind) return plain;
      return this.#fail('create', new TypeError(`create returned kind ${String(plain.kind)}, expected ${kind}`), 'return');
    };
    return (...args: A): KubeObject | Promise<KubeObject> => {
      const answer = this.#guarded('create', () => work(...args));
      if (!isPromise(answer)) return checked(answer);
      return within(answer, this.#timeoutMs)
        .catch((error: unknown) => this.#late(error))
        .then(checked);
    };
  }

  /** Guards the function of a virtual resource, which must return objects of the kind. */
  #reader(kind: string, read: NonNullable<ContributedResource['read']>): NonNullable<ContributedResource['read']> {
    const checked = (objects: readonly KubeObject[]): readonly KubeObject[] => {
      if (!Array.isArray(objects)) return this.#fail('read', new TypeError(`read returned ${typeof objects}, expected a list`), 'return');
      return objects.map((object: KubeObject) => {
        const plain = this.#plain('read', () => object);
        if (plain.kind === kind) return plain;
        return this.#fail('read', new TypeError(`read returned kind ${String(plain.kind)}, expected ${kind}`), 'return');
      });
    };
    return (namespace, name) => {
      const answer = this.#guarded('read', () => read(namespace, name));
      if (!isPromise(answer)) return checked(answer);
      return within(answer, this.#timeoutMs)
        .catch((error: unknown) => this.#late(error, 'read'))
        .then(checked);
    };
  }

  #late(error: unknown, method = 'create'): never {
    if (!(error instanceof TimeoutError)) return this.#fail(method, error);
    this.failures.record(this.#plugin, 'timeout', error);
    throw newTimeoutError(`${pluginSubject(this.#plugin)} gave ${error.message}`, 0);
  }

  /**
   * Guards all methods of a strategy, inherited ones included. Objects that they change must be plain data; all other objects are copies,
   * so that for example `validate` cannot change the stored object.
   */
  #strategy(strategy: Strategy): Strategy {
    const guarded: Record<string, unknown> = { ...strategy };
    const done = new Set(['constructor']);
    for (let from: object | null = strategy; from && from !== Object.prototype; from = Object.getPrototypeOf(from) as object | null) {
      for (const name of Object.getOwnPropertyNames(from)) {
        const method: unknown = (strategy as Readonly<Record<string, unknown>>)[name];
        if (typeof method !== 'function' || done.has(name)) continue;
        done.add(name);
        guarded[name] = (...args: unknown[]): unknown => {
          const object = changesObject.has(name) ? (args[0] as KubeObject) : undefined;
          const before = object && identityOf(object);
          const given = args.map((argument) => (argument !== object && isObject(argument) ? deepCopy(argument) : argument));
          const returned: unknown = this.#guarded(name, () => Reflect.apply(method, strategy, given));
          if (isPromise(returned)) {
            // Its error, if any, adds nothing.
            returned.catch(() => {});
            return this.#fail(name, new TypeError(`${name} returned a promise, for which the server does not wait`), 'return');
          }
          if (object && identityOf(this.#plain(name, () => object)) !== before)
            return this.#fail(name, new TypeError(`${name} changed the identity of the object`), 'identity');
          const isItem = listItems[name];
          if (isItem && returned !== undefined && !(Array.isArray(returned) && returned.every(isItem)))
            return this.#fail(
              name,
              new TypeError(`${name} returned no list of ${isItem === isText ? 'strings' : 'field errors'}`),
              'return',
            );
          return returned;
        };
      }
    }
    return guarded;
  }

  #column(column: Column): Column {
    return {
      ...column,
      value: (object, context) => {
        try {
          return cellOf(this.#run(() => column.value(deepFreeze(object), context)));
        } catch (error) {
          const now = performance.now();
          if (now - this.#columnRecordedAt > columnRecordMs)
            this.failures.record(this.#plugin, reasonOf(error), error, { column: column.name });
          this.#columnRecordedAt = now;
          return failedCell;
        }
      },
    };
  }

  #guarded<T>(method: string, work: () => T): T {
    try {
      return this.#run(work);
    } catch (error) {
      return this.#fail(method, error);
    }
  }

  /** Returns a copy of the object that a function created, as plain data. */
  #plain(method: string, made: () => KubeObject): KubeObject {
    return this.#guarded(method, () => {
      const object: unknown = made();
      if (!isJsonObject(object) || !isJsonObject(object['metadata'])) throw new TypeError(`${method} left no object with metadata`);
      return atOnce(plainCopySteps(object)) as unknown as KubeObject;
    });
  }

  #fail(method: string, thrown: unknown, reason = reasonOf(thrown)): never {
    const error = errorOf(thrown);
    const refusal = isControl(error) ? error : denialOf(error);
    if (refusal) throw refusal;
    this.failures.record(this.#plugin, reason, error, { method });
    throw newInternalError(new Error(`${pluginSubject(this.#plugin)} failed in \`${method}\``));
  }
}

/** Returns the members of an object that its functions must not change. */
function identityOf({ apiVersion, kind, metadata: { name, namespace, uid } }: KubeObject): string {
  return JSON.stringify([apiVersion, kind, name, namespace, uid].map((value) => (typeof value === 'bigint' ? `${String(value)}n` : value)));
}

/** True for what the server throws through a validation: too many errors, and pauses for other work. */
function isControl(error: unknown): boolean {
  return error instanceof TooManyErrors || isPause(error);
}

const changesObject: ReadonlySet<string> = new Set([
  'prepareForCreate',
  'prepareForUpdate',
  'canonicalize',
  'beginDeletion',
  'markAsDeleting',
]);
/** Methods that return a list, with the test of its items. */
const listItems: Readonly<Record<string, ((item: unknown) => boolean) | undefined>> = {
  validate: isFieldError,
  validateUpdate: isFieldError,
  warningsOnCreate: isText,
  warningsOnUpdate: isText,
  warningsOnDelete: isText,
  validateName: isText,
};

function isText(item: unknown): boolean {
  return typeof item === 'string';
}

/** True for an error of field.ts, also of another copy of the SDK. */
function isFieldError(item: unknown): boolean {
  const { field, type, body } = (item ?? {}) as Readonly<Record<string, unknown>>;
  return typeof field === 'string' && typeof type === 'string' && typeof body === 'function';
}

function isObject(value: unknown): value is KubeObject {
  return isJsonObject(value) && isJsonObject(value['metadata']);
}

/** Throws for a value that no cell can have. */
function cellOf(value: unknown): ReturnType<Column['value']> {
  if (value === null || value === undefined || typeof value === 'string' || typeof value === 'boolean' || isNumber(value))
    return (value ?? null) as ReturnType<Column['value']>;
  throw new TypeError(`a column has a value of type ${typeof value}`);
}

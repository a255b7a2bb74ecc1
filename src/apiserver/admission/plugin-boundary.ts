import { createJsonPatch } from '#apimachinery/patch/create-patch';
import { isJsonObject } from '#apimachinery/patch/own-property';
import type { KubeObject, ObjectMeta } from '#apimachinery/meta/types';
import { deepCopy, deepCopySteps, frozenCopy } from '#apimachinery/runtime/copy';
import { deepEqual, deepEqualSteps } from '#apimachinery/runtime/equality';
import { DecodeError } from '#apimachinery/runtime/json/json';
import { immediate, type Pace } from '#apimachinery/runtime/pace';
import { NotPlainError, plainCopySteps } from '#apimachinery/runtime/plain-data';
import { quote } from '#apimachinery/runtime/quote';
import type { AdmissionTrace, TraceNote } from '#apiserver/request/request-trace';
import { atOnce } from '#apimachinery/runtime/steps';
import type { UserInfo } from '#apiserver/request/user-info';
import type { Attributes } from './attributes.ts';
import { replaceObject } from './replace-object.ts';

/** The rule of the boundary that a plugin broke: see `PluginBoundary`. */
export type BrokenRule = 'identity' | 'object' | 'validate' | 'return';

/** A plugin broke a rule of the boundary. The message continues a sentence about the plugin: `changed kind from "Pod" to "Job"`. */
export class BoundaryError extends Error {
  override readonly name = 'BoundaryError';

  constructor(
    readonly rule: BrokenRule,
    message: string,
  ) {
    super(message);
  }
}

/** Effects of a call on its request, apart from a denial. `dropped`: changes of a mutating plugin are checked, but not applied. */
export interface CallEffects {
  readonly changes: 'applied' | 'dropped';
  readonly warnings: 'added' | 'dropped';
}

const allEffects: CallEffects = { changes: 'applied', warnings: 'added' };

/** Attributes of a request with the pace of its larger object; undefined for small objects. */
export interface PacedAttributes extends Attributes {
  readonly pace?: Pace | undefined;
}

/**
 * One call of a package's plugin. The plugin receives copies of everything that it could change, so that a failed call leaves nothing
 * behind and a later change of a kept reference has no effect. The change of a mutating plugin becomes part of the request only if it keeps
 * the rules:
 *
 * | rule       | after `admit`                                                                          | after `validate` |
 * | ---------- | -------------------------------------------------------------------------------------- | ---------------- |
 * | `return`   | nothing, or a promise of nothing                                                       | the same         |
 * | `object`   | plain data of the types of its kind, without unknown fields; defaults are applied again | -                |
 * | `identity` | apiVersion, kind, name, namespace and uid are unchanged; a missing name may be set       | -                |
 * | `validate` | -                                                                                      | unchanged        |
 *
 * A plugin that changes nothing costs a copy and a comparison; one that does not read the object costs neither.
 *
 * With `isShared`, `validate` reads copies that all plugins of the request share and that are frozen: they cost one copy for all plugins,
 * and no comparison. A plugin that writes to them gets a TypeError. `mayNeedOwnCopies` is then true, and the caller repeats the call with
 * copies of its own, whose changes are found by comparison and have a path.
 */
export class PluginBoundary {
  readonly request: PluginAttributes;

  constructor(
    private readonly original: PacedAttributes,
    private readonly phase: 'admit' | 'validate',
    private readonly effects: CallEffects = allEffects,
    isShared = false,
  ) {
    this.request = new PluginAttributes(original, effects.warnings === 'added', isShared ? sharedCopiesOf(original) : undefined);
  }

  /** True if the error of a call may be due to a write to shared copies. */
  mayNeedOwnCopies(error: unknown): boolean {
    return error instanceof TypeError && this.request.hasReadShared;
  }

  /** Copies a large object before the call, in chunks. Returns undefined for small objects, which are copied on first access. */
  prepare(): Promise<void> | undefined {
    const { pace, object } = this.original;
    if (!object || !pace || pace.isImmediate) return undefined;
    return Promise.resolve(pace.run(deepCopySteps(object))).then((copy) => this.request.useCopy(copy));
  }

  /** Applies the changes of a call that ended. Throws BoundaryError. */
  settle(returned: unknown): void | Promise<void> {
    if (returned !== undefined)
      throw new BoundaryError('return', `returned ${typeNameOf(returned)}: return nothing to admit a request, throw to deny it`);
    const { copied } = this.request;
    if (!copied) return;
    const { original } = this;
    const { object, pace = immediate } = original;
    if (pace.isImmediate) return deepEqual(object, copied) ? undefined : this.#adopt(copied);
    return this.#settleLarge(object, copied, pace);
  }

  async #settleLarge(object: KubeObject, copied: KubeObject, pace: Pace): Promise<void> {
    if (await pace.run(deepEqualSteps(object, copied))) return;
    await this.#adopt(copied);
  }

  #adopt(changed: KubeObject): void | Promise<void> {
    const { pace = immediate } = this.original;
    const plain = asBoundaryError(() => pace.run(plainCopySteps(changed)));
    return plain instanceof Promise ? plain.then((copy) => this.#replace(copy), toBoundaryError) : this.#replace(plain);
  }

  #replace(changed: KubeObject): void {
    const { original } = this;
    if (this.phase === 'validate') {
      const path = createJsonPatch(original.object, changed)[0]?.path ?? '/';
      throw new BoundaryError('validate', `changed ${path} in \`validate\`, which must not change the object`);
    }
    checkIdentity(original, changed);
    const revised = asBoundaryError(() => original.forms.revise(changed));
    if (this.effects.changes === 'applied') replaceObject(original.object, revised);
  }
}

/** Runs a check of the plugin's object. Throws BoundaryError if the object is at fault. */
function asBoundaryError<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    return toBoundaryError(error);
  }
}

function toBoundaryError(error: unknown): never {
  if (error instanceof NotPlainError) throw new BoundaryError('object', `left an object that is not JSON: ${error.message}`);
  if (error instanceof DecodeError) throw new BoundaryError('object', `left an invalid object: ${error.message}`);
  throw error;
}

const identityFields = ['name', 'namespace', 'uid'] as const satisfies readonly (keyof ObjectMeta)[];

function checkIdentity({ object, operation }: Attributes, changed: KubeObject): void {
  for (const field of ['apiVersion', 'kind'] as const) refuseChange(field, object[field], changed[field]);
  const before = object.metadata as ObjectMeta | undefined;
  if (!before) return;
  const after: unknown = changed.metadata;
  if (!isJsonObject(after)) throw new BoundaryError('object', `left an invalid object: metadata is ${typeNameOf(after)}`);
  for (const field of identityFields) {
    if (field === 'name' && operation === 'CREATE' && !before.name) continue;
    refuseChange(`metadata.${field}`, before[field], after[field]);
  }
}

/** An absent field equals an empty one. */
function refuseChange(field: string, before: string | undefined, after: unknown): void {
  if ((after ?? '') === (before ?? '')) return;
  const shown = typeof after === 'string' || after === undefined ? quote(after ?? '') : typeNameOf(after);
  throw new BoundaryError('identity', `changed ${field} from ${quote(before ?? '')} to ${shown}`);
}

function typeNameOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Throws unless a plugin gave a string, for itself to find. */
export function checkedText(text: unknown): string {
  if (typeof text === 'string') return text;
  throw new Error(`expected a string, got ${typeNameOf(text)}`);
}

/** Returns a copy of a plugin's note, or one with the reason why it cannot be shown: a trace must not fail a plugin. */
export function plainNote(note: TraceNote): TraceNote {
  try {
    const copy = atOnce(plainCopySteps(note));
    if (typeof copy.kind === 'string' && typeof copy.name === 'string') return copy;
    return { kind: 'note', name: 'invalid', reason: 'kind and name must be strings' };
  } catch (error) {
    const reason = error instanceof NotPlainError ? error.message : 'it cannot be read';
    return { kind: 'note', name: 'invalid', reason };
  }
}

/** Frozen copies for all calls of `validate` of a request. */
interface SharedCopies {
  object?: KubeObject;
  oldObject?: KubeObject | undefined;
}

/** The key is the request of one phase, in which the objects do not change. */
const sharedCopies = new WeakMap<Attributes, SharedCopies>();

function sharedCopiesOf(request: PacedAttributes): SharedCopies | undefined {
  // Large objects are copied for each call, because a freeze does not yield.
  if (request.pace && !request.pace.isImmediate) return undefined;
  let copies = sharedCopies.get(request);
  if (!copies) sharedCopies.set(request, (copies = {}));
  return copies;
}

/** The attributes that a package's plugin receives. Members that a plugin could change are copied on first access. */
class PluginAttributes implements Attributes {
  readonly #original: Attributes;
  #object: KubeObject | undefined;
  #oldObject: KubeObject | undefined;
  #options: Attributes['options'] | undefined;
  #user: UserInfo | undefined;

  /** True if the plugin read a shared copy. */
  hasReadShared = false;

  constructor(
    original: Attributes,
    private readonly hasWarnings: boolean,
    private readonly shared: SharedCopies | undefined,
  ) {
    this.#original = original;
  }

  /** The plugin's own copy of the object, if the plugin read the object. */
  get copied(): KubeObject | undefined {
    return this.#object;
  }

  useCopy(object: KubeObject): void {
    this.#object = object;
  }

  get object(): KubeObject {
    if (!this.shared) return (this.#object ??= deepCopy(this.#original.object));
    this.hasReadShared = true;
    return (this.shared.object ??= frozenCopy(this.#original.object));
  }

  get oldObject(): KubeObject | undefined {
    if (!this.shared) return (this.#oldObject ??= deepCopy(this.#original.oldObject));
    this.hasReadShared = true;
    return (this.shared.oldObject ??= frozenCopy(this.#original.oldObject));
  }

  get options(): Attributes['options'] {
    return (this.#options ??= deepCopy(this.#original.options));
  }

  get user(): UserInfo {
    return (this.#user ??= deepCopy(this.#original.user));
  }

  get kind(): Attributes['kind'] {
    return { ...this.#original.kind };
  }

  get resource(): Attributes['resource'] {
    return { ...this.#original.resource };
  }

  get operation(): Attributes['operation'] {
    return this.#original.operation;
  }

  get subresource(): string {
    return this.#original.subresource;
  }

  get namespace(): string {
    return this.#original.namespace;
  }

  get name(): string {
    return this.#original.name;
  }

  get dryRun(): boolean {
    return this.#original.dryRun;
  }

  get forms(): Attributes['forms'] {
    return this.#original.forms;
  }

  get reinvocation(): Attributes['reinvocation'] {
    return this.#original.reinvocation;
  }

  get deadline(): number {
    return this.#original.deadline;
  }

  get trace(): AdmissionTrace | undefined {
    const { trace } = this.#original;
    return trace && { note: (note) => trace.note(plainNote(note)) };
  }

  get verdicts(): Attributes['verdicts'] {
    return this.#original.verdicts;
  }

  get traceHeaders(): Attributes['traceHeaders'] {
    return this.#original.traceHeaders;
  }

  within<T>(name: string, attributes: readonly (readonly [key: string, value: string])[], work: () => T): T {
    const { within } = this.#original;
    return within ? (within.call(this.#original, name, attributes, work) as T) : work();
  }

  waited(from: number, to: number): void {
    this.#original.waited?.(from, to);
  }

  addAnnotation(key: string, value: string, level?: 'Metadata' | 'Request'): void {
    this.#original.addAnnotation(checkedText(key), checkedText(value), level);
  }

  addWarning(text: string): void {
    if (this.hasWarnings) this.#original.addWarning(checkedText(text));
  }
}

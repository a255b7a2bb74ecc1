import type { KubeObject, ObjectMeta } from '#apimachinery/meta/types';
import type { AdmissionMatch } from '#apiserver/admission/attributes';
import type { Kind, KindFacts } from '#apiserver/registry/kind';
import type { Operation } from '#apiserver/request/admission-context';
import type { Draft } from './draft.ts';
import type { Condition, PolicyRequest, Rule, RuleHandler } from './rule.ts';

type AnyKind = Kind<unknown>;
type ObjectOf<K> = K extends Kind<infer T, infer _> ? T : never;
type FactsOf<K> = K extends Kind<infer _, infer Facts> ? Facts : never;

/** Place of a method that makes no sense in a chain: the compiler prints the reason if it is called. */
export interface NotOffered<Reason extends string> {
  readonly reason: Reason;
}
type Offered<MakesSense, Method, Reason extends string> = MakesSense extends true ? Method : NotOffered<Reason>;
type Includes<All, One> = One extends All ? true : false;
type HasMetadata<T> = [T] extends [{ readonly metadata: unknown }] ? true : false;
type IsChosen<Chosen> = [Chosen] extends [never] ? false : true;
type IsChange<Chosen> = [Chosen] extends ['CREATE' | 'UPDATE'] ? IsChosen<Chosen> : false;

/** Text that equals a string, or matches a regular expression. */
export type TextPattern = string | RegExp;

/**
 * Requests for objects of some kinds. All conditions must hold. A method that makes no sense cannot be called: `created()` of what cannot
 * be created, `mutate` after `deleted()`, `inNamespace` of objects outside of namespaces.
 */
export interface Selection<T, Facts extends KindFacts, Chosen extends Operation = never> {
  readonly created: Offered<Includes<Facts['operations'], 'CREATE'>, () => Selection<T, Facts, Chosen | 'CREATE'>, 'it cannot be created'>;
  readonly updated: Offered<Includes<Facts['operations'], 'UPDATE'>, () => Selection<T, Facts, Chosen | 'UPDATE'>, 'it cannot be updated'>;
  readonly deleted: Offered<Includes<Facts['operations'], 'DELETE'>, () => Selection<T, Facts, Chosen | 'DELETE'>, 'it cannot be deleted'>;
  readonly connected: Offered<
    Includes<Facts['operations'], 'CONNECT'>,
    () => Selection<T, Facts, Chosen | 'CONNECT'>,
    'it takes no connections'
  >;
  /** Selects a subresource instead of the resource itself. */
  readonly subresource: Offered<
    IsChosen<Chosen> extends true ? false : true,
    <Name extends keyof Facts['subresources'] & string>(name: Name) => SubresourceSelection<Facts, Facts['subresources'][Name]>,
    'name the subresource before the operations'
  >;
  /** Requests in one of these namespaces. */
  readonly inNamespace: Offered<
    Includes<Facts['isNamespaced'], true>,
    (...namespaces: [TextPattern, ...TextPattern[]]) => Selection<T, Facts, Chosen>,
    'its objects are in no namespace'
  >;
  /** Requests in none of these namespaces. */
  readonly notInNamespace: Offered<
    Includes<Facts['isNamespaced'], true>,
    (...namespaces: [TextPattern, ...TextPattern[]]) => Selection<T, Facts, Chosen>,
    'its objects are in no namespace'
  >;
  /** Objects that have a label, with that value if one is given. */
  readonly withLabel: Offered<HasMetadata<T>, (key: string, value?: TextPattern) => Selection<T, Facts, Chosen>, 'it has no metadata'>;
  /** Objects that do not have a label. */
  readonly withoutLabel: Offered<HasMetadata<T>, (key: string) => Selection<T, Facts, Chosen>, 'it has no metadata'>;
  /** Objects that have an annotation, with that value if one is given. */
  readonly withAnnotation: Offered<HasMetadata<T>, (key: string, value?: TextPattern) => Selection<T, Facts, Chosen>, 'it has no metadata'>;
  /** Requests for which the function returns true. */
  where(condition: (object: Draft<T>, request: PolicyRequest<Draft<T>>) => boolean): Selection<T, Facts, Chosen>;
  /** Changes the object in place, before its validation. */
  readonly mutate: Offered<
    IsChange<Chosen>,
    <Context = unknown>(change: RuleHandler<Draft<T>, Draft<T>, Context>) => Rule<Context>,
    'only what is created or updated can be changed'
  >;
  /** Denies by `deny(request, 'why')`, or warns. */
  readonly validate: Offered<
    IsChosen<Chosen>,
    <Context = unknown>(check: RuleHandler<T, T, Context>) => Rule<Context>,
    'choose operations first, such as created()'
  >;
}

/** Requests for a subresource. */
export type SubresourceSelection<Facts extends KindFacts, Subresource extends KindFacts['subresources'][string]> = Selection<
  Subresource['object'],
  { operations: Subresource['operations']; isNamespaced: Facts['isNamespaced']; subresources: Record<never, never> }
>;

/**
 * Starts a rule of a policy for objects of a kind, or of several:
 *
 *     when(Pod).created().updated().inNamespace(/^prod-/).withLabel('team').validate((pod, request) => { … })
 */
export function when<const Kinds extends readonly [AnyKind, ...AnyKind[]]>(
  ...kinds: Kinds
): Selection<ObjectOf<Kinds[number]>, FactsOf<Kinds[number]>> {
  return new SelectionBuilder({ kinds, subresource: undefined, operations: [], conditions: [] }) as unknown as Selection<
    ObjectOf<Kinds[number]>,
    FactsOf<Kinds[number]>
  >;
}

interface Parts {
  readonly kinds: readonly AnyKind[];
  readonly subresource: string | undefined;
  readonly operations: readonly Operation[];
  readonly conditions: readonly Condition[];
}
type Handler = RuleHandler<KubeObject, KubeObject, unknown>;

/** A selection at run time: each method returns a new one. */
class SelectionBuilder {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  created = (): SelectionBuilder => this.#on('CREATE');
  updated = (): SelectionBuilder => this.#on('UPDATE');
  deleted = (): SelectionBuilder => this.#on('DELETE');
  connected = (): SelectionBuilder => this.#on('CONNECT');
  subresource = (name: string): SelectionBuilder => new SelectionBuilder({ ...this.#parts, subresource: name });

  inNamespace(...namespaces: readonly TextPattern[]): SelectionBuilder {
    return this.where((_, { namespace }) => namespace !== '' && namespaces.some((pattern) => fits(pattern, namespace)));
  }

  notInNamespace(...namespaces: readonly TextPattern[]): SelectionBuilder {
    return this.where((_, { namespace }) => !namespaces.some((pattern) => fits(pattern, namespace)));
  }

  withLabel(key: string, value?: TextPattern): SelectionBuilder {
    return this.where(({ metadata }) => hasEntry(metadata.labels, key, value));
  }

  withoutLabel(key: string): SelectionBuilder {
    return this.where(({ metadata }) => !hasEntry(metadata.labels, key));
  }

  withAnnotation(key: string, value?: TextPattern): SelectionBuilder {
    return this.where(({ metadata }) => hasEntry(metadata.annotations, key, value));
  }

  where(condition: Condition): SelectionBuilder {
    return new SelectionBuilder({ ...this.#parts, conditions: [...this.#parts.conditions, condition] });
  }

  mutate = (change: Handler): Rule => this.#rule('admit', change);
  validate = (check: Handler): Rule => this.#rule('validate', check);

  #on(operation: Operation): SelectionBuilder {
    return new SelectionBuilder({ ...this.#parts, operations: [...new Set([...this.#parts.operations, operation])] });
  }

  #rule(phase: Rule['phase'], handle: Handler): Rule {
    const { kinds, subresource, operations, conditions } = this.#parts;
    if (operations.length === 0) throw new Error('when(…): choose operations first, such as created()');
    const match = kinds.map(
      ({ group, resource }): AdmissionMatch => ({
        groups: [group],
        resources: [resource],
        ...(subresource !== undefined && { subresources: [subresource] }),
        operations,
      }),
    );
    return { phase, match, conditions, handle };
  }
}

function fits(pattern: TextPattern, text: string): boolean {
  return typeof pattern === 'string' ? pattern === text : text.search(pattern) >= 0;
}

function hasEntry(entries: ObjectMeta['labels'] = {}, key: string, value?: TextPattern): boolean {
  const present = Object.hasOwn(entries, key) ? entries[key] : undefined;
  return present !== undefined && (value === undefined || fits(value, present));
}

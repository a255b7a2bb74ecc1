import { endAtDeadline, newInvalid } from '#apimachinery/api/errors';
import { nextGeneration } from '#apimachinery/meta/generation';
import { type GroupKind, type KubeObject, parseGroupVersion } from '#apimachinery/meta/types';
import { deepEqual, deepEqualSteps } from '#apimachinery/runtime/equality';
import { type Pace, yielding } from '#apimachinery/runtime/pace';
import type { StructType } from '#apimachinery/runtime/schema';
import { exactDeepEqual, exactDeepEqualSteps, semanticDeepEqual, semanticDeepEqualSteps } from '#apimachinery/runtime/semantic-equality';
import { type Steps, untilTime } from '#apimachinery/runtime/steps';
import { settledAnew, settledSteps } from '#apimachinery/runtime/suspended';
import { type FieldError, fieldPath, invalid, TooManyErrors } from '#apimachinery/validation/field';
import { isValidPathSegmentName, nameIsDNSSubdomain, validatePathSegmentName } from '#apimachinery/validation/names';
import { validateKubeFinalizerNames, validateObjectMeta, validateObjectMetaUpdate } from '#apimachinery/validation/object-meta';
import { validatingSteps } from '#apimachinery/validation/pausing';
import { ensureNamespaceMatches } from './namespace-scope.ts';
import type { ResourceDefinition, Strategy } from './resource-definition.ts';
import type { StoreHooks, WriteRequest } from './write.ts';

/** Validation errors of an object: those of its metadata, common to all kinds, and those of its kind. */
interface Findings {
  readonly ofMeta: readonly FieldError[];
  readonly ofKind: readonly FieldError[];
}

/** The validation of an object that a write stores. */
interface Validation {
  readonly request: WriteRequest;
  readonly object: KubeObject;
  /** The stored object; undefined for a create. */
  readonly existing: KubeObject | undefined;
  readonly strategy: Strategy;
  readonly validate: () => Findings;
  /** Throws Invalid if there are errors. */
  readonly finish: (found: Findings) => Promise<void> | undefined;
}

/**
 * Prepares and validates the objects of a resource before they are stored: rules of the metadata, the strategy of the kind, its
 * validation and warnings. Upstream: apiserver/pkg/registry/rest (BeforeCreate, BeforeUpdate).
 */
export class WritePreparation {
  readonly #strategy: Strategy;

  constructor(
    private readonly definition: ResourceDefinition,
    private readonly type: StructType,
    private readonly groupKind: GroupKind,
    private readonly hooks: StoreHooks,
  ) {
    this.#strategy = definition.strategy;
  }

  /** Prepares a new object. Returns a promise only for kinds with asynchronous validation. Throws Invalid. */
  create(request: WriteRequest, object: KubeObject, pace: Pace): Promise<void> | undefined {
    return this.#validating(object, () => this.#create(request, object, pace));
  }

  /** Prepares an object that replaces `existing`. `strategy` may be that of a subresource. Throws Invalid. */
  update(request: WriteRequest, object: KubeObject, existing: KubeObject, strategy: Strategy, pace: Pace): Promise<void> | undefined {
    return this.#validating(object, () => this.#update(request, object, existing, strategy, pace));
  }

  #create(request: WriteRequest, object: KubeObject, pace: Pace): Promise<void> | undefined {
    const strategy = this.#strategy;
    const { metadata } = object;
    ensureNamespaceMatches(this.definition, request.namespace, object);
    if (countsSpecs(strategy)) metadata.generation = 1;
    strategy.prepareForCreate?.(object, request);
    const validate = (): Findings => ({
      ofMeta: [
        ...validateObjectMeta(
          metadata,
          {
            namespaced: this.definition.namespaced,
            nameFn: strategy.nameRules?.(object, request) ?? strategy.validateName ?? nameIsDNSSubdomain,
          },
          fieldPath('metadata'),
        ),
        ...this.#finalizerErrors(object, strategy),
      ],
      ofKind: strategy.validate?.(object, request) ?? [],
    });
    const finish = ({ ofMeta, ofKind }: Findings): Promise<void> | undefined => {
      if (checksMetaLast(strategy)) this.#throwInvalid(ofKind, object);
      return this.#finishCreate(request, object, [...ofMeta, ...ofKind], pace);
    };
    return this.#validate({ request, object, existing: undefined, strategy, validate, finish }, pace);
  }

  /** Finishes synchronously at an immediate pace, unless the kind has validation steps or a review, or a pattern takes long. */
  #validate({ request, object, existing, strategy, validate, finish }: Validation, pace: Pace): Promise<void> | undefined {
    const hasSteps = strategy.validateSteps !== undefined;
    if (!hasSteps && pace.isImmediate && !this.hooks.review) {
      const findings = settledAnew(validate);
      if (findings instanceof Promise) return findings.then(finish);
      return finish(findings);
    }
    const inTime = <T>(begin: () => Steps<T>): Promise<T> => settledSteps(() => untilTime(begin(), request.deadline ?? 0, endAtDeadline));
    const validateAtPace = async (): Promise<void> => {
      const { ofMeta, ofKind } = await (pace.isImmediate ? settledAnew(validate) : inTime(() => validatingSteps(validate)));
      const all = hasSteps ? [...ofKind, ...(await inTime(() => strategy.validateSteps!(object, existing, request)))] : ofKind;
      await pace.rest();
      await finish({ ofMeta, ofKind: (await this.hooks.review?.(object, existing, request, all)) ?? all });
    };
    return validateAtPace();
  }

  #finishCreate(request: WriteRequest, object: KubeObject, errors: readonly FieldError[], pace: Pace): Promise<void> | undefined {
    const strategy = this.#strategy;
    const { metadata } = object;
    this.#throwInvalid(errors, object);
    const segment = isValidPathSegmentName(metadata.name ?? '').map((message) =>
      invalid(fieldPath('metadata').child('name'), metadata.name, message),
    );
    this.#throwInvalid(segment, object);
    return this.#finishValid(request, object, strategy, () => strategy.warningsOnCreate?.(object, request), pace);
  }

  /** Adds the warnings about a valid object; their long loops pause like those of its validation. */
  #finishValid(
    request: WriteRequest,
    object: KubeObject,
    strategy: Strategy,
    warnings: () => readonly string[] | undefined,
    pace: Pace,
  ): Promise<void> | undefined {
    const canonicalize = (): void => strategy.canonicalize?.(object, request);
    const warned = pace.either(
      () => {
        for (const text of warnings() ?? []) request.warn(text);
      },
      () => untilTime(warnSteps(request, warnings), request.deadline ?? 0, endAtDeadline),
    );
    if (warned instanceof Promise) return warned.then(canonicalize);
    canonicalize();
    return undefined;
  }

  #finalizerErrors({ metadata: { finalizers } }: KubeObject, strategy: Strategy): FieldError[] {
    const isFree = strategy.anyFinalizers || strategy.genericMeta === 'all';
    return finalizers && !isFree ? validateKubeFinalizerNames(finalizers, fieldPath('metadata').child('finalizers')) : [];
  }

  #update(request: WriteRequest, object: KubeObject, existing: KubeObject, strategy: Strategy, pace: Pace): Promise<void> | undefined {
    const { metadata } = object;
    const old = existing.metadata;
    ensureNamespaceMatches(this.definition, request.namespace, object);
    assign(metadata, 'generation', old.generation);
    strategy.prepareForUpdate?.(object, existing, request);
    const count = (isSame: boolean): Promise<void> | undefined => {
      if (!isSame) metadata.generation = nextGeneration(old.generation);
      return this.#validateUpdate(request, object, existing, strategy, pace);
    };
    if (!countsSpecs(strategy)) return count(true);
    const isSame = pace.either(
      () => this.#isSameSpec(object, existing, strategy),
      () => this.#isSameSpecSteps(object, existing, strategy),
    );
    return isSame instanceof Promise ? isSame.then(count) : count(isSame);
  }

  #validateUpdate(
    request: WriteRequest,
    object: KubeObject,
    existing: KubeObject,
    strategy: Strategy,
    pace: Pace,
  ): Promise<void> | undefined {
    const { metadata } = object;
    const old = existing.metadata;
    metadata.uid ??= old.uid ?? '';
    assign(metadata, 'creationTimestamp', old.creationTimestamp);
    // Upstream drops it when it stores the object.
    if (!request.dryRun) delete metadata.selfLink;
    if (old.deletionTimestamp !== undefined) metadata.deletionTimestamp = old.deletionTimestamp;
    if (old.deletionGracePeriodSeconds !== undefined && metadata.deletionGracePeriodSeconds === undefined)
      metadata.deletionGracePeriodSeconds = old.deletionGracePeriodSeconds;
    const validate = (): Findings => ({
      ofMeta: [
        ...validateObjectMeta(metadata, { namespaced: this.definition.namespaced, nameFn: validatePathSegmentName }, fieldPath('metadata')),
        ...validateObjectMetaUpdate(metadata, old, fieldPath('metadata')),
        ...(repeatsMeta(strategy.genericMeta === undefined ? this.#strategy : strategy)
          ? [...validateObjectMetaUpdate(metadata, old, fieldPath('metadata')), ...this.#finalizerErrors(object, strategy)]
          : []),
      ],
      ofKind: strategy.validateUpdate?.(object, existing, request) ?? [],
    });
    const finish = ({ ofMeta, ofKind }: Findings): Promise<void> | undefined => {
      this.#throwInvalid([...ofMeta, ...ofKind], object);
      return this.#finishValid(request, object, strategy, () => strategy.warningsOnUpdate?.(object, existing, request), pace);
    };
    return this.#validate({ request, object, existing, strategy, validate, finish }, pace);
  }

  /** True if the spec is unchanged. For custom resources, null and empty values count as differences. */
  #isSameSpec({ spec }: KubeObject, { spec: old }: KubeObject, { generation }: Strategy): boolean {
    if (this.definition.custom) return deepEqual(spec, old);
    const type = this.type.fields.get('spec')?.type;
    return generation === 'exactSpec' ? exactDeepEqual(spec, old, type) : semanticDeepEqual(spec, old, type);
  }

  *#isSameSpecSteps({ spec }: KubeObject, { spec: old }: KubeObject, { generation }: Strategy): Steps<boolean> {
    if (this.definition.custom) return yield* deepEqualSteps(spec, old);
    const type = this.type.fields.get('spec')?.type;
    return yield* generation === 'exactSpec' ? exactDeepEqualSteps(spec, old, type) : semanticDeepEqualSteps(spec, old, type);
  }

  /** Runs a validation; if it exceeds the maximum number of errors, rejects with those found. */
  #validating(object: KubeObject, prepare: () => Promise<void> | undefined): Promise<void> | undefined {
    const refuse = (error: unknown): never => {
      if (error instanceof TooManyErrors) this.#throwInvalid(error.errors, object);
      throw error;
    };
    try {
      // Finding that many errors took a full time slice, so yield first.
      return prepare()?.catch(async (error: unknown) => {
        await yielding.rest();
        return refuse(error);
      });
    } catch (error) {
      return refuse(error);
    }
  }

  /** Throws Invalid. Custom resources are named by the kind in the object. */
  #throwInvalid(errors: readonly FieldError[], { metadata: { name = '' }, kind, apiVersion }: KubeObject): void {
    if (errors.length === 0) return;
    const groupKind = this.definition.custom ? { group: parseGroupVersion(apiVersion).group, kind } : this.groupKind;
    throw newInvalid(groupKind, name, errors);
  }
}

/** Number of warnings that are added between two yields. */
const warningsPerStep = 256;

function* warnSteps(request: WriteRequest, warnings: () => readonly string[] | undefined): Steps<void> {
  for (const [i, text] of ((yield* validatingSteps(warnings)) ?? []).entries()) {
    if (i % warningsPerStep === 0) yield;
    request.warn(text);
  }
}

/** True if the generic registry checks the metadata of a new object only after the kind's own validation. */
const checksMetaLast = ({ genericMeta }: Strategy): boolean => genericMeta === 'all' || genericMeta === 'create';

/** True if the kind's validation of updates repeats the generic registry's checks of the metadata: clients see both causes. */
const repeatsMeta = ({ genericMeta }: Strategy): boolean => genericMeta === undefined || genericMeta === 'create';

const countsSpecs = ({ generation }: Strategy): boolean => generation === 'spec' || generation === 'exactSpec';

function assign<T extends object, K extends keyof T>(target: T, key: K, value: T[K] | undefined): void {
  if (value === undefined) delete target[key];
  else target[key] = value;
}

import { type LabelSelector, labelSelectorAsSelector } from '#apimachinery/labels/selector';
import type { Attributes } from '#apiserver/admission/attributes';
import { type CostBudget, MatchConditions } from '#apiserver/admission/cel/match-conditions';
import { PolicyCompiler } from '#apiserver/admission/cel/expression';
import { type NameTest, nameTest, type SubjectTest, subjectTest } from './name-test.ts';
import type { ExceptionConfiguration } from './policy-configuration.ts';

/** The API object of an exception. */
export interface ExceptionSource {
  readonly kind: string;
  /** Empty for an exception of the whole cluster. */
  readonly namespace: string;
  readonly name: string;
}

/** Requests for which a plugin is not called, with the reason: an item of `exceptions` in the configuration, or an API object. */
export class PolicyException {
  readonly reason: string;
  /** `ClusterPolicyException ci`, `PolicyException shop/web`; undefined for an exception of the configuration. */
  readonly label: string | undefined;
  /** Number of calls of plugins that the exception replaced, since it was compiled. */
  uses = 0;
  /** Time in milliseconds since 1970 from which the exception no longer applies; undefined: it has no end. */
  readonly expires: number | undefined;
  readonly #namespaces: NameTest | undefined;
  readonly #names: NameTest | undefined;
  readonly #subjects: SubjectTest | undefined;
  readonly #objectSelector: LabelSelector;
  readonly hasExpression: boolean;
  readonly #expression: MatchConditions;

  /** The selector and the expression must be valid. */
  constructor(
    exception: ExceptionConfiguration,
    readonly source?: ExceptionSource,
  ) {
    const { reason, expires, expression } = exception;
    this.reason = reason;
    this.label = source && `${source.kind} ${source.namespace === '' ? '' : `${source.namespace}/`}${source.name}`;
    // A time that cannot be read has passed: an exception must not last longer than its author meant.
    this.expires = expires === undefined ? undefined : new Date(expires).getTime() || 0;
    this.#namespaces = exception.namespaces && nameTest(exception.namespaces);
    this.#names = exception.names && nameTest(exception.names);
    this.#subjects = subjectTest(exception);
    this.#objectSelector = labelSelectorAsSelector(exception.objectSelector ?? {});
    this.hasExpression = expression !== undefined;
    this.#expression = conditionsOf(expression === undefined ? [] : [expression]);
  }

  /** True if all criteria but the expression match. */
  selects(request: Attributes): boolean {
    const { namespace, name, user } = request;
    if (this.source && !reaches(this.source, request)) return false;
    if (!(this.#namespaces?.(namespace) ?? true) || !(this.#names?.(name) ?? true) || !(this.#subjects?.(user) ?? true)) return false;
    const object = (request.object as Attributes['object'] | undefined) ?? request.oldObject;
    return this.#objectSelector.matches(object?.metadata.labels ?? {});
  }

  /**
   * True if all criteria match. Returns an Error if the expression cannot be evaluated, or costs more than the rest of the budget; the
   * exception then does not apply.
   */
  covers(request: Attributes, budget: CostBudget): boolean | Error {
    if (!this.selects(request)) return false;
    return this.#expression.match(
      {
        request,
        object: request.object,
        oldObject: request.oldObject,
        kind: request.kind,
        resource: request.resource,
        params: undefined,
        namespaceObject: undefined,
        authorizer: undefined,
      },
      false,
      budget,
    ).match;
  }
}

/**
 * True if an exception may cover a request at all: one of a namespace covers only the objects in that namespace. A request for a Namespace
 * has its own name as the namespace, as upstream's attributes do, but is outside of it.
 */
function reaches({ namespace }: ExceptionSource, request: Attributes): boolean {
  if (namespace === '') return true;
  const { resource } = request;
  return request.namespace === namespace && !(resource.group === '' && resource.resource === 'namespaces');
}

function conditionsOf(expressions: readonly string[]): MatchConditions {
  const conditions = expressions.map((expression) => ({ name: expression, expression }));
  return MatchConditions.ofPolicy(conditions, new PolicyCompiler('new', false), { params: false, authorizer: false });
}

/** Returns the error of an expression that is not a valid condition; undefined for a valid one. */
export function expressionError(expression: string): string | undefined {
  const lines = conditionsOf([expression]).conditions[0]?.error?.split('\n');
  return lines
    ?.map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ');
}

/** True if an exception has at least one criterion. */
export function hasCriterion({ namespaces, names, objectSelector, users, groups, expression }: ExceptionConfiguration): boolean {
  return [namespaces, names, objectSelector, users, groups, expression].some((criterion) => criterion !== undefined);
}

import { fieldPath } from '#apimachinery/validation/field';
import { validateLabelSelector } from '#apimachinery/validation/object-meta';
import { type LabelSelector, type LabelSelectorSource, labelSelectorAsSelector } from '#apimachinery/labels/selector';
import type { Attributes } from '#apiserver/admission/attributes';
import { MatchConditions } from '#apiserver/admission/cel/match-conditions';
import { PolicyCompiler } from '#apiserver/admission/cel/expression';
import { type Candidate, MatchResources } from '#apiserver/admission/policy/match-resources';
import type { Informer } from '#apiserver/registry/informers';
import type { UserInfo } from '#apiserver/request/user-info';
import { ConfigurationError, readConfiguration } from '../read-configuration.ts';
import { type ExceptionConfiguration, PolicyConfiguration, type PolicyMode, type ScopeConfiguration } from './policy-configuration.ts';

type NameTest = (name: string) => boolean;

/** Configured handling of the denials of one admission plugin. */
export interface PluginPolicy {
  readonly mode: PolicyMode;
  /** Undefined: all requests. */
  readonly scope: PolicyScope | undefined;
  readonly exceptions: readonly PolicyException[];
}

/** Compiles a member of `policies`. Throws a ConfigurationError with all problems, which start with `place`. */
export function readPolicy(data: unknown, place: string): PluginPolicy {
  const { mode, scope, exceptions } = readConfiguration(PolicyConfiguration, data, place);
  const problems = [
    ...selectorProblems(scope?.namespaceSelector, `${place}.scope.namespaceSelector`),
    ...selectorProblems(scope?.objectSelector, `${place}.scope.objectSelector`),
    ...exceptions.flatMap((exception, i) => exceptionProblems(exception, `${place}.exceptions[${i}]`)),
  ];
  if (problems.length > 0) throw new ConfigurationError(problems);
  return { mode, scope: scope && new PolicyScope(scope), exceptions: exceptions.map((exception) => new PolicyException(exception)) };
}

const everyResource: Candidate = { rules: undefined, excluded: [] };

/** Requests for which a plugin is called. */
export class PolicyScope {
  readonly #namespaces: NameTest | undefined;
  readonly #excludedNamespaces: NameTest;
  readonly #selectors: MatchResources;
  readonly #subjects: SubjectTest | undefined;
  readonly #excludedSubjects: SubjectTest;

  /** The selectors must be valid. */
  constructor(scope: ScopeConfiguration) {
    const { namespaceSelector, objectSelector } = scope;
    this.#namespaces = scope.namespaces && nameTest(scope.namespaces);
    this.#excludedNamespaces = nameTest(scope.excludedNamespaces ?? []);
    this.#selectors = new MatchResources({ ...(namespaceSelector && { namespaceSelector }), ...(objectSelector && { objectSelector }) });
    this.#subjects = subjectTest(scope);
    this.#excludedSubjects = subjectTest({ users: scope.excludedUsers ?? [], groups: scope.excludedGroups ?? [] }) as SubjectTest;
  }

  /** Requests outside of namespaces do not match `namespaces`, but match every `namespaceSelector`, as for webhooks. */
  includes(request: Attributes, namespaces: Informer): boolean {
    return (
      (this.#namespaces?.(request.namespace) ?? true) &&
      !this.#excludedNamespaces(request.namespace) &&
      (this.#subjects?.(request.user) ?? true) &&
      !this.#excludedSubjects(request.user) &&
      this.#selectors.match(request, everyResource, namespaces) !== undefined
    );
  }
}

/** Requests that a plugin's policy exempts, with the reason. */
export class PolicyException {
  readonly reason: string;
  /** Time in milliseconds since 1970 from which the exception no longer applies; undefined: it has no end. */
  readonly expires: number | undefined;
  readonly #namespaces: NameTest | undefined;
  readonly #names: NameTest | undefined;
  readonly #subjects: SubjectTest | undefined;
  readonly #objectSelector: LabelSelector;
  readonly #expression: MatchConditions;

  /** The selector and the expression must be valid. */
  constructor(exception: ExceptionConfiguration) {
    const { reason, expires, expression } = exception;
    this.reason = reason;
    this.expires = expires === undefined ? undefined : new Date(expires).getTime();
    this.#namespaces = exception.namespaces && nameTest(exception.namespaces);
    this.#names = exception.names && nameTest(exception.names);
    this.#subjects = subjectTest(exception);
    this.#objectSelector = labelSelectorAsSelector(exception.objectSelector ?? {});
    this.#expression = conditionsOf(expression === undefined ? [] : [expression]);
  }

  /** True if all criteria match. Returns an Error if the expression cannot be evaluated; the exception then does not apply. */
  covers(request: Attributes): boolean | Error {
    const { namespace, name, user } = request;
    if (!(this.#namespaces?.(namespace) ?? true) || !(this.#names?.(name) ?? true) || !(this.#subjects?.(user) ?? true)) return false;
    const object = (request.object as Attributes['object'] | undefined) ?? request.oldObject;
    if (!this.#objectSelector.matches(object?.metadata.labels ?? {})) return false;
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
    ).match;
  }
}

function conditionsOf(expressions: readonly string[]): MatchConditions {
  const conditions = expressions.map((expression) => ({ name: expression, expression }));
  return MatchConditions.ofPolicy(conditions, new PolicyCompiler('new', false), { params: false, authorizer: false });
}

function exceptionProblems({ objectSelector, expression, ...exception }: ExceptionConfiguration, place: string): string[] {
  const { namespaces, names, users, groups } = exception;
  const problems = selectorProblems(objectSelector, `${place}.objectSelector`);
  if ([objectSelector, expression, namespaces, names, users, groups].every((criterion) => criterion === undefined))
    problems.push(`${place} must have at least one of namespaces, names, objectSelector, users, groups and expression`);
  const error = expression === undefined ? undefined : conditionsOf([expression]).conditions[0]?.error;
  if (error !== undefined) problems.push(`${place}.expression: ${error.replaceAll(/\s*\n\s*/g, ' ')}`);
  return problems;
}

function selectorProblems(selector: LabelSelectorSource | undefined, place: string): string[] {
  if (selector === undefined) return [];
  const unknown = Object.keys(selector).filter((member) => member !== 'matchLabels' && member !== 'matchExpressions');
  if (unknown.length > 0) return unknown.map((member) => `${place}.${member} is unknown`);
  const { matchLabels = {}, matchExpressions = [] } = selector;
  if (!isTextMap(matchLabels)) return [`${place}.matchLabels must be an object whose values are strings`];
  if (!isRequirements(matchExpressions)) return [`${place}.matchExpressions must be a list of objects with key, operator and values`];
  return validateLabelSelector(selector, {}, fieldPath(place)).map(String);
}

function isTextMap(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.values(value).every((item) => typeof item === 'string');
}

function isRequirements(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => isRequirement(item));
}

function isRequirement(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { key, operator, values = [] } = value as Readonly<Record<string, unknown>>;
  const areTexts = Array.isArray(values) && values.every((item) => typeof item === 'string');
  return typeof key === 'string' && typeof operator === 'string' && areTexts;
}

/** Returns a test for names that match one of the patterns, in which `*` stands for any text. */
function nameTest(patterns: readonly string[]): NameTest {
  const exact = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const globs = patterns
    .filter((pattern) => pattern.includes('*'))
    .map((pattern) => new RegExp(`^${pattern.replaceAll(/[\\^$.+?()[\]{}|]/g, '\\$&').replaceAll('*', '.*')}$`, 's'));
  return (name) => exact.has(name) || globs.some((glob) => glob.test(name));
}

type SubjectTest = (user: UserInfo) => boolean;

/** Returns a test for users who match `users` or a group of whom matches `groups`; undefined if neither is given. */
function subjectTest({
  users,
  groups,
}: {
  readonly users?: readonly string[];
  readonly groups?: readonly string[];
}): SubjectTest | undefined {
  if (!users && !groups) return undefined;
  const isUser = nameTest(users ?? []);
  const isGroup = nameTest(groups ?? []);
  return (user) => isUser(user.name) || user.groups.some(isGroup);
}

import { fieldPath } from '#apimachinery/validation/field';
import { validateLabelSelector } from '#apimachinery/validation/object-meta';
import type { LabelSelectorSource } from '#apimachinery/labels/selector';
import type { KubeObject } from '#apimachinery/meta/types';
import type { Attributes } from '#apiserver/admission/attributes';
import { type Candidate, MatchResources } from '#apiserver/admission/policy/match-resources';
import type { Informer } from '#apiserver/registry/informers';
import { ConfigurationError, readConfiguration } from '../read-configuration.ts';
import { type NameTest, nameTest, type SubjectTest, subjectTest } from './name-test.ts';
import { type ExceptionConfiguration, PolicyConfiguration, type PolicyMode, type ScopeConfiguration } from './policy-configuration.ts';
import { expressionError, hasCriterion, PolicyException } from './policy-exception.ts';

/** Configured handling of the denials of one admission plugin. */
export interface PluginPolicy {
  readonly mode: PolicyMode;
  /** Undefined: all requests. */
  readonly scope: PolicyScope | undefined;
  readonly exceptions: readonly PolicyException[];
}

/** Policy of a plugin for which the configuration has none. */
export const defaultPolicy: PluginPolicy = { mode: 'enforce', scope: undefined, exceptions: [] };

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
  /** True if users or groups are members of the scope. */
  readonly dependsOnUser: boolean;
  /** True if it has a namespace selector. */
  readonly dependsOnLabels: boolean;

  /** The selectors must be valid. */
  constructor(scope: ScopeConfiguration) {
    const { namespaceSelector, objectSelector } = scope;
    this.#namespaces = scope.namespaces && nameTest(scope.namespaces);
    this.#excludedNamespaces = nameTest(scope.excludedNamespaces ?? []);
    this.#selectors = new MatchResources({ ...(namespaceSelector && { namespaceSelector }), ...(objectSelector && { objectSelector }) });
    this.#subjects = subjectTest(scope);
    const [users, groups] = [scope.excludedUsers ?? [], scope.excludedGroups ?? []];
    this.#excludedSubjects = subjectTest({ users, groups }) as SubjectTest;
    this.dependsOnLabels = namespaceSelector !== undefined;
    this.dependsOnUser = this.#subjects !== undefined || users.length > 0 || groups.length > 0;
  }

  /** Requests outside of namespaces do not match `namespaces`, but match every `namespaceSelector`, as for webhooks. */
  includes(request: Attributes, namespaces: Informer): boolean {
    return this.#includesNames(request) && this.#selectors.match(request, everyResource, namespaces) !== undefined;
  }

  /** Returns the stored namespace whose labels decide about the request; undefined if none does, or if it is missing. */
  decidingNamespace(request: Attributes, namespaces: Informer): KubeObject | undefined {
    return this.#selectors.decidingNamespace(request, namespaces);
  }

  /** Returns false if no request of the user in the namespace can be in the scope. `namespace` is the deciding one. */
  mayInclude(request: Pick<Attributes, 'namespace' | 'user'>, namespace: KubeObject | undefined): boolean {
    return this.#includesNames(request) && (namespace === undefined || this.#selectors.matchesLabelsOf(namespace));
  }

  /** Returns false if the object selector excludes the objects of the request. */
  includesObjects(request: Attributes): boolean {
    return this.#selectors.matchesObjects(request);
  }

  #includesNames({ namespace, user }: Pick<Attributes, 'namespace' | 'user'>): boolean {
    return (
      (this.#namespaces?.(namespace) ?? true) &&
      !this.#excludedNamespaces(namespace) &&
      (this.#subjects?.(user) ?? true) &&
      !this.#excludedSubjects(user)
    );
  }
}

function exceptionProblems(exception: ExceptionConfiguration, place: string): string[] {
  const { objectSelector, expression } = exception;
  const problems = selectorProblems(objectSelector, `${place}.objectSelector`);
  if (!hasCriterion(exception))
    problems.push(`${place} must have at least one of namespaces, names, objectSelector, users, groups and expression`);
  const error = expression === undefined ? undefined : expressionError(expression);
  if (error !== undefined) problems.push(`${place}.expression: ${error}`);
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

import type { UserInfo } from '#apiserver/request/user-info';

/** What is asked of an authorizer. Upstream: apiserver/pkg/authorization/authorizer/interfaces.go. */
export interface AuthorizationAttributes {
  readonly user: UserInfo;
  readonly verb: string;
  readonly isResourceRequest: boolean;
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** Of non-resource requests. */
  readonly path: string;
  /** What a list, a watch or a deletion of many is limited to; undefined for no limit, and where the selector is wrong. */
  readonly fieldSelector?: readonly SelectorRequirement[] | undefined;
  readonly labelSelector?: readonly SelectorRequirement[] | undefined;
}

/** One of the conditions that all hold. Upstream: meta/v1 FieldSelectorRequirement, LabelSelectorRequirement. */
export interface SelectorRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  /** Empty for `Exists` and `DoesNotExist`. */
  readonly values: readonly string[];
}

export type Decision = 'Allow' | 'Deny' | 'NoOpinion';
export interface AuthorizationResult {
  readonly decision: Decision;
  readonly reason: string;
}

/** What a user may do in a namespace, as far as an authorizer can list it. Upstream: SubjectRulesReviewStatus. */
export interface UserRules {
  readonly resourceRules: readonly ResourceRule[];
  readonly nonResourceRules: readonly NonResourceRule[];
  /** There may be more. */
  readonly incomplete: boolean;
  /** What went wrong meanwhile. */
  readonly errors: readonly string[];
}
export interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[] | undefined;
  readonly resources?: readonly string[] | undefined;
  readonly resourceNames?: readonly string[] | undefined;
}
export interface NonResourceRule {
  readonly verbs: readonly string[];
  readonly nonResourceURLs?: readonly string[] | undefined;
}

/** Decides whether a user may do something. Throwing counts as no opinion with an error, which the answer tells if nobody allows. */
export interface Authorizer {
  readonly name: string;
  /** Of one of several of a type, which the administrator has named. */
  readonly type?: string;
  authorize(attributes: AuthorizationAttributes): AuthorizationResult | Promise<AuthorizationResult>;
  /** Of authorizers whose decisions follow from rules. */
  rulesFor?(user: UserInfo, namespace: string): UserRules | Promise<UserRules>;
}

/** What decides for the server: the union of all authorizers that are on. */
export const Authorizer = Symbol.for('kubenest.Authorizer');

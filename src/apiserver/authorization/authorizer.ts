import type { UserInfo } from '#apiserver/request/user-info';

/** Attributes of a request that authorizers evaluate. Upstream: apiserver/pkg/authorization/authorizer/interfaces.go. */
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
  /** Path of a non-resource request. */
  readonly path: string;
  /** Field selector of a list, watch or deletion of a collection; undefined if there is none or it is invalid. */
  readonly fieldSelector?: readonly SelectorRequirement[] | undefined;
  readonly labelSelector?: readonly SelectorRequirement[] | undefined;
}

/** One of several conditions that must all hold. Upstream: meta/v1 FieldSelectorRequirement, LabelSelectorRequirement. */
export interface SelectorRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  /** Values; empty for `Exists` and `DoesNotExist`. */
  readonly values: readonly string[];
}

export type Decision = 'Allow' | 'Deny' | 'NoOpinion';
export interface AuthorizationResult {
  readonly decision: Decision;
  readonly reason: string;
}

/** Rules of a user in a namespace, as far as an authorizer can list them. Upstream: SubjectRulesReviewStatus. */
export interface UserRules {
  readonly resourceRules: readonly ResourceRule[];
  readonly nonResourceRules: readonly NonResourceRule[];
  /** True if other rules may apply too. */
  readonly incomplete: boolean;
  /** Errors of the evaluation. */
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

/**
 * Decides whether a user may perform an action. An error counts as no opinion; its message is part of the denial if no authorizer
 * allows the request.
 */
export interface Authorizer {
  readonly name: string;
  /** Type of an authorizer that the administrator named in a configuration file. */
  readonly type?: string;
  authorize(attributes: AuthorizationAttributes): AuthorizationResult | Promise<AuthorizationResult>;
  /** Returns the rules of a user; only in authorizers that decide by rules. */
  rulesFor?(user: UserInfo, namespace: string): UserRules | Promise<UserRules>;
}

/** Injection token of the server's authorizer: the union of all enabled authorizers. */
export const Authorizer = Symbol.for('kubenest.Authorizer');

import type { UserInfo } from '#apiserver/authentication/authenticator';

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
}

export type Decision = 'Allow' | 'Deny' | 'NoOpinion';
export interface AuthorizationResult {
  readonly decision: Decision;
  readonly reason: string;
}

/** Decides whether a user may do something. Throwing counts as no opinion with an error, which the answer tells if nobody allows. */
export interface Authorizer {
  readonly name: string;
  authorize(attributes: AuthorizationAttributes): AuthorizationResult | Promise<AuthorizationResult>;
}

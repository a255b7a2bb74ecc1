import { escapeMarkup } from '#apiserver/base/markup';
import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { newForbidden, StatusError } from '#apimachinery/api/errors';
import { quote } from '#apimachinery/runtime/quote';
import { requestContextOf } from '#apiserver/request/execution-context';
import { type PlacedWrite, writeOf } from '#apiserver/request/on-resource';
import type { RequestContext } from '#apiserver/request/request-context';
import type { AuthorizationAttributes, AuthorizationResult } from './authorizer.ts';
import { selectorsOf } from './request-selectors.ts';
import { UnionAuthorizer } from './union.ts';

/** Forbidden, with the authorizers' decision. */
export class DeniedError extends StatusError {
  constructor(
    { status }: StatusError,
    /** `Deny` if an authorizer denied the request; `NoOpinion` if none allowed it. */
    readonly decision: 'Deny' | 'NoOpinion',
  ) {
    super(status);
  }
}

/** Authorizes a request by the union of authorizers. Throws Forbidden for a denial. */
@Injectable()
export class AuthorizationGuard implements CanActivate {
  constructor(@Inject(UnionAuthorizer) readonly authorizer: UnionAuthorizer) {}

  /** On a method that is marked with `@OnResource`, authorizes the write of the resource, otherwise the path. */
  canActivate(execution: ExecutionContext): boolean | Promise<boolean> {
    const context = requestContextOf(execution);
    const write = writeOf(execution);
    return write ? this.#decide(context, writeAttributes(context, write)) : this.authorize(context);
  }

  authorize(context: RequestContext): boolean | Promise<boolean> {
    return this.#decide(context, authorizationAttributes(context));
  }

  #decide(context: RequestContext, attributes: AuthorizationAttributes): boolean | Promise<boolean> {
    const { trace } = context;
    const answer = trace ? this.authorizer.authorizeTraced(attributes, trace) : this.authorizer.authorize(attributes);
    return answer instanceof Promise
      ? answer.then((result) => this.#accept(context, attributes, result))
      : this.#accept(context, attributes, answer);
  }

  #accept(context: RequestContext, attributes: AuthorizationAttributes, { decision, reason }: AuthorizationResult): boolean {
    context.auditAnnotations
      ?.set('authorization.k8s.io/decision', decision === 'Allow' ? 'allow' : 'forbid')
      .set('authorization.k8s.io/reason', reason);
    if (decision !== 'Allow') throw new DeniedError(forbiddenError(attributes, reason), decision);
    return true;
  }
}

function writeAttributes(
  context: RequestContext,
  { operation, group, version, resource, namespace, name }: PlacedWrite,
): AuthorizationAttributes {
  return {
    user: context.authenticatedUser,
    verb: operation === 'CREATE' ? 'create' : 'update',
    isResourceRequest: true,
    apiGroup: group,
    apiVersion: version,
    resource,
    subresource: '',
    namespace,
    name,
    path: context.path,
  };
}

export function authorizationAttributes(context: RequestContext): AuthorizationAttributes {
  const { info } = context;
  const attributes: AuthorizationAttributes = {
    user: context.authenticatedUser,
    verb: info.verb,
    isResourceRequest: info.isResourceRequest,
    apiGroup: info.apiGroup,
    apiVersion: info.apiVersion,
    resource: info.resource,
    subresource: info.subresource,
    namespace: info.namespace,
    name: info.name,
    path: info.path,
  };
  if (!info.fieldSelector && !info.labelSelector) return attributes;
  // Parsed on demand: selectors may be long, and few authorizers read them.
  let selectors: ReturnType<typeof selectorsOf> | undefined;
  const read = (): ReturnType<typeof selectorsOf> => (selectors ??= selectorsOf(info));
  return {
    ...attributes,
    get fieldSelector() {
      return read().fieldSelector;
    },
    get labelSelector() {
      return read().labelSelector;
    },
  };
}

/** Returns the Forbidden error of a denied request. Upstream: endpoints/handlers/responsewriters/errors.go. */
export function forbiddenError(attributes: AuthorizationAttributes, reason: string): StatusError {
  const resource = { group: attributes.apiGroup, resource: attributes.resource };
  const message = escapeMarkup(forbiddenMessage(attributes));
  return newForbidden(resource, attributes.name, reason ? `${message}: ${reason}` : message);
}

function forbiddenMessage({
  user,
  verb,
  isResourceRequest,
  path,
  resource,
  subresource,
  apiGroup,
  namespace,
}: AuthorizationAttributes): string {
  const who = `User ${quote(user.name)} cannot ${verb}`;
  if (!isResourceRequest) return `${who} path ${quote(path)}`;
  const what = `resource ${quote(subresource ? `${resource}/${subresource}` : resource)} in API group ${quote(apiGroup)}`;
  return namespace ? `${who} ${what} in the namespace ${quote(namespace)}` : `${who} ${what} at the cluster scope`;
}

import { Inject, Injectable, Optional, UseInterceptors } from '@nestjs/common';
import { newBadRequest } from '#apimachinery/api/errors';
import type { KubeObject } from '#apimachinery/meta/types';
import { AdmissionInterceptor } from '#apiserver/admission/admission.interceptor';
import { TokenIssuer } from '#apiserver/authentication/token-issuer';
import type { Credentials } from '#apiserver/authentication/authenticator';
import type { UserInfo } from '#apiserver/request/user-info';
import { UnionAuthenticator, withAuthenticatedGroup } from '#apiserver/authentication/union';
import { readCreate, respondValue } from '#apiserver/endpoints/handlers/create-request';
import type { ResourceEndpoint } from '#apiserver/endpoints/handlers/resource-endpoint';
import type { RequestContext } from '#apiserver/request/request-context';
import type { TokenReview, UserInfo as ShownUser } from '#kubernetes/schema/authentication_v1.gen';

function shownUser({ name, uid, groups, extra }: UserInfo): ShownUser {
  return {
    username: name,
    ...(uid && { uid }),
    ...(groups.length > 0 && { groups: [...groups] }),
    ...(extra &&
      Object.keys(extra).length > 0 && { extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]])) }),
  };
}

/** Returns the user of the request. Upstream: kubernetes/pkg/registry/authentication/selfsubjectreview. */
@Injectable()
@UseInterceptors(AdmissionInterceptor)
export class SelfSubjectReviewHandler {
  async handle(context: RequestContext, endpoint: ResourceEndpoint): Promise<void> {
    const { object, request, negotiated } = await readCreate(context, endpoint);
    await request.validate('CREATE', object, undefined);
    const answer: KubeObject = {
      kind: object.kind,
      apiVersion: object.apiVersion,
      metadata: { creationTimestamp: request.now },
      status: { userInfo: shownUser(context.authenticatedUser) },
    };
    return respondValue(context, endpoint, 201, answer, negotiated);
  }
}

/** Authenticates the bearer token of the review. Upstream: kubernetes/pkg/registry/authentication/tokenreview. */
@Injectable()
@UseInterceptors(AdmissionInterceptor)
export class TokenReviewHandler {
  readonly #audiences: readonly string[];

  constructor(
    @Inject(UnionAuthenticator) private readonly authenticator: UnionAuthenticator,
    @Optional() @Inject(TokenIssuer) issuer?: TokenIssuer,
  ) {
    this.#audiences = issuer?.apiAudiences ?? [];
  }

  async handle(context: RequestContext, endpoint: ResourceEndpoint): Promise<void> {
    const { object, request, negotiated } = await readCreate<TokenReview>(context, endpoint);
    const { token = '', audiences: asked = [] } = object.spec ?? {};
    if (!token) throw newBadRequest('token is required for TokenReview in authentication');
    await request.validate('CREATE', object, undefined);
    const review = await this.#review(token, asked.length > 0 ? asked : this.#audiences);
    // Fields that the client sent stay in the status unless the review sets them.
    object.status = { user: {}, ...object.status, authenticated: false, ...review };
    return respondValue(context, endpoint, 201, object, negotiated);
  }

  async #review(token: string, wanted: readonly string[]): Promise<NonNullable<TokenReview['status']>> {
    try {
      const user = await this.authenticator.authenticate(credentialsOf(token, wanted));
      if (!user) return {};
      // Authenticators without audiences authenticate for the server's own audiences.
      const audiences = wanted.filter((audience) => (user.audiences ?? this.#audiences).includes(audience));
      if (wanted.length > 0 && audiences.length === 0) return { error: 'invalid bearer token' };
      return { authenticated: true, user: shownUser(withAuthenticatedGroup(user)), ...(audiences.length > 0 && { audiences }) };
    } catch (error) {
      return { error: (error as Error).message };
    }
  }
}

/** Returns the credentials of a request that carries only the token. */
function credentialsOf(token: string, audiences: readonly string[]): Credentials {
  return {
    headers: { authorization: `Bearer ${token}` },
    headerValues: () => [],
    path: '',
    peer: { remoteAddress: '', certificates: [], memo: new Map() },
    ...(audiences.length > 0 && { audiences }),
  };
}

import type { Credentials, TokenAuthenticator, UserInfo } from 'kubenest/sdk';
import type { JsonClient } from '#sdk/internal';

interface TokenReviewStatus {
  readonly authenticated?: boolean;
  readonly user?: {
    readonly username?: string;
    readonly uid?: string;
    readonly groups?: readonly string[];
    readonly extra?: Readonly<Record<string, readonly string[]>>;
  };
  readonly audiences?: readonly string[];
  readonly error?: string;
}

/**
 * `--authentication-token-webhook-config-file`: authenticates tokens by a TokenReview webhook. Upstream:
 * apiserver/plugin/pkg/authenticator/token/webhook.
 */
export class WebhookTokenAuth implements TokenAuthenticator {
  readonly name = 'WebhookTokenAuth';

  constructor(
    private readonly client: JsonClient,
    private readonly version: 'v1' | 'v1beta1',
    /** `--api-audiences`: audiences assumed if the webhook returns none. */
    private readonly audiences: readonly string[],
  ) {}

  async authenticateToken(token: string, request: Pick<Credentials, 'audiences'>): Promise<UserInfo | undefined> {
    const wanted = request.audiences ?? this.audiences;
    const review = await this.client.post({
      kind: 'TokenReview',
      apiVersion: `authentication.k8s.io/${this.version}`,
      metadata: { creationTimestamp: null },
      spec: { token, ...(wanted.length > 0 && { audiences: wanted }) },
      status: { user: {} },
    });
    const { authenticated, user = {}, audiences: accepted = [], error } = (review['status'] ?? {}) as TokenReviewStatus;
    const granted = accepted.length > 0 ? accepted : this.audiences;
    const audiences = wanted.filter((audience) => granted.includes(audience));
    if (wanted.length > 0 && audiences.length === 0) return undefined;
    if (authenticated !== true) {
      if (error) throw new Error(error);
      return undefined;
    }
    const { username = '', uid, groups = [], extra } = user;
    return { name: username, groups, ...(uid && { uid }), ...(extra && { extra }), ...(wanted.length > 0 && { audiences }) };
  }
}

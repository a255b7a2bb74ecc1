import type { AuthorizationAttributes, AuthorizationResult, Authorizer, UserRules } from 'kubenest/sdk';
import { type JsonClient, settledAnew } from '#sdk/internal';

/**
 * Maximum size of the attributes of a cached review. Upstream: apiserver/plugin/pkg/authorizer/webhook/webhook.go
 * (maxControlledAttrCacheSize).
 */
const maxCachedAttributeSize = 10_000;
const maxEntries = 8_192;
const maxWaiting = 4_096;

export interface WebhookAuthorizerOptions {
  readonly name: string;
  readonly version: 'v1' | 'v1beta1';
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
  /** Decision if the webhook fails. */
  readonly failurePolicy: 'NoOpinion' | 'Deny';
  /** Returns true if the match conditions select the request; throws if they cannot be evaluated. */
  readonly matches?: ((review: SubjectAccessReviewSpec) => boolean) | undefined;
  readonly now?: () => number;
}

/** A SubjectAccessReviewSpec of authorization.k8s.io/v1. */
export interface SubjectAccessReviewSpec {
  readonly resourceAttributes?: Readonly<Record<string, unknown>>;
  readonly nonResourceAttributes?: Readonly<Record<string, string>>;
  readonly user?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  readonly uid?: string;
}

interface Status {
  readonly allowed?: boolean;
  readonly denied?: boolean;
  readonly reason?: string;
}

/**
 * `--authorization-mode=Webhook`: authorizes by a SubjectAccessReview webhook. Its responses are cached by the complete
 * review; concurrent equal requests share one call. Upstream: apiserver/plugin/pkg/authorizer/webhook/webhook.go.
 */
export class WebhookAuthorizer implements Authorizer {
  readonly type = 'Webhook';
  readonly name: string;
  readonly #cache = new Map<string, { readonly status: Status; readonly until: number }>();
  readonly #waiting = new Map<string, Promise<Status>>();
  readonly #now: () => number;

  constructor(
    private readonly client: JsonClient,
    private readonly options: WebhookAuthorizerOptions,
  ) {
    this.name = options.name;
    this.#now = options.now ?? (() => performance.now());
  }

  async authorize(attributes: AuthorizationAttributes): Promise<AuthorizationResult> {
    try {
      const spec = specOf(attributes, this.options.version);
      const { matches } = this.options;
      // Another thread matches large regular expressions.
      if (matches && !(await settledAnew(() => matches(spec)))) return { decision: 'NoOpinion', reason: '' };
      return resultOf(await this.#status(spec, attributes));
    } catch (error) {
      if (this.options.failurePolicy === 'Deny') return { decision: 'Deny', reason: (error as Error).message };
      throw error;
    }
  }

  rulesFor(): UserRules {
    return {
      resourceRules: [],
      nonResourceRules: [],
      incomplete: true,
      errors: ['webhook authorizer does not support user rule resolution'],
    };
  }

  async #status(spec: SubjectAccessReviewSpec, attributes: AuthorizationAttributes): Promise<Status> {
    const key = JSON.stringify(spec);
    const cached = this.#cache.get(key);
    if (cached && cached.until > this.#now()) return cached.status;
    let waiting = this.#waiting.get(key);
    if (!waiting) {
      waiting = this.#ask(spec).finally(() => this.#waiting.delete(key));
      if (this.#waiting.size < maxWaiting) this.#waiting.set(key, waiting);
    }
    const status = await waiting;
    if (sizeOf(attributes) < maxCachedAttributeSize) this.#keep(key, status);
    return status;
  }

  async #ask(spec: SubjectAccessReviewSpec): Promise<Status> {
    const review = await this.client.post({
      kind: 'SubjectAccessReview',
      apiVersion: `authorization.k8s.io/${this.options.version}`,
      metadata: { creationTimestamp: null },
      spec,
      status: { allowed: false },
    });
    return (review['status'] ?? {}) as Status;
  }

  #keep(key: string, status: Status): void {
    const ttl = status.allowed === true ? this.options.authorizedTtlMs : this.options.unauthorizedTtlMs;
    this.#cache.delete(key);
    if (ttl <= 0) return;
    if (this.#cache.size >= maxEntries) this.#cache.delete(this.#cache.keys().next().value as string);
    this.#cache.set(key, { status, until: this.#now() + ttl });
  }
}

function resultOf({ allowed, denied, reason = '' }: Status): AuthorizationResult {
  if (denied === true) return { decision: 'Deny', reason };
  return { decision: allowed === true ? 'Allow' : 'NoOpinion', reason };
}

function sizeOf({ namespace, verb, apiGroup, apiVersion, resource, subresource, name, path }: AuthorizationAttributes): number {
  return [namespace, verb, apiGroup, apiVersion, resource, subresource, name, path].reduce((sum, text) => sum + text.length, 0);
}

/** Builds the review; v1beta1 names the groups `group`. */
function specOf(attributes: AuthorizationAttributes, version: 'v1' | 'v1beta1'): SubjectAccessReviewSpec {
  const { user, isResourceRequest, verb, path } = attributes;
  return {
    ...(isResourceRequest ? { resourceAttributes: resourceAttributesOf(attributes) } : { nonResourceAttributes: { path, verb } }),
    user: user.name,
    ...(user.groups.length > 0 && { [version === 'v1' ? 'groups' : 'group']: user.groups }),
    ...(user.extra && { extra: user.extra }),
    ...(user.uid && { uid: user.uid }),
  };
}

function resourceAttributesOf(attributes: AuthorizationAttributes): Readonly<Record<string, unknown>> {
  const { namespace, verb, apiGroup, apiVersion, resource, subresource, name, fieldSelector, labelSelector } = attributes;
  const texts = { namespace, verb, group: apiGroup, version: apiVersion, resource, subresource, name };
  return {
    ...Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== '')),
    ...(fieldSelector && { fieldSelector: { requirements: fieldSelector } }),
    ...(labelSelector && { labelSelector: { requirements: labelSelector } }),
  };
}

import { createHash, timingSafeEqual } from 'node:crypto';
import type { Informer, Informers, TokenAuthenticator, UserInfo } from 'kubenest/sdk';
import type { Secret } from 'kubenest/types/core_v1';
import {
  bootstrapSecretName,
  bootstrapTokenData,
  bootstrapTokenExpiresInMs,
  bootstrapTokenNamespace,
  bootstrapTokenType,
} from '../common/bootstrap-tokens.ts';

const defaultGroup = 'system:bootstrappers';
const groupPattern = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

/**
 * `--enable-bootstrap-token-auth`: authenticates joining nodes by tokens `id.secret`, which are stored in secrets of
 * kube-system. Upstream: kubernetes/plugin/pkg/auth/authenticator/token/bootstrap/bootstrap.go.
 */
export class BootstrapToken implements TokenAuthenticator {
  readonly name = 'BootstrapToken';
  readonly #secrets: Informer<Secret>;

  constructor(
    informers: Informers,
    private readonly now: () => number = Date.now,
  ) {
    this.#secrets = informers.for({ group: '', resource: 'secrets' });
  }

  /** Returns undefined for tokens of another form or without a secret, which may belong to another authenticator. */
  authenticateToken(token: string): UserInfo | undefined {
    const [, id, secret] = /^([a-z0-9]{6})\.([a-z0-9]{16})$/.exec(token) ?? [];
    if (id === undefined || secret === undefined) return undefined;
    const stored = this.#secrets.get(bootstrapTokenNamespace, bootstrapSecretName(id));
    if (!stored || stored.metadata.deletionTimestamp || stored.type !== bootstrapTokenType) return undefined;
    const data = (key: string): string => bootstrapTokenData(stored, key);
    if (!equalTexts(data('token-secret'), secret) || data('token-id') !== id) return undefined;
    if ((bootstrapTokenExpiresInMs(stored, this.now()) ?? 1) <= 0) return undefined;
    if (data('usage-bootstrap-authentication') !== 'true') return undefined;
    const groups = groupsOf(data('auth-extra-groups'));
    return groups && { name: `system:bootstrap:${id}`, groups };
  }
}

/** Parses the extra groups; undefined if any is not permitted for bootstrap tokens. */
function groupsOf(text: string): string[] | undefined {
  const more = text === '' ? [] : text.split(',');
  return more.every((group) => groupPattern.test(group)) ? [...new Set([defaultGroup, ...more])].sort() : undefined;
}

/** True if the texts are equal. Compares in constant time. */
function equalTexts(a: string, b: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(a), hash(b));
}

import { posix } from 'node:path';
import { type Clock, type ControllerClient, StatusError } from 'kubenest/sdk';
import type { TokenRequest } from 'kubenest/types/authentication_v1';
import type { Container, Pod, ServiceAccountTokenProjection } from 'kubenest/types/core_v1';
import type { MountedTexts } from '../pods/cluster-sources.ts';
import { mountsOf } from '../pods/container-files.ts';
import { timeOf } from '../time.ts';

interface KnownToken {
  readonly token: string;
  readonly expiresAt: number;
  /** Time from which a new token is requested: that at which 80 % of the lifetime are over. */
  readonly refreshAt: number;
}

const target = { group: '', version: 'v1', resource: 'serviceaccounts', subresource: 'token' } as const;
const maxTokens = 10_000;

/**
 * Tokens of service accounts in the volumes of pods. They are requested when a command may read them. Upstream:
 * kubernetes/pkg/kubelet/token.
 */
export class ServiceAccountTokens {
  readonly #tokens = new Map<string, KnownToken>();

  constructor(
    private readonly client: Pick<ControllerClient, 'create'>,
    private readonly clock: Pick<Clock, 'wallTime'>,
  ) {}

  /** Adds the tokens of a container to its mounted files. Those that the API server refuses remain unknown. */
  async addTo(mounted: MountedTexts, pod: Pod, container: Container): Promise<MountedTexts> {
    const texts: Record<string, string> = { ...mounted.texts };
    const found = new Set<string>();
    for (const { path, volume } of mountsOf(pod, container)) {
      for (const { serviceAccountToken } of volume?.projected?.sources ?? []) {
        const token = serviceAccountToken && (await this.#token(pod, serviceAccountToken));
        if (token === undefined) continue;
        const file = posix.join(path, serviceAccountToken?.path ?? '');
        texts[file] = token;
        found.add(file);
      }
    }
    return { ...mounted, texts, unknown: mounted.unknown.filter((file) => !found.has(file)) };
  }

  async #token(pod: Pod, { audience, expirationSeconds = 3_600 }: ServiceAccountTokenProjection): Promise<string | undefined> {
    const { name = '', namespace = '', uid = '' } = pod.metadata;
    const key = JSON.stringify([uid, audience, expirationSeconds]);
    const now = this.clock.wallTime();
    const known = this.#tokens.get(key);
    if (known && now < known.refreshAt) return known.token;
    const request = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: { namespace, name: pod.spec?.serviceAccountName ?? 'default' },
      spec: {
        audiences: audience === undefined ? [] : [audience],
        expirationSeconds,
        boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
      },
    } satisfies TokenRequest;
    try {
      const { status } = await this.client.create<TokenRequest>(target, request);
      const expiresAt = timeOf(status?.expirationTimestamp);
      this.#remember(key, { token: status?.token ?? '', expiresAt, refreshAt: now + (expiresAt - now) * 0.8 }, now);
      return status?.token;
    } catch (error) {
      if (error instanceof StatusError) return undefined;
      throw error;
    }
  }

  #remember(key: string, token: KnownToken, now: number): void {
    this.#tokens.set(key, token);
    if (this.#tokens.size <= maxTokens) return;
    for (const [one, { expiresAt }] of this.#tokens) if (expiresAt <= now || this.#tokens.size > maxTokens) this.#tokens.delete(one);
  }
}

import {
  Clock,
  Controller,
  ControllerClient,
  deepEqual,
  inject,
  isConflict,
  isNotFound,
  type ReconcileRequest,
  type SharedInformer,
  SharedInformers,
  Watches,
} from 'kubenest/sdk';
import type { ConfigMap, Secret } from 'kubenest/types/core_v1';
import {
  bootstrapTokenData,
  bootstrapTokenExpiresInMs,
  bootstrapTokenId,
  bootstrapTokenNamespace,
  bootstrapTokenType,
} from '../../common/bootstrap-tokens.ts';
import { asManager } from '../common/as-manager.ts';
import { detachedSignature } from './detached-signature.ts';

const configMaps = { group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap' } as const;
const secrets = { group: '', resource: 'secrets' };
const clusterInfo = { namespace: 'kube-public', name: 'cluster-info' } as const;
const signatureKey = 'jws-kubeconfig-';

/** The signing key of a token; undefined if the Secret may not sign. Upstream: validateSecretForSigning. */
export function signingKey(secret: Secret, nowMs: number): { readonly id: string; readonly secret: string } | undefined {
  const id = bootstrapTokenId(secret);
  const key = bootstrapTokenData(secret, 'token-secret');
  if (id === undefined || bootstrapTokenData(secret, 'token-id') !== id || key === '') return undefined;
  if ((bootstrapTokenExpiresInMs(secret, nowMs) ?? 1) <= 0) return undefined;
  return bootstrapTokenData(secret, 'usage-bootstrap-signing') === 'true' ? { id, secret: key } : undefined;
}

/**
 * Signs the kubeconfig in the ConfigMap kube-public/cluster-info with each bootstrap token, so that nodes that have a token can verify it
 * before they join. Upstream: pkg/controller/bootstrap/bootstrapsigner.go.
 */
@Controller({
  name: 'bootstrap-signer-controller',
  serviceAccount: 'bootstrap-signer',
  for: configMaps,
  filter: ({ metadata }) => metadata.name === clusterInfo.name && metadata.namespace === clusterInfo.namespace,
  ...asManager,
})
export class BootstrapSignerController {
  readonly #configMaps: SharedInformer<ConfigMap>;
  readonly #secrets: SharedInformer<Secret>;

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(SharedInformers) informers: SharedInformers,
    @inject(Clock) private readonly clock: Clock,
  ) {
    this.#configMaps = informers.for<ConfigMap>(configMaps);
    this.#secrets = informers.for<Secret>(secrets);
  }

  @Watches(secrets)
  *requestsOfSecret({ metadata, type }: Secret): Iterable<ReconcileRequest> {
    if (metadata.namespace === bootstrapTokenNamespace && type === bootstrapTokenType) yield clusterInfo;
  }

  async reconcile({ namespace, name }: ReconcileRequest): Promise<void> {
    const configMap = this.#configMaps.get(namespace, name);
    const content = configMap?.data?.['kubeconfig'];
    if (!configMap || content === undefined) return;
    const kept = Object.entries(configMap.data ?? {}).filter(([key]) => !key.startsWith(signatureKey));
    const data = { ...Object.fromEntries(kept), ...this.#signatures(content) };
    if (deepEqual(data, configMap.data)) return;
    try {
      await this.client.replace(configMaps, { ...configMap, data });
    } catch (error) {
      // The change that caused it leads to another reconcile.
      if (!isConflict(error) && !isNotFound(error)) throw error;
    }
  }

  #signatures(content: string): Record<string, string> {
    const signatures: Record<string, string> = {};
    for (const secret of this.#secrets.list(bootstrapTokenNamespace)) {
      const key = secret.type === bootstrapTokenType && signingKey(secret, this.clock.wallTime());
      if (key) signatures[`${signatureKey}${key.id}`] = detachedSignature(content, key.id, key.secret);
    }
    return signatures;
  }
}

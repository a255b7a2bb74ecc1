import {
  Controller,
  ControllerClient,
  inject,
  isConflict,
  isNotFound,
  type KubeObject,
  type ReconcileRequest,
  type SharedInformer,
  SharedInformers,
  Watches,
} from 'kubenest/sdk';
import { ClusterCredentials } from '#sdk/internal';
import type { Secret, ServiceAccount } from 'kubenest/types/core_v1';
import { asManager } from '../common/as-manager.ts';

const secrets = { group: '', version: 'v1', resource: 'secrets', kind: 'Secret' } as const;
const serviceAccounts = { group: '', version: 'v1', resource: 'serviceaccounts' };
const tokenType = 'kubernetes.io/service-account-token';
const nameAnnotation = 'kubernetes.io/service-account.name';
const uidAnnotation = 'kubernetes.io/service-account.uid';
/** Index of the token Secrets by the service account that they name: `namespace/name`. */
const byAccount = 'serviceAccount';

/**
 * Fills Secrets of type kubernetes.io/service-account-token with the token, the namespace and the authority of the server, and deletes
 * those whose service account is gone. Upstream: pkg/controller/serviceaccount/tokens_controller.go.
 */
@Controller({
  name: 'serviceaccount-token-controller',
  for: secrets,
  concurrency: 5,
  rules: [
    { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'update', 'delete'] },
    { apiGroups: [''], resources: ['serviceaccounts'], verbs: ['get', 'update'] },
  ],
  ...asManager,
})
export class ServiceAccountTokenController {
  readonly #secrets: SharedInformer<Secret>;
  readonly #serviceAccounts: SharedInformer<ServiceAccount>;

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(ClusterCredentials) private readonly credentials: ClusterCredentials,
    @inject(SharedInformers) informers: SharedInformers,
  ) {
    this.#secrets = informers.for<Secret>(secrets);
    this.#serviceAccounts = informers.for<ServiceAccount>(serviceAccounts);
    this.#secrets.addIndex(byAccount, (secret) => (isToken(secret) ? [`${secret.metadata.namespace}/${accountOf(secret)}`] : []));
  }

  /** The tokens of a service account that is created or deleted. */
  @Watches(serviceAccounts)
  *requestsOfServiceAccount({ metadata: { namespace = '', name } }: KubeObject): Iterable<ReconcileRequest> {
    for (const { metadata } of this.#secrets.byIndex(byAccount, `${namespace}/${name}`)) yield { namespace, name: metadata.name as string };
  }

  async reconcile({ namespace, name }: ReconcileRequest): Promise<void> {
    const secret = this.#secrets.get(namespace, name);
    if (!secret) return this.#removeReference(namespace, name);
    if (!isToken(secret)) return;
    const account = await this.#accountOf(secret);
    try {
      if (account) await this.#fill(secret, account);
      else await this.client.remove(secrets, namespace, name, { preconditions: { uid: secret.metadata.uid } });
    } catch (error) {
      // The newer state of the Secret is in the queue.
      if (!isConflict(error) && !isNotFound(error)) throw error;
    }
  }

  /** Returns the service account of a token; undefined if it does not exist (any more). */
  async #accountOf(secret: Secret): Promise<ServiceAccount | undefined> {
    const { namespace = '', annotations } = secret.metadata;
    const isRight = (account: ServiceAccount | undefined): boolean =>
      account !== undefined && (!annotations?.[uidAnnotation] || annotations[uidAnnotation] === account.metadata.uid);
    const cached = this.#serviceAccounts.get(namespace, accountOf(secret));
    if (isRight(cached)) return cached;
    const stored = await this.client.get<ServiceAccount>(serviceAccounts, namespace, accountOf(secret));
    return isRight(stored) ? stored : undefined;
  }

  async #fill(secret: Secret, account: ServiceAccount): Promise<void> {
    const data: Record<string, string> = { ...secret.data };
    const { namespace = '', name = '' } = secret.metadata;
    const { rootCertificateAuthority: authority, signSecretToken } = this.credentials;
    if (authority) data['ca.crt'] = base64(authority);
    if (!data['namespace']) data['namespace'] = base64(namespace);
    if (!data['token'] && signSecretToken) {
      const { name: serviceAccountName = '', uid: serviceAccountUid = '' } = account.metadata;
      data['token'] = base64(await signSecretToken({ namespace, secretName: name, serviceAccountName, serviceAccountUid }));
    }
    if (Object.keys(data).every((key) => data[key] === secret.data?.[key])) return;
    const annotations = {
      ...secret.metadata.annotations,
      [nameAnnotation]: account.metadata.name as string,
      [uidAnnotation]: account.metadata.uid as string,
    };
    await this.client.replace(secrets, { ...secret, metadata: { ...secret.metadata, annotations }, data });
  }

  /** Removes a deleted Secret from the list of its service account. */
  async #removeReference(namespace: string, secret: string): Promise<void> {
    const refers = ({ secrets: listed }: ServiceAccount): boolean => listed?.some(({ name }) => name === secret) ?? false;
    for (const { metadata } of this.#serviceAccounts.list(namespace).filter(refers)) {
      await this.client.update<ServiceAccount>(serviceAccounts, namespace, metadata.name as string, (account) =>
        refers(account) ? { ...account, secrets: (account.secrets ?? []).filter(({ name }) => name !== secret) } : undefined,
      );
    }
  }
}

const isToken = ({ type }: Secret): boolean => type === tokenType;
const accountOf = ({ metadata }: Secret): string => metadata.annotations?.[nameAnnotation] ?? '';
const base64 = (text: string): string => Buffer.from(text).toString('base64');

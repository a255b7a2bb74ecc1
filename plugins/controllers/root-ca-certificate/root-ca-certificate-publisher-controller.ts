import {
  Controller,
  ControllerClient,
  deepEqual,
  inject,
  isAlreadyExists,
  isNotFound,
  type KubeObject,
  type ReconcileRequest,
  type SharedInformer,
  SharedInformers,
  Watches,
} from 'kubenest/sdk';
import { ClusterCredentials } from '#sdk/internal';
import type { ConfigMap, Namespace } from 'kubenest/types/core_v1';
import { asManager } from '../common/as-manager.ts';
import { isNamespaceTerminating } from '../common/namespace-terminating.ts';

const namespaces = { group: '', version: 'v1', resource: 'namespaces', kind: 'Namespace', isClusterScoped: true } as const;
const configMaps = { group: '', version: 'v1', resource: 'configmaps' };
const name = 'kube-root-ca.crt';
const annotation = 'kubernetes.io/description';
const description =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.';

/**
 * Keeps the authority of the server's certificate in a ConfigMap of each namespace. Upstream:
 * pkg/controller/certificates/rootcacertpublisher.
 */
@Controller({
  name: 'root-ca-certificate-publisher-controller',
  serviceAccount: 'root-ca-cert-publisher',
  for: namespaces,
  concurrency: 5,
  ...asManager,
})
export class RootCertificatePublisher {
  readonly #namespaces: SharedInformer<Namespace>;
  readonly #configMaps: SharedInformer<ConfigMap>;

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(ClusterCredentials) private readonly credentials: ClusterCredentials,
    @inject(SharedInformers) informers: SharedInformers,
  ) {
    this.#namespaces = informers.for<Namespace>(namespaces);
    this.#configMaps = informers.for<ConfigMap>(configMaps);
  }

  @Watches(configMaps)
  *requestsOfConfigMap({ metadata }: KubeObject): Iterable<ReconcileRequest> {
    if (metadata.name === name) yield { namespace: '', name: metadata.namespace ?? '' };
  }

  async reconcile({ name: namespace }: ReconcileRequest): Promise<void> {
    if (this.#namespaces.get('', namespace)?.status?.phase !== 'Active') return;
    const data = { 'ca.crt': this.credentials.rootCertificateAuthority };
    const present = this.#configMaps.get(namespace, name);
    try {
      if (!present) await this.client.create(configMaps, newConfigMap(namespace, data));
      else if (!isRight(present, data)) await this.client.replace(configMaps, restored(present, data));
    } catch (error) {
      if (!isAlreadyExists(error) && !isNotFound(error) && !isNamespaceTerminating(error)) throw error;
    }
  }
}

type Data = Readonly<Record<string, string>>;

function newConfigMap(namespace: string, data: Data): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name, annotations: { [annotation]: description } }, data };
}

function isRight({ data: present, metadata }: ConfigMap, data: Data): boolean {
  return deepEqual(present ?? {}, data) && !!metadata.annotations?.[annotation];
}

function restored(configMap: ConfigMap, data: Data): ConfigMap {
  const annotations = { ...configMap.metadata.annotations, [annotation]: description };
  return { ...configMap, metadata: { ...configMap.metadata, annotations }, data };
}

import { join } from 'node:path';
import { readText } from '#apiserver/base/system-error';
import { noCredentials, readKubeconfig, type ServiceConnection } from '#apiserver/network/webhook/kubeconfig';

/** Folder in which a kubelet mounts the credentials of a pod's service account. */
const serviceAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Environment and files of a pod, from which it learns how to reach its cluster. */
export interface PodEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly folder: string;
}

const ownPod: PodEnvironment = { env: process.env, folder: serviceAccountFolder };

/**
 * Returns the connection of a kubeconfig's current context, or, without a file, that of the pod's service account. Rejects if neither
 * exists. Upstream: client-go/rest/config.go (InClusterConfig).
 */
export async function clusterConnection(kubeconfig: string | undefined, pod: PodEnvironment = ownPod): Promise<ServiceConnection> {
  if (kubeconfig !== undefined) return readKubeconfig(kubeconfig);
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = pod.env;
  if (!host || !port) throw new Error('this process does not run in a pod of a cluster: name the cluster with --kubeconfig');
  return {
    ...noCredentials,
    url: new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`),
    certificateAuthority: await readText(join(pod.folder, 'ca.crt')),
    serverName: undefined,
    insecure: false,
    tokenFile: join(pod.folder, 'token'),
  };
}

/** Returns the namespace of the pod; undefined outside of a pod. */
export async function podNamespace({ folder }: PodEnvironment = ownPod): Promise<string | undefined> {
  try {
    return (await readText(join(folder, 'namespace'))).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

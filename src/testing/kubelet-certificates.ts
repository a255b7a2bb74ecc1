import { Authority } from '#cmd/certificates/issue';
import { kubeletClientUser } from '#cmd/certificates/own-certificates';
import { defaultKubeletClientConfig, type KubeletClientConfig } from '#kubernetes/apis/core/kubelet-connection';
import type { KubeletCertificates } from '#plugins/nodes/options';

/** Both sides of the connections between a server and the kubelets of its simulated nodes. */
export interface KubeletSides {
  readonly kubelet: KubeletCertificates;
  readonly client: KubeletClientConfig;
}

/** Returns both sides for one server. Their certificates are created once per process. */
export async function kubeletSides(): Promise<KubeletSides> {
  const { authority, server, certificate } = await (issued ??= issue());
  const ports = new Set<number>();
  return {
    kubelet: { ...server, clientAuthorities: authority, clientName: kubeletClientUser, ports },
    client: { ...defaultKubeletClientConfig, ca: authority, certificate, ownPorts: ports },
  };
}

let issued: ReturnType<typeof issue> | undefined;

async function issue(): Promise<{ readonly authority: string; readonly server: Pair; readonly certificate: Pair }> {
  const authority = await Authority.create('kubenest-test-kubelets');
  const server = await authority.issue({ commonName: 'kubelet', names: ['127.0.0.1'], usages: ['server'] });
  const certificate = await authority.issue({ commonName: kubeletClientUser, usages: ['client'] });
  return { authority: authority.pair.cert, server, certificate };
}

type Pair = Awaited<ReturnType<Authority['issue']>>;

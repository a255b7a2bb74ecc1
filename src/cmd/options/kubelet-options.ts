import { Min } from 'class-validator';
import { Check, Flag } from './flag.ts';

/** Options of the kubelet client. Upstream: kubernetes/cmd/kube-apiserver/app/options. */
export class KubeletOptions {
  /** Authority of the kubelets' certificates. Empty: the server does not verify them. */
  @Flag('kubelet-certificate-authority')
  kubeletCertificateAuthority = '';

  @Flag('kubelet-client-certificate')
  @Check<KubeletOptions>((file: string, { kubeletClientKey }) =>
    (file === '') === (kubeletClientKey === '') ? undefined : '--kubelet-client-certificate and --kubelet-client-key are needed together',
  )
  kubeletClientCertificate = '';

  @Flag('kubelet-client-key')
  kubeletClientKey = '';

  /** Port of nodes that do not publish their own. */
  @Flag('kubelet-port')
  @Check<KubeletOptions>((port: number) =>
    port >= 1 && port <= 65_535 ? undefined : `--kubelet-port ${port} must be between 1 and 65535, inclusive`,
  )
  kubeletPort = 10_250;

  @Flag('kubelet-preferred-address-types')
  kubeletPreferredAddressTypes: readonly string[] = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'];

  /**
   * Bandwidth limit per direction of an upgraded connection (exec, attach, port-forward, proxy) to a node, pod or service; 0: unlimited.
   */
  @Flag('max-connection-bytes-per-sec')
  @Min(0, { message: '--max-connection-bytes-per-sec can not be negative value' })
  maxConnectionBytesPerSec = 0;

  /** Path of a file of kind EgressSelectorConfiguration: routes to nodes, services, webhooks and the store. */
  @Flag('egress-selector-config-file')
  egressSelectorConfigFile = '';
}

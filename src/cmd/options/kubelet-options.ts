import { Min } from 'class-validator';
import { Check, Flag } from './flag.ts';

/** How the server reaches kubelets. Upstream: kubernetes/cmd/kube-apiserver/app/options. */
export class KubeletOptions {
  /** Empty: the certificates of kubelets are not checked. */
  @Flag('kubelet-certificate-authority')
  kubeletCertificateAuthority = '';

  @Flag('kubelet-client-certificate')
  @Check<KubeletOptions>((file: string, { kubeletClientKey }) =>
    (file === '') === (kubeletClientKey === '') ? undefined : '--kubelet-client-certificate and --kubelet-client-key are needed together',
  )
  kubeletClientCertificate = '';

  @Flag('kubelet-client-key')
  kubeletClientKey = '';

  /** Of nodes that tell no port of their own. */
  @Flag('kubelet-port')
  @Check<KubeletOptions>((port: number) =>
    port >= 1 && port <= 65_535 ? undefined : `--kubelet-port ${port} must be between 1 and 65535, inclusive`,
  )
  kubeletPort = 10_250;

  @Flag('kubelet-preferred-address-types')
  kubeletPreferredAddressTypes: readonly string[] = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'];

  /** Of each way of an upgraded connection (exec, attach, port-forward, proxy) to a node, a pod or a service; 0: whatever it takes. */
  @Flag('max-connection-bytes-per-sec')
  @Min(0, { message: '--max-connection-bytes-per-sec can not be negative value' })
  maxConnectionBytesPerSec = 0;

  /** A file of kind EgressSelectorConfiguration: by which ways the server reaches nodes, services, webhooks and the store. */
  @Flag('egress-selector-config-file')
  egressSelectorConfigFile = '';
}

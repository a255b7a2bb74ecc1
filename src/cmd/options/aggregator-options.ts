import { Check, Flag } from './flag.ts';

/**
 * Options for proxying to the servers behind APIServices and to other servers on the same store. Upstream:
 * kubernetes/pkg/controlplane/apiserver/options.
 */
export class AggregatorOptions {
  @Flag('proxy-client-cert-file')
  @Check<AggregatorOptions>((file: string, { proxyClientKeyFile }) => pairProblem(file, proxyClientKeyFile))
  proxyClientCertFile = '';

  @Flag('proxy-client-key-file')
  proxyClientKeyFile = '';

  @Flag('aggregator-reject-forwarding-redirect')
  aggregatorRejectForwardingRedirect = true;

  @Flag('peer-ca-file')
  peerCaFile = '';

  @Flag('peer-advertise-ip')
  peerAdvertiseIp = '';

  @Flag('peer-advertise-port')
  peerAdvertisePort = '';
}

function pairProblem(certFile: string, keyFile: string): string | undefined {
  return (certFile === '') === (keyFile === '') ? undefined : '--proxy-client-cert-file and --proxy-client-key-file must be given together';
}

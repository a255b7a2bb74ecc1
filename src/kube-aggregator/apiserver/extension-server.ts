import { Buffer } from 'node:buffer';
import type { ServiceResolver } from '#apiserver/network/service-resolver';
import { trustOptions } from '#apiserver/network/trust';
import type { APIServiceSpec } from '#kube-aggregator/schema/apiregistration_v1.gen';
import { type ProxyClientCertificate, RemoteServer } from './remote-server.ts';

export interface ExtensionServerOptions {
  readonly services: ServiceResolver;
  /** False: requests do not name the UID of their user. Feature gate RemoteRequestHeaderUID. */
  readonly sendsUid: boolean;
  /** Called for each new connection; undefined for connections without a client certificate. */
  clientCertificate(): ProxyClientCertificate | undefined;
}

const defaultPort = 443;

/**
 * A server behind a Service, with the trust settings of one APIService. Upstream: kube-aggregator/pkg/controllers/status/remote
 * (BuildTransportConfig).
 */
export class ExtensionServer extends RemoteServer {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;

  constructor({ service = {}, caBundle, insecureSkipTLSVerify = false }: APIServiceSpec, options: ExtensionServerOptions) {
    const { namespace = '', name = '', port = defaultPort } = service;
    super({
      resolve: () => options.services.resolve(namespace, name, port),
      tls: {
        servername: `${name}.${namespace}.svc`,
        ...trustOptions({ ca: caBundle ? Buffer.from(caBundle, 'base64').toString('utf8') : undefined, insecure: insecureSkipTLSVerify }),
        ...options.clientCertificate(),
      },
      omitsUid: !options.sendsUid,
      dial: options.services.egress?.dial('cluster'),
    });
    this.namespace = namespace;
    this.name = name;
    this.port = port;
  }
}

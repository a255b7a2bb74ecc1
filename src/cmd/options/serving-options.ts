import { availableParallelism } from 'node:os';
import type { SecureVersion } from 'node:tls';
import { Max, Min } from 'class-validator';
import { type Http2Implementation, http2Implementations } from '#apiserver/serving/http2-server';
import { sharesPorts } from '#apiserver/serving/shares-ports';
import { goCipherSuites, tls13CipherSuites, unservedCipherSuites } from './cipher-suites.ts';
import { curveProblems } from './curves.ts';
import { Check, Flag } from './flag.ts';

/** Node names of the TLS versions, by their Go names. */
export const tlsVersions: ReadonlyMap<string, SecureVersion> = new Map([
  ['VersionTLS10', 'TLSv1'],
  ['VersionTLS11', 'TLSv1.1'],
  ['VersionTLS12', 'TLSv1.2'],
  ['VersionTLS13', 'TLSv1.3'],
]);
const workersMessage = '--serving-workers $value must be between 0 and 64, inclusive';

/** Listener and TLS options of the HTTPS server. Upstream: apiserver/pkg/server/options/serving.go. */
export class ServingOptions {
  @Flag('bind-address')
  bindAddress = '127.0.0.1';

  @Flag('secure-port')
  @Check<ServingOptions>((port: number, { kubeconfigOut }) =>
    port >= (kubeconfigOut === '' ? 1 : 0) && port <= 65_535
      ? undefined
      : `--secure-port ${port} must be between 1 and 65535, inclusive. It cannot be turned off with 0`,
  )
  securePort = 6443;

  /**
   * Path to which the administrator's kubeconfig is also written once the server serves. It permits `--secure-port=0`, which selects a free
   * port. Upstream has no such flag.
   */
  @Flag('kubeconfig-out')
  kubeconfigOut = '';

  /** Folder of generated certificates. Empty: the folder `pki` of the data folder. */
  @Flag('cert-dir')
  certDir = '';

  /** External hostname. Empty: the server's address. */
  @Flag('external-hostname')
  externalHostname = '';

  @Flag('tls-cert-file')
  @Check<ServingOptions>((file: string, { tlsPrivateKeyFile }) =>
    file !== '' && tlsPrivateKeyFile === '' ? '--tls-cert-file needs --tls-private-key-file' : undefined,
  )
  tlsCertFile = '';

  @Flag('tls-private-key-file')
  @Check<ServingOptions>((file: string, { tlsCertFile }) =>
    file !== '' && tlsCertFile === '' ? '--tls-private-key-file needs --tls-cert-file' : undefined,
  )
  tlsPrivateKeyFile = '';

  /** `certificate,key` or `certificate,key:name,name`. */
  @Flag('tls-sni-cert-key')
  @Check<ServingOptions>((values: readonly string[]) =>
    values
      .filter((value) => !parseNamedCertKey(value))
      .map((value) => `--tls-sni-cert-key ${JSON.stringify(value)} must be of the form CERTFILE,KEYFILE or CERTFILE,KEYFILE:NAME,NAME`),
  )
  tlsSniCertKey: readonly string[] = [];

  @Flag('tls-min-version')
  @Check<ServingOptions>((version: string) => {
    if (version === '' || tlsVersions.has(version)) return undefined;
    return `--tls-min-version ${JSON.stringify(version)} is unknown, it must be one of ${[...tlsVersions.keys()].join(', ')}`;
  })
  tlsMinVersion = '';

  @Flag('tls-cipher-suites')
  @Check<ServingOptions>((names: readonly string[]) =>
    names.flatMap((name) => {
      if (goCipherSuites.has(name) || tls13CipherSuites.has(name)) return [];
      return unservedCipherSuites.has(name)
        ? `--tls-cipher-suites: ${name} is not served: the TLS library is built without it`
        : `--tls-cipher-suites: cipher suite ${name} not supported or doesn't exist`;
    }),
  )
  tlsCipherSuites: readonly string[] = [];

  /** TLS key exchanges by their protocol numbers; empty: the defaults of the TLS library. */
  @Flag('tls-curve-preferences')
  @Check<ServingOptions>(curveProblems)
  tlsCurvePreferences: readonly string[] = [];

  /** True if several servers may listen on one port. */
  @Flag('permit-port-sharing')
  permitPortSharing = false;

  /** True if an address can be bound while earlier connections to it are still closing. */
  @Flag('permit-address-sharing')
  permitAddressSharing = false;

  @Flag('disable-http2-serving')
  disableHttp2Serving = false;

  /** Maximum number of streams; 0 and less: upstream's 100. */
  @Flag('http2-max-streams-per-connection')
  http2MaxStreamsPerConnection = 0;

  /** HTTP/2 implementation. docs/internals/http2.md compares their costs. Upstream has no such flag. */
  @Flag('http2-server')
  @Check<ServingOptions>((name: string) =>
    http2Implementations.includes(name as Http2Implementation)
      ? undefined
      : `--http2-server ${JSON.stringify(name)} is unknown, it must be one of ${http2Implementations.join(', ')}`,
  )
  http2Server = 'own';

  /**
   * Number of threads that terminate connections for the main thread; 0: the main thread terminates them itself. Upstream has no such flag.
   */
  @Flag('serving-workers')
  @Min(0, { message: workersMessage })
  @Max(64, { message: workersMessage })
  @Check<ServingOptions>((workers: number) =>
    workers > 0 && !sharesPorts
      ? `--serving-workers can only be 0 on ${process.platform}: it does not spread the connections of a shared port`
      : undefined,
  )
  servingWorkers = defaultServingWorkers();
}

/**
 * Returns the default number of serving workers: the cores that two other threads leave free, limited to the number that these two can keep
 * busy.
 */
export function defaultServingWorkers(cores = availableParallelism(), canShare = sharesPorts): number {
  return canShare ? Math.max(0, Math.min(cores - 2, 4)) : 0;
}

export interface NamedCertKey {
  readonly certFile: string;
  readonly keyFile: string;
  /** Names to serve; empty: the names of the certificate. */
  readonly names: readonly string[];
}

/** Parses a value of `--tls-sni-cert-key`; undefined if it is invalid. Upstream: component-base/cli/flag/namedcertkey_flag.go. */
export function parseNamedCertKey(text: string): NamedCertKey | undefined {
  // The last colon separates the names, unless it is part of a Windows path or starts the text.
  const colon = text.lastIndexOf(':');
  const files = (colon < 0 ? text : text.slice(0, colon)).split(',');
  const names =
    colon < 0
      ? []
      : text
          .slice(colon + 1)
          .split(',')
          .map((name) => name.trim());
  const [certFile = '', keyFile = ''] = files.map((file) => file.trim());
  if (files.length !== 2 || certFile === '' || keyFile === '' || names.includes('')) return undefined;
  return { certFile, keyFile, names };
}

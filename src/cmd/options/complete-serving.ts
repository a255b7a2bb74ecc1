import { hostname, networkInterfaces } from 'node:os';
import { join } from 'node:path';
import type { TlsOptions } from '#apiserver/serving/secure-server';
import { certificateNames, readKeyPair } from '#cmd/certificates/key-pair-files';
import { goCipherSuites } from './cipher-suites.ts';
import { curves } from './curves.ts';
import { readBundle } from './complete-authentication.ts';
import type { ServerOptions } from './server-options.ts';
import { parseNamedCertKey, type ServingOptions, tlsVersions } from './serving-options.ts';

/** Files of the serving certificates and of the client certificate authority. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  readonly clientCa: string;
  readonly sni: readonly { readonly certFile: string; readonly keyFile: string; readonly names: readonly string[] }[];
}

/** Returns the TLS files. `ownFolder`: the folder of the certificates that the server creates itself. */
export function tlsFilesOf({ serving, authentication }: ServerOptions, ownFolder: string): TlsFiles {
  const folder = serving.certDir === '' ? ownFolder : serving.certDir;
  return {
    cert: serving.tlsCertFile === '' ? join(folder, 'apiserver.crt') : serving.tlsCertFile,
    key: serving.tlsPrivateKeyFile === '' ? join(folder, 'apiserver.key') : serving.tlsPrivateKeyFile,
    clientCa: authentication.clientCaFile === '' ? join(ownFolder, 'ca.crt') : authentication.clientCaFile,
    sni: serving.tlsSniCertKey.flatMap((text) => parseNamedCertKey(text) ?? []),
  };
}

/** Reads the TLS files. Rejects with one line per invalid file. */
export async function readTls(serving: ServingOptions, files: TlsFiles): Promise<TlsOptions> {
  const clientCa = readBundle(files.clientCa);
  const certificate = readKeyPair(files.cert, files.key);
  const sni = files.sni.map(async ({ certFile, keyFile, names }) => {
    const pair = await readKeyPair(certFile, keyFile);
    return { names: names.length > 0 ? names : certificateNames(pair.cert), certificate: pair };
  });
  const problems = (await Promise.allSettled([clientCa, certificate, ...sni])).flatMap((result) =>
    result.status === 'rejected' ? (result.reason as Error).message : [],
  );
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return {
    certificate: await certificate,
    clientCa: await clientCa,
    sniCertificates: await Promise.all(sni),
    minVersion: tlsVersions.get(serving.tlsMinVersion) ?? 'TLSv1.2',
    curves: serving.tlsCurvePreferences.flatMap((id) => curves.get(Number(id)) ?? []),
    cipherSuites: serving.tlsCipherSuites.flatMap((name) => goCipherSuites.get(name) ?? []),
  };
}

/**
 * Names and addresses by which clients may reach the server. They include the addresses of the host if the server listens on all of them.
 * Upstream: apiserver/pkg/server/options/serving.go (MaybeDefaultWithSelfSignedCerts).
 */
export function servingNames({ serving, services }: ServerOptions): string[] {
  const all = isUnspecified(serving.bindAddress);
  const names = [
    'localhost',
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster.local',
    hostname(),
    '127.0.0.1',
    '::1',
    services.firstServiceIp(),
    ...(all ? hostAddresses() : [serving.bindAddress]),
    services.advertiseAddress,
    serving.externalHostname,
  ];
  return [...new Set(names)].filter((name) => name !== '' && !isUnspecified(name));
}

/** Addresses of this host that other hosts can reach, without link-local and loopback addresses. */
function hostAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.filter(({ address, internal }) => !internal && !/^fe80:/i.test(address)).map(({ address }) => address),
  );
}

export function urlOf({ bindAddress, securePort }: ServingOptions): string {
  const host = isUnspecified(bindAddress) ? '127.0.0.1' : bindAddress;
  return `https://${host.includes(':') ? `[${host}]` : host}:${securePort}`;
}

function isUnspecified(address: string): boolean {
  return address === '0.0.0.0' || address === '::';
}

import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parseIPSloppy } from '#apimachinery/validation/ip';
import { makeFolder } from '#apiserver/base/make-folder';
import type { CertificateToSign } from '#apiserver/controllers/cluster-credentials';
import { syncPath } from '#cmd/storage/sync-path';
import type { Authority, CertificateRequest, KeyPair } from './issue.ts';
import { certificateNames, matches, readPair } from './key-pair-files.ts';

/** Keys and certificates that the server created for itself, under kubeadm's file names. */
export interface OwnCertificates {
  /** PEM of the authority of client certificates and of the serving certificate. */
  readonly ca: string;
  readonly serving: KeyPair;
  /** Client certificate of group system:masters. */
  readonly admin: KeyPair;
  /** Key that signs service account tokens. */
  readonly serviceAccountKey: string;
  /** Authority of front proxies, and the client certificate that the server presents to the servers behind APIServices. */
  readonly frontProxy: { readonly ca: string; readonly client: KeyPair };
}

const admin: CertificateRequest = { commonName: 'kubernetes-admin', organizations: ['system:masters'], usages: ['client'] };
/** User of the server at kubelets. */
export const kubeletClientUser = 'kube-apiserver-kubelet-client';
/**
 * Client certificate for kubelets, used if `--kubelet-client-certificate` names it. It does not belong to system:masters, so that kubelets
 * authorize its requests.
 */
const kubeletClient: CertificateRequest = { commonName: kubeletClientUser, usages: ['client'] };
const kubeletClientName = 'apiserver-kubelet-client';
/** Name of the file and of the certificate of the server as a front proxy. */
export const frontProxyName = 'front-proxy-client';
const frontProxyClient: CertificateRequest = { commonName: frontProxyName, usages: ['client'] };
/** Remaining validity below which certificates are renewed. */
const renewBeforeMs = 30 * 86_400_000;

/**
 * Reads the certificates and keys of the folder. Creates those that are missing or about to expire, and the serving certificate if its
 * names have changed. A new folder appears atomically: of two servers that start together, one creates it and both use it. Synchronous I/O
 * is acceptable, because the files are small and the server has no clients yet.
 */
export async function ownCertificates(folder: string, servingNames: readonly string[]): Promise<OwnCertificates> {
  if (!readPair(folder, 'ca')) await issuePairs(folder, servingNames);
  const clients = new Issuer(folder, 'ca');
  const frontProxies = new Issuer(folder, 'front-proxy-ca');
  await clients.ensure(kubeletClientName, kubeletClient);
  return {
    ca: clients.ca.cert,
    serving: await clients.ensure('apiserver', servingRequest(servingNames)),
    admin: await clients.ensure('admin', admin),
    serviceAccountKey: readFileSync(join(folder, 'sa.key'), 'utf8'),
    frontProxy: { ca: frontProxies.ca.cert, client: await frontProxies.ensure(frontProxyName, frontProxyClient) },
  };
}

/** Client certificate of the server for kubelets, as files of the folder. */
export function kubeletClientFiles(folder: string): { readonly cert: string; readonly key: string } {
  return { cert: join(folder, `${kubeletClientName}.crt`), key: join(folder, `${kubeletClientName}.key`) };
}

/** Returns the serving certificate of simulated kubelets, signed by the authority of the folder. */
export function kubeletServingCertificate(folder: string): Promise<KeyPair> {
  return new Issuer(folder, 'ca').ensure('kubelet', { commonName: 'kubelet', names: ['localhost', '127.0.0.1'], usages: ['server'] });
}

/** Returns a signer of requests with the authority of the folder, whose key is read when it is first needed. */
export function requestSigner(folder: string): (request: CertificateToSign) => Promise<string> {
  return async (request) => {
    const { signRequest } = await import('./sign-request.ts');
    return signRequest(request, new Issuer(folder, 'ca').ca);
  };
}

/** An authority in the folder, and the certificates in the folder that it has signed. */
class Issuer {
  readonly ca: KeyPair;
  #authority: Authority | undefined;

  /** Throws if the authority is missing from the folder. */
  constructor(
    private readonly folder: string,
    name: string,
  ) {
    const ca = readPair(folder, name);
    if (!ca)
      throw new Error(
        `${join(folder, `${name}.crt`)} and ${name}.key are missing, although the folder exists: remove the folder or restore the files`,
      );
    this.ca = ca;
  }

  /** Returns a certificate of the folder; creates it again if it does not satisfy the request. */
  async ensure(name: string, request: CertificateRequest): Promise<KeyPair> {
    const pair = readPair(this.folder, name);
    if (pair && isCurrent(pair, this.ca.cert, request.names ?? [])) return pair;
    this.#authority ??= (await import('./issue.ts')).Authority.load(this.ca);
    const issued = await this.#authority.issue(request);
    writePair(this.folder, name, issued);
    return issued;
  }
}

/**
 * Reads `apiserver.crt` and `apiserver.key` of a folder. If they are missing, creates them, signed by an authority whose key is discarded.
 */
export async function servingCertificateOf(folder: string, names: readonly string[]): Promise<KeyPair> {
  const existing = readPair(folder, 'apiserver');
  if (existing) return existing;
  const { Authority } = await import('./issue.ts');
  const authority = await Authority.create(`${names[0]}-ca@${Math.floor(Date.now() / 1000)}`);
  const pair = await authority.issue(servingRequest(names));
  makeFolder(folder);
  writePair(folder, 'apiserver', pair);
  return pair;
}

function servingRequest(names: readonly string[]): CertificateRequest {
  return { commonName: 'kube-apiserver', names, usages: ['server'] };
}

async function issuePairs(folder: string, servingNames: readonly string[]): Promise<void> {
  const { Authority, newSigningKey } = await import('./issue.ts');
  makeFolder(dirname(folder), 0o700);
  const draft = mkdtempSync(join(dirname(folder), `.${basename(folder)}-`));
  try {
    const [ca, frontProxyCa, serviceAccount] = await Promise.all([
      Authority.create('kubenest-ca'),
      Authority.create('front-proxy-ca'),
      newSigningKey(),
    ]);
    const [serving, administrator, toKubelets, frontProxy] = await Promise.all([
      ca.issue(servingRequest(servingNames)),
      ca.issue(admin),
      ca.issue(kubeletClient),
      frontProxyCa.issue(frontProxyClient),
    ]);
    const files: readonly (readonly [name: string, pair: KeyPair])[] = [
      ['ca', ca.pair],
      ['apiserver', serving],
      ['admin', administrator],
      [kubeletClientName, toKubelets],
      ['front-proxy-ca', frontProxyCa.pair],
      [frontProxyName, frontProxy],
    ];
    for (const [name, pair] of files) writePair(draft, name, pair);
    writeFileSync(join(draft, 'sa.key'), serviceAccount.privateKey, { mode: 0o600, flush: true });
    writeFileSync(join(draft, 'sa.pub'), serviceAccount.publicKey, { flush: true });
    await syncPath(draft);
    putInPlace(draft, folder);
    // A power failure must not lose the key, because it would invalidate the tokens that the key has signed.
    await syncPath(dirname(folder));
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Moves the draft into place unless the folder exists. */
function putInPlace(draft: string, folder: string): void {
  try {
    renameSync(draft, folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
  }
}

/** Writes each file atomically and persistently. */
function writePair(folder: string, name: string, { cert, key }: KeyPair): void {
  for (const [file, text, mode] of [
    [`${name}.key`, key, 0o600],
    [`${name}.crt`, cert, 0o644],
  ] as const) {
    const draft = join(folder, `.${file}-${process.pid}`);
    writeFileSync(draft, text, { mode, flush: true });
    renameSync(draft, join(folder, file));
  }
}

function isCurrent(pair: KeyPair, ca: string, names: readonly string[]): boolean {
  if (!matches(pair)) return false;
  const certificate = new X509Certificate(pair.cert);
  if (certificate.validToDate.getTime() - Date.now() < renewBeforeMs || !certificate.verify(new X509Certificate(ca).publicKey))
    return false;
  const present = new Set(certificateNames(pair.cert));
  return names.every((name) => (parseIPSloppy(name) ? certificate.checkIP(name) !== undefined : present.has(name)));
}

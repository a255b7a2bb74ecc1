import { X509Certificate } from 'node:crypto';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { basename, dirname, join } from 'node:path';
import type { Authority, CertificateRequest, KeyPair } from './issue.ts';
import { matches, readPair } from './key-pair-files.ts';

/** What the server made for itself; the names of the files are kubeadm's. */
export interface OwnCertificates {
  /** PEM of the authority of clients and of the serving certificate. */
  readonly ca: string;
  readonly serving: KeyPair;
  /** Of system:masters. */
  readonly admin: KeyPair;
}

const admin: CertificateRequest = { commonName: 'kubernetes-admin', organizations: ['system:masters'], usages: ['client'] };
const frontProxyClient: CertificateRequest = { commonName: 'front-proxy-client', usages: ['client'] };
/** Certificates are made anew when they end within it. */
const renewBeforeMs = 30 * 86_400_000;

/**
 * Reads the certificates and keys of the folder, and makes those that are missing, about to end, or (the serving one) for
 * other names. A new folder appears all at once: of two servers that start together, one makes it and both use it.
 */
export async function ownCertificates(folder: string, servingNames: readonly string[]): Promise<OwnCertificates> {
  const existing = await readPair(folder, 'ca');
  if (!existing) await makeFolder(folder, servingNames);
  const ca = existing ?? (await readPair(folder, 'ca'));
  if (!ca) throw new Error(`${join(folder, 'ca.crt')} and ca.key are not there, although the folder is: remove it, or put them back`);
  let authority: Authority | undefined;
  const ensure = async (name: string, request: CertificateRequest): Promise<KeyPair> => {
    const pair = await readPair(folder, name);
    if (pair && isCurrent(pair, ca.cert, request.names ?? [])) return pair;
    authority ??= await (await import('./issue.ts')).Authority.load(ca);
    const issued = await authority.issue(request);
    await writePair(folder, name, issued);
    return issued;
  };
  return { ca: ca.cert, serving: await ensure('apiserver', servingRequest(servingNames)), admin: await ensure('admin', admin) };
}

/** Reads `apiserver.crt` and `apiserver.key` of a folder, and makes them there if they are missing, signed by an authority that nobody keeps. */
export async function servingCertificateOf(folder: string, names: readonly string[]): Promise<KeyPair> {
  const existing = await readPair(folder, 'apiserver');
  if (existing) return existing;
  const { Authority } = await import('./issue.ts');
  const authority = await Authority.create(`${names[0]}-ca@${Math.floor(Date.now() / 1000)}`);
  const pair = await authority.issue(servingRequest(names));
  await mkdir(folder, { recursive: true });
  await writePair(folder, 'apiserver', pair);
  return pair;
}

function servingRequest(names: readonly string[]): CertificateRequest {
  return { commonName: 'kube-apiserver', names, usages: ['server'] };
}

async function makeFolder(folder: string, servingNames: readonly string[]): Promise<void> {
  const { Authority, newSigningKey } = await import('./issue.ts');
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  const draft = await mkdtemp(join(dirname(folder), `.${basename(folder)}-`));
  try {
    const [ca, frontProxyCa, serviceAccount] = await Promise.all([
      Authority.create('kubenest-ca'),
      Authority.create('front-proxy-ca'),
      newSigningKey(),
    ]);
    const [serving, administrator, frontProxy] = await Promise.all([
      ca.issue(servingRequest(servingNames)),
      ca.issue(admin),
      frontProxyCa.issue(frontProxyClient),
    ]);
    const pairs = {
      ca: ca.pair,
      apiserver: serving,
      admin: administrator,
      'front-proxy-ca': frontProxyCa.pair,
      'front-proxy-client': frontProxy,
    };
    await Promise.all([
      ...Object.entries(pairs).map(([name, pair]) => writePair(draft, name, pair)),
      writeFile(join(draft, 'sa.key'), serviceAccount.privateKey, { mode: 0o600 }),
      writeFile(join(draft, 'sa.pub'), serviceAccount.publicKey),
    ]);
    await rename(draft, folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Each file appears whole. */
async function writePair(folder: string, name: string, { cert, key }: KeyPair): Promise<void> {
  for (const [file, text, mode] of [
    [`${name}.key`, key, 0o600],
    [`${name}.crt`, cert, 0o644],
  ] as const) {
    const draft = join(folder, `.${file}-${process.pid}`);
    await writeFile(draft, text, { mode });
    await rename(draft, join(folder, file));
  }
}

function isCurrent(pair: KeyPair, ca: string, names: readonly string[]): boolean {
  if (!matches(pair)) return false;
  const certificate = new X509Certificate(pair.cert);
  if (certificate.validToDate.getTime() - Date.now() < renewBeforeMs || !certificate.verify(new X509Certificate(ca).publicKey))
    return false;
  return names.every((name) => (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined);
}

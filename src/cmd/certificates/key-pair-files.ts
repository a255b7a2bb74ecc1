import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readText } from '#apiserver/base/system-error';
import type { KeyPair } from './issue.ts';

/** Reads `NAME.crt` and `NAME.key` of a folder; undefined if neither exists. Throws if only one exists. */
export function readPair(folder: string, name: string): KeyPair | undefined {
  const cert = readIfThere(join(folder, `${name}.crt`));
  const key = readIfThere(join(folder, `${name}.key`));
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined) {
    const [present, missing] = cert === undefined ? ['key', 'crt'] : ['crt', 'key'];
    throw new Error(`${folder} has ${name}.${present} but no ${name}.${missing}: provide both or neither`);
  }
  return { cert, key };
}

/** Reads a certificate and its key and verifies that they match. Rejects with the file names. */
export async function readKeyPair(certFile: string, keyFile: string): Promise<KeyPair> {
  const [cert, key] = await Promise.all([readText(certFile), readText(keyFile)]);
  let fits: boolean;
  try {
    fits = matches({ cert, key });
  } catch (error) {
    throw new Error(`${certFile} and ${keyFile} are not a certificate and key in PEM: ${(error as Error).message}`, { cause: error });
  }
  if (!fits) throw new Error(`the key of ${keyFile} does not match the certificate of ${certFile}`);
  return { cert, key };
}

/** True if the key matches the certificate. Throws for invalid PEM. */
export function matches({ cert, key }: KeyPair): boolean {
  return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
}

/** Returns the last certificate of a chain, which is the trust anchor. */
export function lastCertificate(chain: string): string {
  const blocks = chain.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g);
  return `${blocks?.at(-1) ?? ''}\n`;
}

/** Returns the names of a certificate by which clients can verify the server: DNS names and addresses, or the common name without any. */
export function certificateNames(cert: string): string[] {
  const { subjectAltName, subject } = new X509Certificate(cert);
  const names = [...(subjectAltName ?? '').matchAll(/(?:DNS|IP Address):([^,\s]+)/g)].map((match) => match[1] as string);
  const commonName = /^CN=(.+)$/m.exec(subject ?? '')?.[1];
  return names.length > 0 || commonName === undefined ? names : [commonName];
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

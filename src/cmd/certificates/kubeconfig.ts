import { readFile, rename, writeFile } from 'node:fs/promises';
import type { KeyPair } from './issue.ts';

export interface KubeconfigParts {
  /** URL of the server, `https://…`. */
  readonly server: string;
  /** PEM of the authority that the client trusts. */
  readonly ca: string;
  readonly client: KeyPair;
}

/** Returns a kubeconfig with one cluster and one user, including certificates and key. The format is JSON, which is valid YAML. */
export function kubeconfig({ server, ca, client }: KubeconfigParts): string {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const name = 'kubenest';
  return `${JSON.stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name, cluster: { server, 'certificate-authority-data': base64(ca) } }],
      users: [{ name: 'admin', user: { 'client-certificate-data': base64(client.cert), 'client-key-data': base64(client.key) } }],
      contexts: [{ name, context: { cluster: name, user: 'admin' } }],
      'current-context': name,
    },
    undefined,
    2,
  )}\n`;
}

/**
 * Writes a kubeconfig that only its owner can read. A file with the same content is not rewritten, because a server must be able to start
 * on a full disk.
 */
export async function writeKubeconfig(file: string, parts: KubeconfigParts): Promise<void> {
  const text = kubeconfig(parts);
  if ((await textOf(file)) === text) return;
  const draft = `${file}-${process.pid}`;
  await writeFile(draft, text, { mode: 0o600 });
  await rename(draft, file);
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return undefined;
  }
}

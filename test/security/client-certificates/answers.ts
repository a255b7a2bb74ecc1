/** Sends requests with certificate chains and records the responses. */
import type { Buffer } from 'node:buffer';
import { writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import type { Chain, Chains } from './chains.ts';

const review = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' });
const credentialId = 'authentication.kubernetes.io/credential-id';

/** The authenticated user, the status of a rejection, or `closed` if the server closes the connection. */
export type Answer = string;

/** Servers of the table: with and without front proxy authentication. */
export const servers = ['with front proxies', 'without front proxies'] as const;

/** Writes the trust anchors to the folder. Returns the flags of a server that uses them. */
export function flagsFor(server: (typeof servers)[number], folder: string, { clientCa, requestHeaderCa }: Chains): string[] {
  writeFileSync(join(folder, 'clients.pem'), clientCa);
  writeFileSync(join(folder, 'front-proxies.pem'), requestHeaderCa);
  const clients = `--client-ca-file=${join(folder, 'clients.pem')}`;
  if (server === 'without front proxies') return [clients];
  return [
    clients,
    `--requestheader-client-ca-file=${join(folder, 'front-proxies.pem')}`,
    '--requestheader-allowed-names=front-proxy',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
  ];
}

/** Returns the server's response to each chain by name. */
export async function askEach(url: string, { chains }: Chains): Promise<Record<string, Answer>> {
  const answers: Record<string, Answer> = {};
  for (const chain of chains) answers[chain.name] = await askWho(url, chain);
  return answers;
}

/** Requests the authenticated user with a chain. `url` is the server's. */
export function askWho(url: string, { certificates, key, headers }: Chain, timeoutMs = 10_000): Promise<Answer> {
  return new Promise((resolve) => {
    const sent = request(
      `${url}/apis/authentication.k8s.io/v1/selfsubjectreviews`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-length': String(review.length), ...headers },
        cert: certificates,
        key,
        // The server's certificate is self-signed, and OpenSSL would reject the keys of some chains.
        rejectUnauthorized: false,
        ciphers: 'DEFAULT@SECLEVEL=0',
        agent: false,
        timeout: timeoutMs,
      },
      (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => resolve(shown(response.statusCode ?? 0, text)));
      },
    );
    sent.on('timeout', () => sent.destroy(new Error('no response')));
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.message === 'no answer' ? error.message : 'closed'));
    sent.end(review);
  });
}

function shown(status: number, text: string): Answer {
  if (status !== 201) return String(status);
  const { userInfo } = (JSON.parse(text) as { readonly status: { readonly userInfo: UserInfo } }).status;
  const { username, uid, groups = [], extra = {} } = userInfo;
  const kept = Object.entries(extra).map(([name, values]) => [name, name === credentialId ? values.map(() => 'X509SHA256') : values]);
  return JSON.stringify({ username, ...(uid && { uid }), groups, extra: Object.fromEntries(kept) as unknown });
}

interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

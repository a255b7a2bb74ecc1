/** What a server answers to somebody who shows a chain. */
import type { Buffer } from 'node:buffer';
import { writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import type { Chain, Chains } from './chains.ts';

const review = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' });
const credentialId = 'authentication.kubernetes.io/credential-id';

/** Who a server says that the client is, the status of a refusal, or `closed` for a connection that the server ends. */
export type Answer = string;

/** Servers of the table: with and without front proxies. */
export const servers = ['with front proxies', 'without front proxies'] as const;

/** The flags of a server that trusts the anchors, whose files are written to the folder. */
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

/** What the server answers to each chain, by the chain's name. */
export async function askEach(url: string, { chains }: Chains): Promise<Record<string, Answer>> {
  const answers: Record<string, Answer> = {};
  for (const chain of chains) answers[chain.name] = await askWho(url, chain);
  return answers;
}

/** Asks the server who somebody with this chain is. `url`: of the server. */
export function askWho(url: string, { certificates, key, headers }: Chain, timeoutMs = 10_000): Promise<Answer> {
  return new Promise((resolve) => {
    const sent = request(
      `${url}/apis/authentication.k8s.io/v1/selfsubjectreviews`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-length': String(review.length), ...headers },
        cert: certificates,
        key,
        // The server made its certificate itself, and some of the chains have keys that OpenSSL would not take.
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
    sent.on('timeout', () => sent.destroy(new Error('no answer')));
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

import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';

/** How the server shows itself to a webhook. */
export interface Credentials {
  readonly certificate?: { readonly cert: string; readonly key: string } | undefined;
  /** The value of the Authorization header. */
  readonly authorization?: string | undefined;
}

type Fields = Readonly<Record<string, unknown>>;
const none: Credentials = {};

/**
 * Credentials for webhooks, by the users of a kubeconfig file whose names are hosts. For `a.ns.svc:443` the first of these
 * counts that is there:
 *
 *     a.ns.svc:443   *.ns.svc:443   *.svc:443   then the same without the port 443   then *   then the current context's
 *
 * Upstream: apiserver/pkg/util/webhook/authentication.go.
 */
export class WebhookCredentials {
  readonly #users: ReadonlyMap<string, Credentials>;
  readonly #current: Credentials;

  /** Without users nobody is shown anything. */
  constructor(users: ReadonlyMap<string, Credentials> = new Map(), current: Credentials = none) {
    this.#users = users;
    this.#current = current;
  }

  for(hostAndPort: string): Credentials {
    for (const name of namesFor(hostAndPort)) {
      const found = this.#users.get(name);
      if (found) return found;
    }
    return this.#current;
  }
}

function* namesFor(hostAndPort: string): Iterable<string> {
  const withoutPort = hostAndPort.endsWith(':443') ? [hostAndPort.slice(0, -':443'.length)] : [];
  for (const target of [hostAndPort, ...withoutPort]) {
    yield target;
    const parts = target.split('.');
    for (let at = 1; at < parts.length; at += 1) yield `*.${parts.slice(at).join('.')}`;
  }
  yield '*';
}

/** Reads a kubeconfig file and the files that it names. Rejects with what is wrong; ways to authenticate that are not here are refused by name. */
export async function readWebhookCredentials(file: string): Promise<WebhookCredentials> {
  const document = fieldsOf(parse(await readFile(file, 'utf8'), { version: '1.1', maxAliasCount: 0 }));
  const users = new Map<string, Credentials>();
  for (const entry of listOf(document['users'])) users.set(textOf(entry['name']), await credentialsOf(fieldsOf(entry['user']), file));
  const currentName = textOf(document['current-context']);
  const context = listOf(document['contexts']).find((entry) => entry['name'] === currentName);
  const user = textOf(fieldsOf(context?.['context'])['user']);
  return new WebhookCredentials(users, users.get(user));
}

async function credentialsOf(user: Fields, file: string): Promise<Credentials> {
  const folder = dirname(file);
  for (const field of ['exec', 'auth-provider', 'as']) {
    if (user[field] !== undefined) throw new Error(`${file}: ${field} of users is not supported for webhooks`);
  }
  const content = async (name: string): Promise<string | undefined> => {
    const data = textOf(user[`${name}-data`]);
    if (data !== '') return Buffer.from(data, 'base64').toString('utf8');
    const path = textOf(user[name]);
    return path === '' ? undefined : readFile(resolve(folder, path), 'utf8');
  };
  const cert = await content('client-certificate');
  const key = await content('client-key');
  if ((cert === undefined) !== (key === undefined)) throw new Error(`${file}: client-certificate and client-key must be given together`);
  const tokenFile = textOf(user['tokenFile']);
  const token = textOf(user['token']) || (tokenFile === '' ? '' : (await readFile(resolve(folder, tokenFile), 'utf8')).trim());
  const name = textOf(user['username']);
  const basic = name === '' ? undefined : `Basic ${Buffer.from(`${name}:${textOf(user['password'])}`).toString('base64')}`;
  return {
    certificate: cert !== undefined && key !== undefined ? { cert, key } : undefined,
    authorization: token === '' ? basic : `Bearer ${token}`,
  };
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? (value as unknown[]).map(fieldsOf) : [];
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

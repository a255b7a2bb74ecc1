import { Buffer } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';

/** How to reach a service that a kubeconfig file names: where it is, how it is trusted, and who asks it. */
export interface ServiceConnection {
  readonly url: URL;
  /** PEM; undefined: the system's authorities. */
  readonly certificateAuthority: string | undefined;
  /** Under which name its certificate is checked, where that is not the URL's host. */
  readonly serverName: string | undefined;
  readonly insecure: boolean;
  readonly clientCertificate: { readonly cert: string; readonly key: string } | undefined;
  /** The value of the Authorization header. */
  readonly authorization: string | undefined;
}

const certificates = 'name a client certificate, a token or a tokenFile instead';
/** Ways to authenticate that will never be here. */
const refusedFields: Readonly<Record<string, string>> = {
  'auth-provider': 'client-go has none of them any more',
  exec: `the server runs no programs; ${certificates}`,
  as: `a service is told nobody else's name; ${certificates}`,
  'as-groups': `a service is told nobody else's name; ${certificates}`,
};

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads the current context of a kubeconfig file, and the files that it names, relative to its folder. Rejects with what is
 * wrong; ways to authenticate that are not here (`exec`, `auth-provider`) are refused by name.
 */
export async function readKubeconfig(file: string): Promise<ServiceConnection> {
  const document = fieldsOf(parse(await readFile(file, 'utf8'), { version: '1.1', maxAliasCount: 0 }));
  const context = entry(document, 'contexts', 'context', textOf(document['current-context']), file);
  const cluster = entry(document, 'clusters', 'cluster', textOf(context['cluster']), file);
  const userName = textOf(context['user']);
  const user = userName === '' ? {} : entry(document, 'users', 'user', userName, file);
  for (const [field, reason] of Object.entries(refusedFields)) {
    if (user[field] !== undefined) throw new Error(`${file}: ${field} of users is not supported: ${reason}`);
  }
  const content = async (fields: Fields, name: string): Promise<string | undefined> => {
    const data = textOf(fields[`${name}-data`]);
    if (data !== '') return Buffer.from(data, 'base64').toString();
    const path = textOf(fields[name]);
    return path === '' ? undefined : readFile(resolve(dirname(file), path), 'utf8');
  };
  const server = textOf(cluster['server']);
  if (!URL.canParse(server)) throw new Error(`${file}: the server ${JSON.stringify(server)} of the cluster must be a URL`);
  const cert = await content(user, 'client-certificate');
  const key = await content(user, 'client-key');
  if ((cert === undefined) !== (key === undefined)) throw new Error(`${file}: client-certificate and client-key must be given together`);
  return {
    url: new URL(server),
    certificateAuthority: await content(cluster, 'certificate-authority'),
    serverName: textOf(cluster['tls-server-name']) || undefined,
    insecure: cluster['insecure-skip-tls-verify'] === true,
    clientCertificate: cert !== undefined && key !== undefined ? { cert, key } : undefined,
    authorization: await authorizationOf(user, dirname(file)),
  };
}

async function authorizationOf(user: Fields, folder: string): Promise<string | undefined> {
  const file = textOf(user['tokenFile']);
  const token = file === '' ? textOf(user['token']) : (await readFile(resolve(folder, file), 'utf8')).trim();
  if (token !== '') return `Bearer ${token}`;
  const name = textOf(user['username']);
  return name === '' ? undefined : `Basic ${Buffer.from(`${name}:${textOf(user['password'])}`).toString('base64')}`;
}

/** The member of that name of one of the lists. */
function entry(document: Fields, list: string, field: string, name: string, file: string): Fields {
  const all = Array.isArray(document[list]) ? (document[list] as unknown[]).map(fieldsOf) : [];
  const found = all.find((one) => one['name'] === name);
  if (!found) throw new Error(`${file}: ${list} has no ${JSON.stringify(name)}`);
  return fieldsOf(found[field]);
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

import { Buffer } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import { readText } from '#apiserver/base/system-error';
import { type ExecConfig, readExecConfig } from './exec-credentials.ts';
import { readToken } from './token-file.ts';

/** Credentials for a service. */
export interface UserCredentials {
  readonly clientCertificate: { readonly cert: string; readonly key: string } | undefined;
  /** Value of the Authorization header. */
  readonly authorization: string | undefined;
  /** Path of a token file, which may change. */
  readonly tokenFile: string | undefined;
  /** Credential program, used if there are no other credentials. */
  readonly exec: ExecConfig | undefined;
}

/** No credentials. */
export const noCredentials: UserCredentials = {
  clientCertificate: undefined,
  authorization: undefined,
  tokenFile: undefined,
  exec: undefined,
};

/** Connection parameters of a service from a kubeconfig file: address, trust and credentials. */
export interface ServiceConnection extends UserCredentials {
  readonly url: URL;
  /** PEM; undefined: the system's authorities. */
  readonly certificateAuthority: string | undefined;
  /** Server name for certificate verification, if it differs from the URL's host. */
  readonly serverName: string | undefined;
  readonly insecure: boolean;
}

const otherWays = 'use a client certificate, a token, a tokenFile or a program (exec) instead';
/** Credential fields that are deliberately unsupported, with the reason. */
const refusedFields: Readonly<Record<string, string>> = {
  'auth-provider': 'client-go removed its auth providers',
  as: `impersonation towards a service is not supported; ${otherWays}`,
  'as-groups': `impersonation towards a service is not supported; ${otherWays}`,
};
/** The cluster extension that is passed to programs. Upstream: client-go/tools/clientcmd/client_config.go. */
const execExtension = 'client.authentication.k8s.io/exec';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads the current context of a kubeconfig file and the files that it refers to, relative to its folder. Rejects if they
 * are invalid.
 */
export async function readKubeconfig(file: string): Promise<ServiceConnection> {
  const document = await readDocument(file);
  const context = entry(document, 'contexts', 'context', textOf(document['current-context']), file);
  const cluster = entry(document, 'clusters', 'cluster', textOf(context['cluster']), file);
  const userName = textOf(context['user']);
  const user = userName === '' ? {} : entry(document, 'users', 'user', userName, file);
  const server = textOf(cluster['server']);
  if (!URL.canParse(server)) throw new Error(`${file}: the server ${JSON.stringify(server)} of the cluster must be a URL`);
  const extension = listOf(cluster['extensions']).find(({ name }) => name === execExtension)?.['extension'];
  return {
    url: new URL(server),
    certificateAuthority: await contentOf(cluster, 'certificate-authority', file),
    serverName: textOf(cluster['tls-server-name']) || undefined,
    insecure: cluster['insecure-skip-tls-verify'] === true,
    ...(await credentialsOf(user, userName, file, extension)),
  };
}

/**
 * Reads the users of a kubeconfig file by name, and the user of the current context, if there is one. Rejects if the file is
 * invalid.
 */
export async function readKubeconfigUsers(
  file: string,
): Promise<{ readonly users: ReadonlyMap<string, UserCredentials>; readonly current: UserCredentials | undefined }> {
  const document = await readDocument(file);
  const users = new Map<string, UserCredentials>();
  for (const { name, user } of listOf(document['users'])) users.set(textOf(name), await credentialsOf(fieldsOf(user), textOf(name), file));
  const context = listOf(document['contexts']).find(({ name }) => name === textOf(document['current-context']));
  return { users, current: users.get(textOf(fieldsOf(context?.['context'])['user'])) };
}

async function readDocument(file: string): Promise<Fields> {
  return fieldsOf(parse(await readText(file), { version: '1.1', maxAliasCount: 0 }));
}

async function credentialsOf(user: Fields, name: string, file: string, clusterConfig?: unknown): Promise<UserCredentials> {
  for (const [field, reason] of Object.entries(refusedFields)) {
    if (user[field] !== undefined) throw new Error(`${file}: ${field} of users is not supported: ${reason}`);
  }
  const cert = await contentOf(user, 'client-certificate', file);
  const key = await contentOf(user, 'client-key', file);
  if ((cert === undefined) !== (key === undefined)) throw new Error(`${file}: client-certificate and client-key must be given together`);
  const clientCertificate = cert !== undefined && key !== undefined ? { cert, key } : undefined;
  const exec = execOf(user['exec'], name, file, clusterConfig);
  const tokenFile = textOf(user['tokenFile']) === '' ? undefined : resolve(dirname(file), textOf(user['tokenFile']));
  if (tokenFile === undefined) return { clientCertificate, authorization: authorizationOf(user), tokenFile, exec };
  await readToken(tokenFile);
  return { clientCertificate, authorization: undefined, tokenFile, exec };
}

function execOf(exec: unknown, user: string, file: string, clusterConfig: unknown): ExecConfig | undefined {
  if (exec === undefined || exec === null) return undefined;
  try {
    return readExecConfig(fieldsOf(exec), user, dirname(file), clusterConfig);
  } catch (cause) {
    throw new Error(`${file}: ${(cause as Error).message}`, { cause });
  }
}

/** Returns the data in a field or in the file that it names. */
async function contentOf(fields: Fields, name: string, file: string): Promise<string | undefined> {
  const data = textOf(fields[`${name}-data`]);
  if (data !== '') return Buffer.from(data, 'base64').toString();
  const path = textOf(fields[name]);
  return path === '' ? undefined : readFile(resolve(dirname(file), path), 'utf8');
}

function authorizationOf(user: Fields): string | undefined {
  const token = textOf(user['token']);
  if (token !== '') return `Bearer ${token}`;
  const name = textOf(user['username']);
  return name === '' ? undefined : `Basic ${Buffer.from(`${name}:${textOf(user['password'])}`).toString('base64')}`;
}

/** Returns the entry with that name in a list. */
function entry(document: Fields, list: string, field: string, name: string, file: string): Fields {
  const found = listOf(document[list]).find((one) => one['name'] === name);
  if (!found) throw new Error(`${file}: ${list} has no ${JSON.stringify(name)}`);
  return fieldsOf(found[field]);
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? (value as unknown[]).map(fieldsOf) : [];
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

import { noCredentials, readKubeconfigUsers, type UserCredentials } from '#sdk/internal';

/**
 * Credentials for webhooks from the users of a kubeconfig file, whose names are host patterns. For `a.ns.svc:443` the first
 * existing one of these applies:
 *
 *     a.ns.svc:443   *.ns.svc:443   *.svc:443   then the same without the port 443   then *   then the current context's
 *
 * Upstream: apiserver/pkg/util/webhook/authentication.go.
 */
export class WebhookCredentials {
  readonly #users: ReadonlyMap<string, UserCredentials>;
  readonly #current: UserCredentials;

  /** Without users, requests carry no credentials. */
  constructor(users: ReadonlyMap<string, UserCredentials> = new Map(), current: UserCredentials = noCredentials) {
    this.#users = users;
    this.#current = current;
  }

  for(hostAndPort: string): UserCredentials {
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

/**
 * Reads a kubeconfig file and the files that it refers to. Rejects if they are invalid or use an unsupported authentication
 * method, which the error names.
 */
export async function readWebhookCredentials(file: string): Promise<WebhookCredentials> {
  const { users, current } = await readKubeconfigUsers(file);
  return new WebhookCredentials(users, current);
}

/** Sends requests with JSON web tokens and records the responses. */
import { type Account, tokensOf } from './tokens.ts';

/** The user name, or the status of a rejection. */
export type Answer = string;

/** A server with access as an administrator and with a token. */
export interface Server {
  asAdmin(method: string, path: string, body?: object): Promise<{ readonly status: number; readonly body: unknown }>;
  withToken(token: string, path: string, body: object): Promise<{ readonly status: number; readonly body: unknown }>;
}

const account = { namespace: 'default', name: 'robot' };
const accounts = `/api/v1/namespaces/${account.namespace}/serviceaccounts`;
const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };

/** Creates the account and returns the server's response to each token by name. */
export async function askEach(server: Server): Promise<Record<string, Answer>> {
  await server.asAdmin('POST', accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account.name } });
  const { body } = await server.asAdmin('GET', `${accounts}/${account.name}`);
  const { uid } = (body as { readonly metadata: Account }).metadata;
  const answers: Record<string, Answer> = {};
  for (const [name, token] of Object.entries(tokensOf({ ...account, uid }))) {
    const answer = await server.withToken(token, '/apis/authentication.k8s.io/v1/selfsubjectreviews', review);
    answers[name] = answer.status === 201 ? usernameOf(answer.body) : String(answer.status);
  }
  return answers;
}

function usernameOf(body: unknown): string {
  return (body as { readonly status: { readonly userInfo: { readonly username: string } } }).status.userInfo.username;
}

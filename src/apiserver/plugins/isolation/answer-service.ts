import { Buffer } from 'node:buffer';
import type { KubeObject } from '#apimachinery/meta/types';
import { inSteps } from '#apimachinery/runtime/steps';
import { encodeRawJson, encodeRawJsonSteps, parseEncodedText } from '#apimachinery/runtime/json/json';
import type { AuthorizationAttributes, Authorizer } from '#apiserver/authorization/authorizer';
import type { Client, ClientTarget, ObjectClient } from '#apiserver/registry/client';
import { isolatedError } from './isolated-error.ts';
import type { IsolatedError, ServiceCall } from './messages.ts';

/** Performs a call of a service for a worker thread. */
export async function answerService(
  call: ServiceCall,
  services: { readonly client: Client; readonly authorizer: Authorizer },
): Promise<{ readonly value?: string } | { readonly error: IsolatedError }> {
  try {
    const value = await perform(call, services);
    if (value === undefined) return {};
    return { value: Array.isArray(value) ? Buffer.concat(await inSteps(encodeRawJsonSteps(value))).toString() : encodeRawJson(value) };
  } catch (error) {
    return { error: isolatedError(error) };
  }
}

function perform(
  { service, method, user, arguments: text }: ServiceCall,
  { client, authorizer }: { readonly client: Client; readonly authorizer: Authorizer },
): Promise<unknown> | unknown {
  const args = parseEncodedText(text, true) as readonly unknown[];
  if (service === 'authorizer') return authorizer.authorize(args[0] as AuthorizationAttributes);
  const acting: ObjectClient = user ? client.asUser(user) : client;
  const [target, second, third, ...more] = args as [ClientTarget, string, string, ...unknown[]];
  switch (method) {
    case 'get':
      return acting.get(target, second, third);
    case 'list':
      return acting.list(target, second);
    case 'create':
      return acting.create(target, second as unknown as KubeObject);
    case 'delete':
      return acting.delete(target, second, third);
    default:
      return replace(acting, target, [second, third], more as [string, KubeObject]);
  }
}

/** Replaces an object that has the version; returns null if it has another one. */
async function replace(
  client: ObjectClient,
  target: ClientTarget,
  [namespace, name]: [string, string],
  [version, next]: [string, KubeObject],
): Promise<KubeObject | null | undefined> {
  let isCurrent = true;
  const stored = await client.update(target, namespace, name, (current) => {
    isCurrent = current.metadata.resourceVersion === version;
    return isCurrent ? next : undefined;
  });
  return isCurrent ? stored : null;
}

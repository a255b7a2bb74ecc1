import type { LoopbackClient, LoopbackTarget } from '#apiserver/registry/loopback-client';

const configMaps: LoopbackTarget = { group: '', version: 'v1', resource: 'configmaps' };
const namespace = 'kube-system';
const name = 'kube-apiserver-legacy-service-account-token-tracking';

/** Notes since when the use of secrets' service account tokens is tracked. Upstream: controlplane/controller/legacytokentracking. */
export async function ensureLegacyTokenTracking(client: LoopbackClient, now: Date): Promise<void> {
  const since = now.toISOString().slice(0, 10);
  const present = client.peek(configMaps, namespace, name);
  if (!present) return client.ensure(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { since } });
  if (isDate((present['data'] as Readonly<Record<string, string>> | undefined)?.['since'])) return undefined;
  await client.update(configMaps, namespace, name, (object) => ({ ...object, data: { ...(object['data'] as object), since } }));
}

function isDate(text: string | undefined): boolean {
  return text !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));
}

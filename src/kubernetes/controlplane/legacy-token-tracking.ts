import type { KubeObject } from '#apimachinery/meta/types';
import type { LoopbackClient, LoopbackTarget } from '#apiserver/server/loopback-client';

const configMaps: LoopbackTarget = { group: '', version: 'v1', resource: 'configmaps' };
const namespace = 'kube-system';
const name = 'kube-apiserver-legacy-service-account-token-tracking';

/** Records the date since which the use of tokens in secrets is tracked. Upstream: controlplane/controller/legacytokentracking. */
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

const secrets: LoopbackTarget = { group: '', version: 'v1', resource: 'secrets' };
const lastUsed = 'kubernetes.io/legacy-token-last-used';

/**
 * Labels a secret whose token was used with the current day, once a day. Upstream: kubernetes/pkg/serviceaccount/legacy.go
 * (patchSecretWithLastUsedDate).
 */
export async function noteLegacyTokenUse(client: LoopbackClient, { metadata }: KubeObject, today: Date): Promise<void> {
  const day = today.toISOString().slice(0, 10);
  const tomorrow = new Date(today.getTime() + 86_400_000).toISOString().slice(0, 10);
  const isNoted = (object: KubeObject): boolean => [day, tomorrow].includes(object.metadata.labels?.[lastUsed] ?? '');
  if (isNoted({ metadata } as KubeObject)) return;
  await client.update(secrets, metadata.namespace ?? '', metadata.name ?? '', (object) =>
    isNoted(object) || object.metadata.uid !== metadata.uid
      ? undefined
      : { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, [lastUsed]: day } } },
  );
}

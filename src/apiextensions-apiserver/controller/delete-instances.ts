import { isNotFound } from '#apimachinery/api/errors';
import type { KubeObject } from '#apimachinery/meta/types';
import { now } from '#apimachinery/runtime/time';
import { groupNames, userNames } from '#apiserver/request/user-info';
import type { Store } from '#apiserver/registry/store';
import type { WriteRequest } from '#apiserver/registry/write';

const firstCheckMs = 5;
const lastCheckMs = 5_000;
const timeoutMs = 60_000;
const atOnce = 50;

/**
 * Deletes all objects of a store and waits until they are gone, since finalizers may delay that. Rejects after a minute, or when the signal
 * aborts. Upstream: controller/finalizer/crd_finalizer.go (deleteInstances).
 */
export async function deleteAllInstances(store: Store, signal: AbortSignal): Promise<void> {
  await store.cacher.whenReady();
  const objects = await present(store);
  for (let at = 0; at < objects.length; at += atOnce)
    await Promise.all(objects.slice(at, at + atOnce).map((object) => deleteInstance(store, object)));
  const deadline = Date.now() + timeoutMs;
  for (let waitMs = firstCheckMs; (await present(store)).length > 0; waitMs = Math.min(waitMs * 2, lastCheckMs)) {
    if (signal.aborted) throw new Error('the server is shutting down');
    if (Date.now() > deadline) throw new Error('timed out waiting for the condition');
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

async function present(store: Store): Promise<KubeObject[]> {
  const { chunks } = await store.cacher.list({ scope: store.prefix(''), resourceVersion: '' });
  return chunks.flatMap(({ items }) => items.map(({ object }) => object));
}

async function deleteInstance(store: Store, { metadata }: KubeObject): Promise<void> {
  const request: WriteRequest = {
    namespace: metadata.namespace ?? '',
    user: { name: userNames.apiServer, groups: [groupNames.privileged] },
    dryRun: false,
    bodyBytes: 0,
    now: now(),
    warn: () => {},
    admit: () => {},
    validate: () => {},
  };
  try {
    await store.delete(request, metadata.name ?? '', {});
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

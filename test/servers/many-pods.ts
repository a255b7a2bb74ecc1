/** Creates a store with very many pods of 3 kB without a server. */
import { Buffer } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { EmbeddedStorage } from '#plugins/storage/embedded/embedded-storage';
import { Kubenest } from './kubenest.ts';

const podBytes = 3_000;
/** Number of namespaces `ns-0` to `ns-9`, which need not exist. */
export const namespaces = 10;

/** Returns the stored form of a pod, in which names and similar values are replaced. */
export async function storedPod(folder: string): Promise<string> {
  await using server = await Kubenest.start(folder);
  const pod = (padding: number): object => ({
    metadata: { name: 'pod-name', labels: { app: 'scale' }, annotations: { padding: 'x'.repeat(padding) } },
    spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'registry.example.com/app:v1', ports: [{ containerPort: 8080 }] }] },
  });
  const path = '/api/v1/namespaces/default/pods';
  // The namespace exists; its default service account would be created by a controller.
  await server.fetch('/api/v1/namespaces/default/serviceaccounts', { body: { metadata: { name: 'default' } } });
  const { status, body } = await server.fetch(`${path}?dryRun=All`, { body: pod(0) });
  if (status !== 201) throw new Error(`creating the pod failed with ${status}: ${JSON.stringify(body)}`);
  await server.fetch(path, { body: pod(podBytes - JSON.stringify(body).length) });
  await server.kill('SIGTERM');
  const storage = await EmbeddedStorage.open({ file: join(folder, 'data/kubenest.db') });
  const record = await storage.get('/pods/default/pod-name');
  if (!record) throw new Error('the pod was not stored');
  await storage.delete(record.key, record.revision);
  await storage.close();
  return record.value.toString();
}

/** Inserts pods into the embedded store of a file. Returns their total size in bytes. `template` comes from `storedPod`. */
export async function fillWithPods(file: string, template: string, count: number): Promise<number> {
  const storage = await EmbeddedStorage.open({ file, compactionIntervalMs: 0 });
  const { metadata } = JSON.parse(template) as { readonly metadata: { readonly uid: string; readonly resourceVersion: string } };
  let bytes = 0;
  for (let i = 0; i < count; ) {
    const batch: Promise<unknown>[] = [];
    for (; i < count && batch.length < 1_000; i++) {
      const namespace = `ns-${i % namespaces}`;
      const name = `pod-${String(i).padStart(7, '0')}`;
      const text = template
        .replaceAll('pod-name', name)
        .replace('"namespace":"default"', `"namespace":"${namespace}"`)
        .replace(metadata.uid, randomUUID());
      const encode = (revision: number): Buffer =>
        Buffer.from(text.replace(`"resourceVersion":"${metadata.resourceVersion}"`, `"resourceVersion":"${revision}"`));
      bytes += text.length;
      batch.push(storage.create(`/pods/${namespace}/${name}`, encode));
    }
    await Promise.all(batch);
  }
  await storage.close();
  return bytes;
}

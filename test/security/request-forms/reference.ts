import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEtcd } from '../../servers/etcd-server.ts';
import { startKubeApiserver } from '../../servers/kube-apiserver.ts';
import { requestsOf } from './forms.ts';
import { discover, play, prepare, type Target } from './play.ts';
import type { Recorded } from './recorded.ts';

/** Returns the responses of a real kube-apiserver started for this. Requires the binaries of ../shared/reference. */
export async function askReference(every = 1): Promise<Recorded> {
  const folder = mkdtempSync(join(tmpdir(), 'request-forms-'));
  const tokens = join(folder, 'tokens.csv');
  writeFileSync(tokens, 'admin-token,admin,admin,"system:masters"\none-namespace-token,one-namespace,one\n');
  try {
    await using etcd = await startEtcd();
    await using server = await startKubeApiserver(etcd.url, [`--token-auth-file=${tokens}`]);
    const target: Target = {
      port: Number(new URL(server.url).port),
      tokens: { admin: 'admin-token', 'one-namespace': 'one-namespace-token' },
    };
    await prepare(target);
    const resources = await discover(target);
    return { resources, statuses: await play(target, eachOf(requestsOf(resources), every)) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns each nth item. */
export function eachOf<T>(items: readonly T[], every: number): T[] {
  return items.filter((_, index) => index % every === 0);
}

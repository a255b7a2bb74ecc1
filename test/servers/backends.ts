/** The stores that a server of a test may be on. */
import type { TestStorage } from '#testing/index';
import { etcd, noEtcd, startEtcd } from './etcd-server.ts';
import { noRedis, redisServer, startRedis } from './redis-server.ts';

export const backendNames = ['embedded', 'redis', 'etcd'] as const;
export type BackendName = (typeof backendNames)[number];

/** Why a backend cannot be had here; undefined: it can. */
export const absent: Readonly<Record<BackendName, string | undefined>> = {
  embedded: undefined,
  redis: redisServer === undefined ? noRedis : undefined,
  etcd: etcd === undefined ? noEtcd : undefined,
};

export interface StartedBackend extends AsyncDisposable {
  /** Of a server on it. */
  readonly flags: readonly string[];
  /** Of a test cluster on it; `file` is for one that has no server. */
  storage(file: string): TestStorage;
}

/** A store of the test's own. */
export async function startBackend(name: BackendName): Promise<StartedBackend> {
  if (name === 'embedded') return { flags: [], storage: (file) => ({ file }), async [Symbol.asyncDispose]() {} };
  const server = await (name === 'redis' ? startRedis() : startEtcd());
  const { url } = server;
  return {
    flags: name === 'redis' ? ['--storage-backend=redis', `--redis-url=${url}`] : ['--storage-backend=etcd3', `--etcd-servers=${url}`],
    storage: () => (name === 'redis' ? { redisUrl: url } : { etcdUrl: url }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

export function backendOf(name: string): BackendName {
  const known = backendNames.find((each) => each === name);
  if (!known) throw new Error(`the backend is ${JSON.stringify(name)}, it must be one of ${backendNames.join(', ')}`);
  return known;
}

/** Storage backends for test servers. */
import type { TestStorage } from '#testing/index';
import { etcd, noEtcd, startEtcd } from './etcd-server.ts';
import { noRedis, redisServer, startRedis } from './redis-server.ts';

export const backendNames = ['embedded', 'redis', 'etcd'] as const;
export type BackendName = (typeof backendNames)[number];

/** The reason why a backend is unavailable; undefined: available. */
export const absent: Readonly<Record<BackendName, string | undefined>> = {
  embedded: undefined,
  redis: redisServer === undefined ? noRedis : undefined,
  etcd: etcd === undefined ? noEtcd : undefined,
};

export interface StartedBackend extends AsyncDisposable {
  /** Flags of a server on the backend. */
  readonly flags: readonly string[];
  /** Storage of a test cluster; `file` is for backends without a server. */
  storage(file: string): TestStorage;
}

/** Starts a backend for one test. */
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
  if (!known) throw new Error(`unknown backend ${JSON.stringify(name)}: expected one of ${backendNames.join(', ')}`);
  return known;
}

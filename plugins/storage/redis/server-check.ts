import type { Buffer } from 'node:buffer';
import { UnavailableError } from 'kubenest/sdk';
import type { Checking } from './connection.ts';

/** Oldest major version of redis-server with all commands that the scripts use. */
const oldestMajor = 7;

/** Properties of a redis server. */
export interface ServerFacts {
  /** The version that redis reports; for valkey, the redis version that it is compatible with. */
  readonly version: string;
  /** True if it supports `WAITAOF` (7.2). */
  readonly hasWaitAof: boolean;
  /** Id of its promotion from a replica to a master; '' if it has always been one. */
  readonly promotion: string;
}

/** Rejects with UnavailableError if the server is too old, a cluster or a replica. */
export async function checkServer(connection: Checking): Promise<ServerFacts> {
  const info = String(await connection.call('INFO', 'everything'));
  const field = (name: string): string => new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1]?.trim() ?? '';
  const version = field('redis_version');
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (!(major >= oldestMajor)) throw new UnavailableError(`storage: redis ${version} is too old: ${oldestMajor}.0 or newer is required`);
  if (field('cluster_enabled') === '1') throw new UnavailableError('storage: Redis Cluster is not supported; use one master with replicas');
  if (field('role') !== 'master') throw new UnavailableError('storage: this redis is a replica; the store requires the master');
  const promotion = Number(field('second_repl_offset')) >= 0 ? `${field('master_replid2')}:${field('second_repl_offset')}` : '';
  return { version, hasWaitAof: major > oldestMajor || minor >= 2, promotion };
}

/** Settings required for durable acknowledged writes. */
const wanted: Readonly<Record<string, string>> = {
  appendonly: 'yes',
  appendfsync: 'always',
  'maxmemory-policy': 'noeviction',
  // A demoted master would lose accepted writes.
  'replica-read-only': 'yes',
};

/**
 * Returns the reasons why acknowledged writes may be lost, as sentences. If the settings cannot be read, that is the reason.
 */
export async function durabilityProblems(connection: Checking): Promise<string[]> {
  const settings = new Map<string, string>();
  for (const name of Object.keys(wanted)) {
    try {
      const answer = (await connection.call('CONFIG', 'GET', name)) as readonly Buffer[];
      settings.set(name, String(answer[1]));
    } catch (error) {
      return [`the settings of redis cannot be read: ${(error as Error).message}`];
    }
  }
  return Object.entries(wanted).flatMap(([name, value]) =>
    settings.get(name) === value ? [] : `redis has ${name} ${settings.get(name)}, and acknowledged writes last only with ${name} ${value}`,
  );
}

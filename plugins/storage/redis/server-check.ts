import type { Buffer } from 'node:buffer';
import { UnavailableError } from 'kubenest/sdk';
import type { Checking } from './connection.ts';

/** From it on, redis-server has all that the scripts use. */
const oldestMajor = 7;

/** What a redis says of itself. */
export interface ServerFacts {
  /** As redis or as valkey tells it: the version of redis that it is compatible with. */
  readonly version: string;
  /** Whether it can tell when a write is in its log (`WAITAOF`, 7.2). */
  readonly hasWaitAof: boolean;
  /** What names its promotion from a replica to a master; '' if it has always been one. */
  readonly promotion: string;
}

/** Rejects with UnavailableError for a server that the store cannot work on: too old, a cluster, a replica. */
export async function checkServer(connection: Checking): Promise<ServerFacts> {
  const info = String(await connection.call('INFO', 'everything'));
  const told = (name: string): string => new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1]?.trim() ?? '';
  const version = told('redis_version');
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (!(major >= oldestMajor)) throw new UnavailableError(`storage: redis ${version} is too old, it must be ${oldestMajor}.0 or newer`);
  if (told('cluster_enabled') === '1')
    throw new UnavailableError('storage: a Redis Cluster cannot hold the store; use one master with replicas');
  if (told('role') !== 'master') throw new UnavailableError('storage: this redis is a replica; the store needs the master');
  const promotion = Number(told('second_repl_offset')) >= 0 ? `${told('master_replid2')}:${told('second_repl_offset')}` : '';
  return { version, hasWaitAof: major > oldestMajor || minor >= 2, promotion };
}

/** What has to be set so that acknowledged writes last. */
const wanted: Readonly<Record<string, string>> = {
  appendonly: 'yes',
  appendfsync: 'always',
  'maxmemory-policy': 'noeviction',
  // What a master that is made a replica takes is lost.
  'replica-read-only': 'yes',
};

/**
 * What stands in the way of using a server as a store whose acknowledged writes last: each as a sentence. A server whose
 * settings cannot be asked is one of which nothing is known.
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

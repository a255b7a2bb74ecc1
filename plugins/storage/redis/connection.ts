import { createHash } from 'node:crypto';
import type { Buffer } from 'node:buffer';
import { Redis } from 'ioredis';
import { NoSpaceError, type StorageError, UnavailableError, UnknownOutcomeError } from 'kubenest/sdk';

const connectTimeoutMs = 5_000;
const reconnectAtMostMs = 2_000;
/** From it on, redis-server has all that the scripts use. */
const oldestMajor = 7;

/** The answer of a script: texts as bytes, numbers, and lists of them. */
export type Reply = Buffer | number | null | readonly Reply[];

/**
 * A connection that says what became of a command: nothing is queued while it is down, and nothing is sent twice. It comes back by
 * itself, at most every two seconds.
 */
export class Connection {
  readonly #redis: Redis;
  readonly #hashes = new Map<string, string>();

  /** `url`: `redis://user:password@host:port/database`, or `rediss:` for TLS. */
  constructor(url: string) {
    this.#redis = new Redis(url, {
      // Answers have one shape, whatever the server can.
      protocol: 2,
      lazyConnect: true,
      offlineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      connectTimeout: connectTimeoutMs,
      retryStrategy: (attempts) => Math.min(50 * 2 ** attempts, reconnectAtMostMs),
    });
    // Commands tell what is wrong; without a listener the process would end.
    this.#redis.on('error', () => {});
  }

  /** Connects for the first time. Rejects if that fails. */
  async open(): Promise<void> {
    try {
      await this.#redis.connect();
    } catch (error) {
      this.#redis.disconnect();
      throw new UnavailableError(`storage: redis cannot be reached: ${(error as Error).message}`, { cause: error });
    }
  }

  /** Calls after each time that the connection has come back. */
  onReady(listener: () => void): void {
    this.#redis.on('ready', listener);
  }

  /** Runs a script. Rejects with a StorageError: UnknownOutcomeError where it was sent and no answer came. */
  async run(script: string, ...args: (string | Buffer | number)[]): Promise<readonly Reply[] | Reply> {
    let hash = this.#hashes.get(script);
    if (hash === undefined) {
      hash = createHash('sha1').update(script).digest('hex');
      this.#hashes.set(script, hash);
    }
    try {
      return (await this.#redis.callBuffer('EVALSHA', [hash, 0, ...args])) as Reply;
    } catch (error) {
      if (!(error as Error).message.startsWith('NOSCRIPT')) throw translated(error as Error);
    }
    try {
      return (await this.#redis.callBuffer('EVAL', [script, 0, ...args])) as Reply;
    } catch (error) {
      throw translated(error as Error);
    }
  }

  /** A command. Rejects with a StorageError. */
  async call(command: string, ...args: (string | number)[]): Promise<Reply> {
    try {
      return (await this.#redis.callBuffer(command, args)) as Reply;
    } catch (error) {
      throw translated(error as Error);
    }
  }

  /** At once, whatever is under way. */
  close(): void {
    this.#redis.disconnect();
  }
}

/** The answers of redis that mean that the command was refused, by their first word. */
const refusals: Readonly<Record<string, new (message: string, options: ErrorOptions) => StorageError>> = {
  OOM: NoSpaceError,
  MISCONF: NoSpaceError,
  READONLY: UnavailableError,
  LOADING: UnavailableError,
  MASTERDOWN: UnavailableError,
  NOREPLICAS: UnavailableError,
  BUSY: UnavailableError,
  NOAUTH: UnavailableError,
  WRONGPASS: UnavailableError,
  NOPERM: UnavailableError,
};

function translated(error: Error): Error {
  const message = `storage: redis: ${error.message}`;
  const Refusal = error.name === 'ReplyError' ? refusals[error.message.split(' ', 1)[0] ?? ''] : undefined;
  if (Refusal) return new Refusal(message, { cause: error });
  if (error.name === 'ReplyError') return error;
  if (/Stream isn't writeable/.test(error.message)) return new UnavailableError('storage: redis is not connected', { cause: error });
  return new UnknownOutcomeError(message, { cause: error });
}

/**
 * What stands in the way of using a server as a store whose acknowledged writes last: each as a sentence. A server whose
 * settings cannot be asked is one of which nothing is known.
 */
export async function durabilityProblems(connection: Connection): Promise<string[]> {
  const settings = new Map<string, string>();
  for (const name of ['appendonly', 'appendfsync', 'maxmemory-policy']) {
    try {
      const answer = (await connection.call('CONFIG', 'GET', name)) as readonly Buffer[];
      settings.set(name, String(answer[1]));
    } catch (error) {
      return [`the settings of redis cannot be read: ${(error as Error).message}`];
    }
  }
  const wanted: Readonly<Record<string, string>> = { appendonly: 'yes', appendfsync: 'always', 'maxmemory-policy': 'noeviction' };
  return Object.entries(wanted).flatMap(([name, value]) =>
    settings.get(name) === value ? [] : `redis has ${name} ${settings.get(name)}, and acknowledged writes last only with ${name} ${value}`,
  );
}

/** Rejects for a server that the store cannot work on. */
export async function checkServer(connection: Connection): Promise<void> {
  const info = String(await connection.call('INFO', 'server')) + String(await connection.call('INFO', 'cluster'));
  const version = /redis_version:(\S+)/.exec(info)?.[1] ?? '';
  if (Number.parseInt(version, 10) < oldestMajor)
    throw new UnavailableError(`storage: redis ${version} is too old, it must be ${oldestMajor}.0 or newer`);
  if (/cluster_enabled:1/.test(info))
    throw new UnavailableError('storage: a Redis Cluster cannot hold the store; use one master with replicas');
}

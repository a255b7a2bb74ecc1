import { createHash } from 'node:crypto';
import type { Buffer } from 'node:buffer';
import { Redis } from 'ioredis';
import { NoSpaceError, StorageError, UnavailableError, UnknownOutcomeError } from 'kubenest/sdk';
import { trustOptions } from '#sdk/internal';

const connectTimeoutMs = 3_000;
/** Timeout of a disconnect, so that an unresponsive peer does not keep the process alive. */
const disconnectTimeoutMs = 100;
const reconnectAtMostMs = 2_000;
/**
 * Interval at which connections with pending commands are checked. A connection without received bytes over `silentLooks`
 * checks is dropped, after 3 to 3.5 seconds. Checks are counted instead of time, because this process may have been stopped
 * itself.
 */
const lookMs = 500;
const silentLooks = 7;
/** Timeout of blocking commands (for events and replica logs), well below that of the connection. */
export const blockMs = 2_000;

type Argument = string | Buffer | number;

/** The commands available while a new connection is being checked. */
export interface Checking {
  run(script: string, ...args: Argument[]): Promise<Reply>;
  call(command: string, ...args: Argument[]): Promise<Reply>;
}

/** Reply of a script: bytes, numbers and lists of them. */
export type Reply = Buffer | number | null | readonly Reply[];

/** PEM for `rediss:`. Default of `ca`: the system's authorities. */
export interface RedisTls {
  readonly ca?: Buffer | undefined;
  readonly certificate?: Buffer | undefined;
  readonly key?: Buffer | undefined;
}

export interface ConnectionOptions extends RedisTls {
  /** `redis://user:password@host:port/database`, or `rediss:` for TLS. */
  readonly url: string;
}

/**
 * A connection that reports the outcome of each command: nothing is queued while it is down, and nothing is sent twice. It
 * is dropped if it is silent or its server became unusable (a replica, or loading its log). It reconnects at most every two
 * seconds; commands are sent only after `onConnected` has resolved, because the address may lead to another server with a
 * different history.
 */
export class Connection {
  readonly #redis: Redis;
  readonly #hashes = new Map<string, string>();
  /** The reason why commands are rejected; undefined if they are sent. */
  #refusal: StorageError | undefined = new UnavailableError('storage: redis cannot be reached');
  #onConnected: (() => Promise<void>) | undefined;
  /** Number of ended connections; results of checks on an earlier one are ignored. */
  #life = 0;
  /** Connection attempts since the last accepted server. */
  #attempts = 0;
  /** Number of commands waiting for a reply. */
  #waiting = 0;
  /** Bytes received at the last check, and the number of checks with the same value. */
  #heard = 0;
  #silence = 0;
  readonly #looks: NodeJS.Timeout;

  constructor({ url, ca, certificate, key }: ConnectionOptions) {
    const tls = url.startsWith('rediss:') && {
      tls: { ...trustOptions({ ca }), ...(certificate && { cert: certificate }), ...(key && { key }) },
    };
    this.#redis = new Redis(url, {
      ...tls,
      // Gives replies the same form on all servers.
      protocol: 2,
      lazyConnect: true,
      enableOfflineQueue: false,
      // `onConnected` performs the check.
      enableReadyCheck: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      connectTimeout: connectTimeoutMs,
      disconnectTimeout: disconnectTimeoutMs,
      retryStrategy: () => Math.min(50 * 2 ** ++this.#attempts, reconnectAtMostMs),
    });
    // Also drops connections that could continue: after a failed SELECT, one would use another database.
    this.#redis.on('error', (error: Error) => this.#drop(unreachable(error)));
    this.#redis.on('ready', () => void this.#admit());
    this.#redis.on('close', () => {
      this.#life += 1;
      this.#refusal ??= new UnavailableError('storage: redis has closed the connection');
    });
    this.#looks = setInterval(() => this.#look(), lookMs).unref();
  }

  /**
   * Connects for the first time. Rejects if that fails, or with the error of `onConnected`, which is called after each
   * connect and may send commands.
   */
  async open(onConnected?: (checking: Checking) => Promise<void>): Promise<void> {
    const checking: Checking = {
      run: (script, ...args) => this.#run(script, args),
      call: (command, ...args) => this.#call(command, args),
    };
    try {
      await this.#redis.connect();
      await onConnected?.(checking);
    } catch (error) {
      const isConnected = this.#redis.status === 'ready' && this.#redis.stream.writable;
      this.close();
      // The reason of the failure is more specific than the missing connection.
      throw isConnected ? error : this.#refusal;
    }
    this.#onConnected = () => onConnected?.(checking) ?? Promise.resolve();
    this.#attempts = 0;
    this.#refusal = undefined;
  }

  /** Admits commands once `onConnected` has accepted the server. */
  async #admit(): Promise<void> {
    if (!this.#onConnected) return;
    const life = this.#life;
    try {
      await this.#onConnected();
      if (life !== this.#life) return;
      this.#attempts = 0;
      this.#refusal = undefined;
    } catch (error) {
      // The address may lead to another server after reconnecting.
      if (life === this.#life) this.#drop(error instanceof StorageError ? error : unreachable(error as Error));
    }
  }

  /** Drops the connection and rejects pending commands; it reconnects by itself. */
  #drop(why: StorageError): void {
    this.#refusal = why;
    this.#redis.stream?.destroy();
  }

  #look(): void {
    const heard = this.#redis.stream?.bytesRead ?? 0;
    const isAwaited = this.#waiting > 0 || this.#redis.status === 'connect';
    this.#silence = isAwaited && heard === this.#heard ? this.#silence + 1 : 0;
    this.#heard = heard;
    if (this.#silence < silentLooks) return;
    this.#silence = 0;
    this.#drop(new UnavailableError(`storage: redis did not respond for ${((silentLooks - 1) * lookMs) / 1_000} s`));
  }

  /** Checks the server again; commands are sent meanwhile. */
  async check(): Promise<void> {
    if (this.#redis.status === 'ready') await this.#admit();
  }

  /** Throws the reason if commands are not admitted. */
  #assertAdmitted(): void {
    if (this.#refusal) throw this.#refusal;
  }

  /** Runs a script. Rejects with a StorageError: UnknownOutcomeError if it was sent without a reply. */
  async run(script: string, ...args: Argument[]): Promise<readonly Reply[] | Reply> {
    this.#assertAdmitted();
    return this.#run(script, args);
  }

  /** Runs a writing script. Resolves when its writes are in the log of the server and of `replicas` replicas. */
  async runSynced(script: string, replicas: number, ...args: Argument[]): Promise<readonly Reply[] | Reply> {
    this.#assertAdmitted();
    return this.#run(script, args, replicas);
  }

  /** Sends a command. Rejects with a StorageError. */
  async call(command: string, ...args: Argument[]): Promise<Reply> {
    this.#assertAdmitted();
    return this.#call(command, args);
  }

  async #run(script: string, args: readonly Argument[], replicas?: number): Promise<Reply> {
    let hash = this.#hashes.get(script);
    if (hash === undefined) {
      hash = createHash('sha1').update(script).digest('hex');
      this.#hashes.set(script, hash);
    }
    const answer = await this.#send('EVALSHA', [hash, 0, ...args], replicas).catch((error: unknown) => error as Error);
    if (!(answer instanceof Error)) return answer;
    if (!isUnknownScript(answer)) throw answer;
    return this.#send('EVAL', [script, 0, ...args], replicas);
  }

  /** Sends `WAITAOF` together with the command, without waiting for its reply. */
  async #send(command: string, args: readonly Argument[], replicas: number | undefined): Promise<Reply> {
    const answer = this.#call(command, args);
    if (replicas === undefined) return answer;
    const synced = this.#call('WAITAOF', [1, replicas, blockMs]).catch((error: unknown) => error as Error);
    const result = await answer;
    const counts = await synced;
    const [local, remote] = counts instanceof Error ? [0, 0] : (counts as readonly number[]).map(Number);
    if ((local ?? 0) < 1 || (remote ?? 0) < replicas) {
      const why = counts instanceof Error ? counts.message : `the log of ${remote} replicas of ${replicas} has it`;
      throw new UnknownOutcomeError(`storage: redis accepted the write, but it may be lost: ${why}`);
    }
    return result;
  }

  async #call(command: string, args: readonly Argument[]): Promise<Reply> {
    this.#waiting += 1;
    try {
      return (await this.#redis.callBuffer(command, [...args])) as Reply;
    } catch (error) {
      const failure = translated(error as Error);
      if (failure instanceof UnavailableError && endings.has(codeOf(error as Error))) this.#drop(failure);
      throw failure;
    } finally {
      this.#waiting -= 1;
    }
  }

  /** Closes the connection immediately, with pending commands. */
  close(): void {
    clearInterval(this.#looks);
    this.#redis.disconnect();
  }
}

/** Errors of redis that mean that a command was rejected, by their first word. */
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

/** Errors after which the server must not be used. */
const endings: ReadonlySet<string> = new Set(['READONLY', 'LOADING', 'MASTERDOWN']);

function codeOf(error: Error): string {
  return error.name === 'ReplyError' ? (error.message.split(' ', 1)[0] ?? '') : '';
}

function isUnknownScript({ cause }: Error): boolean {
  return cause instanceof Error && codeOf(cause) === 'NOSCRIPT';
}

/** Returns the error of a failed connection, without its cause: that of AUTH contains the password. */
function unreachable(error: Error): UnavailableError {
  const [first] = error instanceof AggregateError ? (error.errors as readonly Error[]) : [];
  const what = codeOf(error) === '' ? 'redis cannot be reached' : 'redis';
  return new UnavailableError(`storage: ${what}: ${error.message || first?.message}`);
}

function translated(error: Error): Error {
  const code = codeOf(error);
  const message = `storage: redis: ${error.message}`;
  const Refusal = refusals[code];
  if (Refusal) return new Refusal(message, { cause: error });
  if (code !== '') return new Error(message, { cause: error });
  if (/Stream isn't writeable/.test(error.message)) return new UnavailableError('storage: redis is not connected', { cause: error });
  return new UnknownOutcomeError('storage: the connection to redis broke before the reply', { cause: error });
}

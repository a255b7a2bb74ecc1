import { createHash } from 'node:crypto';
import type { Buffer } from 'node:buffer';
import { Redis } from 'ioredis';
import { NoSpaceError, StorageError, UnavailableError, UnknownOutcomeError } from 'kubenest/sdk';

const connectTimeoutMs = 5_000;
const reconnectAtMostMs = 2_000;
const recheckMs = 1_000;
/** How long a write waits for the logs of replicas. */
const syncMs = 5_000;

type Argument = string | Buffer | number;

/** What may be asked of a server that has just been connected to. */
export interface Checking {
  run(script: string, ...args: Argument[]): Promise<Reply>;
  call(command: string, ...args: Argument[]): Promise<Reply>;
}

/** The answer of a script: texts as bytes, numbers, and lists of them. */
export type Reply = Buffer | number | null | readonly Reply[];

/** PEM, for `rediss:`. Without `ca`, the system's authorities. */
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
 * A connection that says what became of a command: nothing is queued while it is down, and nothing is sent twice. It comes back by
 * itself, at most every two seconds; then nobody else's command is sent before `onConnected` has resolved: who is there may be another
 * server, with another past.
 */
export class Connection {
  readonly #redis: Redis;
  readonly #hashes = new Map<string, string>();
  #refusal: StorageError | undefined = new UnavailableError('storage: redis is not connected');
  #onConnected: (() => Promise<void>) | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  /** Counts the connections that have ended: what was found out about one says nothing of the next. */
  #life = 0;

  constructor({ url, ca, certificate, key }: ConnectionOptions) {
    const tls = url.startsWith('rediss:') && { tls: { ...(ca && { ca }), ...(certificate && { cert: certificate }), ...(key && { key }) } };
    this.#redis = new Redis(url, {
      ...tls,
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
    this.#redis.on('ready', () => void this.#admit());
    this.#redis.on('close', () => {
      this.#life += 1;
      this.#refusal = new UnavailableError('storage: redis is not connected');
    });
  }

  /** Connects for the first time. Rejects if that fails, or with what `onConnected` rejects. It is called after each connect; what it calls is sent. */
  async open(onConnected?: (checking: Checking) => Promise<void>): Promise<void> {
    try {
      await this.#redis.connect();
    } catch (error) {
      this.#redis.disconnect();
      throw new UnavailableError(`storage: redis cannot be reached: ${(error as Error).message}`, { cause: error });
    }
    const checking: Checking = {
      run: (script, ...args) => this.#run(script, args),
      call: (command, ...args) => this.#call(command, args),
    };
    await onConnected?.(checking);
    this.#onConnected = () => onConnected?.(checking) ?? Promise.resolve();
    this.#refusal = undefined;
  }

  /** Lets commands through once the server is known to be the right one; asks again while it is not. */
  async #admit(): Promise<void> {
    clearTimeout(this.#retryTimer);
    if (!this.#onConnected) return;
    const life = this.#life;
    try {
      await this.#onConnected();
      if (life === this.#life) this.#refusal = undefined;
    } catch (error) {
      if (life !== this.#life) return;
      this.#refusal = error instanceof StorageError ? error : new UnavailableError(`storage: redis: ${(error as Error).message}`);
      this.#retryTimer = setTimeout(() => void (this.#redis.status === 'ready' && this.#admit()), recheckMs).unref();
    }
  }

  /** Asks again whether the server is the right one; until it has answered, commands are sent. */
  async check(): Promise<void> {
    if (this.#redis.status === 'ready') await this.#admit();
  }

  /** Throws what stands in the way of commands. */
  #assertAdmitted(): void {
    if (this.#refusal) throw this.#refusal;
  }

  /** Runs a script. Rejects with a StorageError: UnknownOutcomeError where it was sent and no answer came. */
  async run(script: string, ...args: Argument[]): Promise<readonly Reply[] | Reply> {
    this.#assertAdmitted();
    return this.#run(script, args);
  }

  /** The same for one that writes: resolves when its writes are in the log of the server, and of so many replicas. */
  async runSynced(script: string, replicas: number, ...args: Argument[]): Promise<readonly Reply[] | Reply> {
    this.#assertAdmitted();
    return this.#run(script, args, replicas);
  }

  /** A command. Rejects with a StorageError. */
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

  /** `WAITAOF` goes with the command, not after its answer. */
  async #send(command: string, args: readonly Argument[], replicas: number | undefined): Promise<Reply> {
    const answer = this.#call(command, args);
    if (replicas === undefined) return answer;
    const synced = this.#call('WAITAOF', [1, replicas, syncMs]).catch((error: unknown) => error as Error);
    const result = await answer;
    const counts = await synced;
    const [local, remote] = counts instanceof Error ? [0, 0] : (counts as readonly number[]).map(Number);
    if ((local ?? 0) < 1 || (remote ?? 0) < replicas) {
      const why = counts instanceof Error ? counts.message : `the log of ${remote} replicas of ${replicas} has it`;
      throw new UnknownOutcomeError(`storage: redis has taken the write, and it may be lost: ${why}`);
    }
    return result;
  }

  async #call(command: string, args: readonly Argument[]): Promise<Reply> {
    try {
      return (await this.#redis.callBuffer(command, [...args])) as Reply;
    } catch (error) {
      throw translated(error as Error);
    }
  }

  /** At once, whatever is under way. */
  close(): void {
    clearTimeout(this.#retryTimer);
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

function isUnknownScript({ cause }: Error): boolean {
  return cause instanceof Error && cause.message.startsWith('NOSCRIPT');
}

function translated(error: Error): Error {
  const message = `storage: redis: ${error.message}`;
  const Refusal = error.name === 'ReplyError' ? refusals[error.message.split(' ', 1)[0] ?? ''] : undefined;
  if (Refusal) return new Refusal(message, { cause: error });
  if (error.name === 'ReplyError') return new Error(message, { cause: error });
  if (/Stream isn't writeable/.test(error.message)) return new UnavailableError('storage: redis is not connected', { cause: error });
  return new UnknownOutcomeError(message, { cause: error });
}

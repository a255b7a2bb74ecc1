import { createHash } from 'node:crypto';
import type { Buffer } from 'node:buffer';
import { Redis } from 'ioredis';
import { NoSpaceError, StorageError, trustOptions, UnavailableError, UnknownOutcomeError } from 'kubenest/sdk';

const connectTimeoutMs = 3_000;
/** What is left behind when the other side does not close its end keeps a process that ends. */
const disconnectTimeoutMs = 100;
const reconnectAtMostMs = 2_000;
/**
 * A connection on which something waits for an answer is looked at so often, and given up when not a byte has come from one look to
 * the next so many times: 3 to 3.5 seconds. Looks are counted, and not the time: this process may have been stopped itself.
 */
const lookMs = 500;
const silentLooks = 7;
/** What waits in redis itself, for events or for the logs of replicas, is answered after it: well before the connection is given up. */
export const blockMs = 2_000;

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
 * A connection that says what became of a command: nothing is queued while it is down, and nothing is sent twice. One that gives no
 * answer, or whose server is none to read from and write to any more (it follows another, it loads its log), is given up. It comes
 * back by itself, at most every two seconds; then nobody else's command is sent before `onConnected` has resolved: who is there may
 * be another server, with another past.
 */
export class Connection {
  readonly #redis: Redis;
  readonly #hashes = new Map<string, string>();
  /** What stands in the way of commands. */
  #refusal: StorageError | undefined = new UnavailableError('storage: redis cannot be reached');
  #onConnected: (() => Promise<void>) | undefined;
  /** Counts the connections that have ended: what was found out about one says nothing of the next. */
  #life = 0;
  /** Connects since the last one whose server was the right one. */
  #attempts = 0;
  /** Commands that wait for an answer. */
  #waiting = 0;
  /** The bytes that had come at the last look, and how many looks ago that was so already. */
  #heard = 0;
  #silence = 0;
  readonly #looks: NodeJS.Timeout;

  constructor({ url, ca, certificate, key }: ConnectionOptions) {
    const tls = url.startsWith('rediss:') && {
      tls: { ...trustOptions({ ca }), ...(certificate && { cert: certificate }), ...(key && { key }) },
    };
    this.#redis = new Redis(url, {
      ...tls,
      // Answers have one shape, whatever the server can.
      protocol: 2,
      lazyConnect: true,
      enableOfflineQueue: false,
      // The server is asked by `onConnected`.
      enableReadyCheck: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      connectTimeout: connectTimeoutMs,
      disconnectTimeout: disconnectTimeoutMs,
      retryStrategy: () => Math.min(50 * 2 ** ++this.#attempts, reconnectAtMostMs),
    });
    // Also of a connection that would go on: one whose database could not be selected would use another.
    this.#redis.on('error', (error: Error) => this.#drop(unreachable(error)));
    this.#redis.on('ready', () => void this.#admit());
    this.#redis.on('close', () => {
      this.#life += 1;
      this.#refusal ??= new UnavailableError('storage: redis has closed the connection');
    });
    this.#looks = setInterval(() => this.#look(), lookMs).unref();
  }

  /** Connects for the first time. Rejects if that fails, or with what `onConnected` rejects. It is called after each connect; what it calls is sent. */
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
      // That there is no connection says less than why.
      throw isConnected ? error : this.#refusal;
    }
    this.#onConnected = () => onConnected?.(checking) ?? Promise.resolve();
    this.#attempts = 0;
    this.#refusal = undefined;
  }

  /** Lets commands through once the server is known to be the right one. */
  async #admit(): Promise<void> {
    if (!this.#onConnected) return;
    const life = this.#life;
    try {
      await this.#onConnected();
      if (life !== this.#life) return;
      this.#attempts = 0;
      this.#refusal = undefined;
    } catch (error) {
      // The address may lead to another server the next time.
      if (life === this.#life) this.#drop(error instanceof StorageError ? error : unreachable(error as Error));
    }
  }

  /** Gives the connection up, and all that waits for an answer; it comes back by itself. */
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
    this.#drop(new UnavailableError(`storage: redis has given no answer for ${((silentLooks - 1) * lookMs) / 1_000} s`));
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
    const synced = this.#call('WAITAOF', [1, replicas, blockMs]).catch((error: unknown) => error as Error);
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
    this.#waiting += 1;
    try {
      return (await this.#redis.callBuffer(command, [...args])) as Reply;
    } catch (error) {
      const told = translated(error as Error);
      if (told instanceof UnavailableError && endings.has(codeOf(error as Error))) this.#drop(told);
      throw told;
    } finally {
      this.#waiting -= 1;
    }
  }

  /** At once, whatever is under way. */
  close(): void {
    clearInterval(this.#looks);
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

/** Those after which a server is none to read from and write to any more. */
const endings: ReadonlySet<string> = new Set(['READONLY', 'LOADING', 'MASTERDOWN']);

function codeOf(error: Error): string {
  return error.name === 'ReplyError' ? (error.message.split(' ', 1)[0] ?? '') : '';
}

function isUnknownScript({ cause }: Error): boolean {
  return cause instanceof Error && codeOf(cause) === 'NOSCRIPT';
}

/** Why there is no connection. Without the error as its cause: that of AUTH has the password. */
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
  return new UnknownOutcomeError('storage: the connection to redis broke before its answer', { cause: error });
}

import { spawn } from 'node:child_process';
import { Buffer } from 'node:buffer';
import { normalize, resolve, sep } from 'node:path';
import { createSecureContext } from 'node:tls';
import { quote } from '#apimachinery/runtime/quote';
import { parseTime } from '#apimachinery/runtime/time';
import { parseYaml } from '#apimachinery/runtime/yaml/yaml';
import type { Credential, CredentialSource } from './credential-source.ts';

type Fields = Readonly<Record<string, unknown>>;

const group = 'client.authentication.k8s.io';
const apiVersions = [`${group}/v1`, `${group}/v1beta1`];
const interactiveModes = ['Never', 'IfAvailable', 'Always'];
/** Timeout of a credential program, so that it cannot block requests forever. */
const runMs = 60_000;
const maxOutputBytes = 1 << 20;
/** Limit of install hints in messages. Upstream: exec.go (sometimes). */
const hints = { most: 10, inMs: 3_600_000 };

/**
 * The `exec` section of a kubeconfig user: a program that provides credentials. Upstream:
 * client-go/tools/clientcmd/api/types.go (ExecConfig).
 */
export interface ExecConfig {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: readonly (readonly [name: string, value: string])[];
  readonly apiVersion: string;
  readonly installHint: string;
  readonly interactiveMode: string;
  /** Set if the program receives information about the cluster, with the configuration from the cluster's extension. */
  readonly cluster: { readonly config: unknown } | undefined;
}

/** The cluster information passed to programs. Upstream: client-go/rest/exec.go. */
export interface ExecCluster {
  readonly server: string;
  readonly 'tls-server-name'?: string | undefined;
  readonly 'insecure-skip-tls-verify'?: true | undefined;
  /** base64 of PEM. */
  readonly 'certificate-authority-data'?: string | undefined;
}

/** Credentials returned by a program. */
export interface ExecCredential extends Credential {
  /** Expiry as a Unix time in milliseconds; Infinity: until the service rejects them. */
  readonly until: number;
}

/**
 * Reads the `exec` section of the user with that name; `clusterConfig` is the content of the cluster's exec extension. A
 * command with a slash is relative to `folder`; others are looked up in PATH. Throws the errors of client-go's validation.
 * Upstream: client-go/tools/clientcmd/validation.go.
 */
export function readExecConfig(exec: Fields, user: string, folder: string, clusterConfig: unknown): ExecConfig {
  const text = (field: string): string => (typeof exec[field] === 'string' ? exec[field] : '');
  const list = (field: string): readonly unknown[] => (Array.isArray(exec[field]) ? (exec[field] as unknown[]) : []);
  const apiVersion = text('apiVersion');
  const command = text('command');
  const missing = (what: string): Error => new Error(`${what} must be specified for ${user} to use exec authentication plugin`);
  if (command === '') throw missing('command');
  if (apiVersion === '') throw missing('apiVersion');
  if (!apiVersions.includes(apiVersion)) throw new Error(`exec plugin: invalid apiVersion ${quote(apiVersion)}`);
  const env = list('env').map((one) => {
    const { name, value } = (one ?? {}) as Fields;
    if (typeof name !== 'string' || name === '') throw missing('env variable name');
    return [name, typeof value === 'string' ? value : ''] as const;
  });
  const interactiveMode = text('interactiveMode') || (apiVersion === apiVersions[1] ? 'IfAvailable' : '');
  if (interactiveMode === '') throw missing('interactiveMode');
  if (!interactiveModes.includes(interactiveMode)) throw new Error(`invalid interactiveMode for ${user}: ${quote(interactiveMode)}`);
  return {
    command: command.includes(sep) ? resolve(folder, command) : normalize(command),
    args: list('args').filter((arg) => typeof arg === 'string'),
    env,
    apiVersion,
    installHint: text('installHint'),
    interactiveMode,
    cluster: exec['provideClusterInfo'] === true ? { config: clusterConfig } : undefined,
  };
}

/**
 * Credentials from a program, which runs when there are none, when they have expired, and after the service rejected them;
 * concurrent callers share one run. Upstream: client-go/plugin/pkg/client/auth/exec/exec.go.
 */
export class ExecCredentials implements CredentialSource {
  #credential: ExecCredential | undefined;
  #running: Promise<ExecCredential> | undefined;
  #hintsSince = -Infinity;
  #hints = 0;

  constructor(
    private readonly config: ExecConfig,
    private readonly cluster: ExecCluster,
    private readonly now: () => number = Date.now,
    private readonly isTerminal: () => boolean = () => process.stdin.isTTY === true,
  ) {}

  get(): Promise<ExecCredential> {
    const credential = this.#credential;
    if (credential && this.now() <= credential.until) return Promise.resolve(credential);
    return this.#refresh();
  }

  /** Runs the program again, unless it has run since. */
  async refused(credential: Credential): Promise<void> {
    if (this.#credential === credential) await this.#refresh();
  }

  #refresh(): Promise<ExecCredential> {
    this.#running ??= this.#ask()
      .then((credential) => (this.#credential = credential))
      .finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #ask(): Promise<ExecCredential> {
    const { apiVersion, cluster } = this.config;
    const interactive = this.#isInteractive();
    const spec = { cluster: cluster && { ...this.cluster, config: cluster.config ?? null }, interactive };
    const output = await this.#run(JSON.stringify({ kind: 'ExecCredential', apiVersion, spec }), interactive);
    return credentialOf(output, apiVersion);
  }

  #isInteractive(): boolean {
    const { interactiveMode } = this.config;
    if (interactiveMode === 'Never') return false;
    const isTerminal = this.isTerminal();
    if (interactiveMode === 'Always' && !isTerminal)
      throw new Error('exec plugin cannot support interactive mode: standard input is not a terminal');
    return isTerminal;
  }

  /** Returns the standard output of the program; its standard error is inherited from the server. */
  #run(info: string, interactive: boolean): Promise<Buffer> {
    const { command, args, env } = this.config;
    const { promise, resolve: done, reject } = Promise.withResolvers<Buffer>();
    const program = spawn(command, args, {
      env: { ...process.env, ...Object.fromEntries(env), KUBERNETES_EXEC_INFO: info },
      stdio: [interactive ? 'inherit' : 'ignore', 'pipe', 'inherit'],
      timeout: runMs,
      killSignal: 'SIGKILL',
    });
    const pieces: Buffer[] = [];
    let size = 0;
    program.stdout?.on('data', (piece: Buffer) => {
      size += piece.length;
      if (size <= maxOutputBytes) pieces.push(piece);
      else program.kill('SIGKILL');
    });
    program.once('error', (error: NodeJS.ErrnoException) => reject(this.#cannotRun(error)));
    program.once('close', (code, signal) => {
      if (size > maxOutputBytes) reject(new Error(`exec: executable ${command} wrote more than ${maxOutputBytes} bytes`));
      else if (code !== 0)
        reject(new Error(`exec: executable ${command} failed with ${signal ? `signal ${signal}` : `exit code ${code}`}`));
      else done(Buffer.concat(pieces));
    });
    return promise;
  }

  #cannotRun(error: NodeJS.ErrnoException): Error {
    if (error.code !== 'ENOENT') return new Error(`exec: ${error.message}`, { cause: error });
    const { command, installHint } = this.config;
    return new Error(`exec: executable ${command} not found${installHint !== '' && this.#mayHint() ? `\n\n${installHint}` : ''}`);
  }

  #mayHint(): boolean {
    const now = this.now();
    if (now - this.#hintsSince >= hints.inMs) {
      this.#hintsSince = now;
      this.#hints = 0;
    }
    this.#hints += 1;
    return this.#hints <= hints.most;
  }
}

/** One instance for each way to run a program, oldest first. */
const known = new Map<string, ExecCredentials>();
const mostKnown = 100;

/**
 * Returns the instance shared by all clients that would run the same program in the same way. Upstream: exec.go
 * (globalCache).
 */
export function sharedExecCredentials(config: ExecConfig, cluster: ExecCluster): ExecCredentials {
  const key = JSON.stringify([config, config.cluster && cluster]);
  const shared = known.get(key) ?? new ExecCredentials(config, cluster);
  if (!known.has(key) && known.size >= mostKnown) known.delete(known.keys().next().value as string);
  known.set(key, shared);
  return shared;
}

/** Parses an ExecCredential, JSON or YAML. Throws client-go's errors. */
function credentialOf(output: Buffer, wanted: string): ExecCredential {
  let credential: Fields;
  try {
    credential = (parseYaml(output).value ?? {}) as Fields;
  } catch (cause) {
    throw new Error(`decoding stdout: ${(cause as Error).message}`, { cause });
  }
  const { apiVersion, kind } = credential;
  if (kind !== 'ExecCredential' || typeof apiVersion !== 'string') throw new Error('decoding stdout: not an ExecCredential');
  if (apiVersion !== wanted)
    throw new Error(`exec plugin is configured to use API version ${wanted}, plugin returned version ${apiVersion}`);
  const status = credential['status'];
  if (typeof status !== 'object' || status === null) throw new Error("exec plugin didn't return a status field");
  const text = (field: string): string => {
    const value = (status as Fields)[field];
    return typeof value === 'string' ? value : '';
  };
  const token = text('token');
  const cert = text('clientCertificateData');
  const key = text('clientKeyData');
  if (token === '' && cert === '' && key === '') throw new Error("exec plugin didn't return a token or cert/key pair");
  if ((cert === '') !== (key === '')) throw new Error('exec plugin returned only certificate or key, not both');
  const expires = text('expirationTimestamp');
  return { token, certificate: cert === '' ? undefined : keyPair(cert, key), until: expires === '' ? Infinity : timeOf(expires) };
}

function keyPair(cert: string, key: string): { readonly cert: string; readonly key: string } {
  try {
    createSecureContext({ cert, key });
  } catch (cause) {
    throw new Error(`failed parsing client key/certificate: ${(cause as Error).message}`, { cause });
  }
  return { cert, key };
}

function timeOf(text: string): number {
  try {
    return parseTime(text);
  } catch (cause) {
    throw new Error(`decoding stdout: ${(cause as Error).message}`, { cause });
  }
}

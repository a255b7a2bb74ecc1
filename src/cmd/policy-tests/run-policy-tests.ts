import { errorMessage } from '#apiserver/base/system-error';
import type { KubeObject } from '#apimachinery/meta/types';
import type { TraceDocument } from '#apiserver/request/request-trace';
import { systemClock } from '#apiserver/base/clock';
import { type InProcessApi, startApi } from '#cmd/explain/api';
import { ExistingObjects, isAccessRule } from '#cmd/explain/existing-objects';
import { type PlayedOutcome, RequestPlayer } from '#cmd/explain/play-request';
import { differencesOf } from './differences.ts';
import type { PolicyTest, PolicyTestFile } from './policy-test.ts';

/** The result of a test. */
export interface PolicyTestResult {
  readonly file: PolicyTestFile;
  readonly test: PolicyTest;
  /** Duration without the start of a server. */
  readonly milliseconds: number;
  /** Lines on what differs from the expected outcome; empty if the test passed. */
  readonly differences: readonly string[];
  /** Reason why the request could not be played. */
  readonly error?: string | undefined;
  readonly trace?: TraceDocument | undefined;
}

export interface RunOptions {
  /** Path of the ServerConfiguration for files that name none. */
  readonly config?: string | undefined;
  /** Selects tests by name. */
  readonly isSelected?: ((test: PolicyTest) => boolean) | undefined;
}

/**
 * Yields the result of each test, in order. Rejects with an Error if a server cannot start, or if the existing objects of a file are
 * invalid.
 */
export async function* runPolicyTests(
  files: readonly PolicyTestFile[],
  { config, isSelected = () => true }: RunOptions = {},
): AsyncGenerator<PolicyTestResult> {
  for (const file of files) {
    const tests = file.tests.filter(isSelected);
    if (tests.length === 0) continue;
    await using server = new TestServer(file, config);
    for (const test of tests) yield await server.run(test);
  }
}

interface RunningServer {
  readonly api: InProcessApi;
  readonly existing: ExistingObjects;
  readonly player: RequestPlayer;
}

/** The server of a file's tests. It starts again after a test whose objects cannot be removed. */
class TestServer implements AsyncDisposable {
  #time: number | undefined;
  #running: RunningServer | undefined;

  constructor(
    readonly file: PolicyTestFile,
    readonly config: string | undefined,
  ) {}

  async run(test: PolicyTest): Promise<PolicyTestResult> {
    const server = await this.#server();
    const began = performance.now();
    const played = await this.#play(server, test);
    const { file } = this;
    const milliseconds = Math.round(performance.now() - began);
    if ('error' in played) return { file, test, milliseconds, differences: [], ...played };
    return { file, test, milliseconds, differences: differencesOf(test.expected, played), trace: played.trace };
  }

  /** Runs a test with its own existing objects. An Error of its fixture is its result. */
  async #play({ existing, player }: RunningServer, test: PolicyTest): Promise<PlayedOutcome | { readonly error: string }> {
    this.#time = test.clock;
    const own = [...test.existing, ...(test.oldObject ? [test.oldObject] : [])];
    try {
      const created = await existing.add(own);
      const { user } = test;
      if (user && ![...this.file.existing, ...own].some(isAccessRule)) created.push(...(await existing.authorize(user.name)));
      const outcome = await player.play({
        verb: verbs[test.operation],
        object: test.object,
        user,
        resource: test.resource,
        subresource: test.subresource,
        isStored: !test.dryRun,
        isStrict: true,
      });
      if (!(await existing.remove(created)) || !test.dryRun) await this[Symbol.asyncDispose]();
      return outcome;
    } catch (error) {
      await this[Symbol.asyncDispose]();
      return { error: errorMessage(error) };
    } finally {
      this.#time = undefined;
    }
  }

  async #server(): Promise<RunningServer> {
    if (this.#running) return this.#running;
    const { file, tests, existing: objects, plugins, config } = this.file;
    const clock = { ...systemClock, wallTime: () => this.#time ?? systemClock.wallTime() };
    const list = plugins === undefined ? undefined : { list: plugins, file };
    const api = await startApi(list ? undefined : (config ?? this.config), { plugins: list, clock, isQuiet: true });
    const existing = new ExistingObjects(api, 'default');
    this.#running = { api, existing, player: new RequestPlayer(api, 'default') };
    try {
      await existing.add(objects);
      await existing.ensureNamespaces(tests.flatMap(withNamespace));
    } catch (error) {
      await this[Symbol.asyncDispose]();
      throw new Error(`${file}: existing: ${errorMessage(error)}`, { cause: error });
    }
    return this.#running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    await running?.api[Symbol.asyncDispose]();
  }
}

const verbs = { CREATE: 'create', UPDATE: 'update', DELETE: 'delete', CONNECT: 'connect' } as const;

/** Returns the objects of a test whose namespaces must exist. */
function withNamespace({ object, existing }: PolicyTest): KubeObject[] {
  const given = new Set(existing.filter(({ kind }) => kind === 'Namespace').map(({ metadata }) => metadata.name));
  return [object, ...existing].filter(({ metadata: { namespace } }) => namespace !== undefined && !given.has(namespace));
}

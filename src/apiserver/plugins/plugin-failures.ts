import type { Logger } from '#apiserver/base/logger';
import type { Metrics } from '#apiserver/base/metrics/metrics';
import type { PluginUsage } from './plugin-usage.ts';
import { errorOf } from './error-of.ts';
import { TimeoutError } from './within.ts';

/** Longest message of an error in the log, in UTF-16 code units. */
const maxLoggedLength = 16_384;

/** The parts of a contribution's name in messages, logs and metrics. */
export interface PluginName {
  /** Kind of contribution, as in a sentence: `admission plugin`. */
  readonly sort: string;
  readonly name: string;
  /** Name of its package; undefined for a plugin without one, as in tests. */
  readonly package?: string | undefined;
}

/** Returns `admission plugin "TeamLabels" of package @acme/team-labels`. */
export function pluginSubject({ sort, name, package: from }: PluginName): string {
  return `${sort} ${JSON.stringify(name)}${from === undefined ? '' : ` of package ${from}`}`;
}

/** Logs and counts failures of packages' plugins: what a plugin did against the rules, not the requests that it denied. */
export class PluginFailures {
  readonly #counter: ReturnType<Metrics['counter']>;

  constructor(
    private readonly logger: Logger,
    metrics: Metrics,
    private readonly usage?: PluginUsage,
  ) {
    this.#counter = metrics.counter({
      name: 'kubenest_plugin_failures_total',
      help: "Number of failures of packages' plugins, by package, plugin and reason (error, timeout, or the broken rule).",
      labels: ['package', 'plugin', 'reason'],
    });
  }

  /** Records a failure. `fields` are logged in addition. */
  record(plugin: PluginName, reason: string, error: unknown, fields: object = {}): void {
    this.#counter.inc({ package: plugin.package ?? '', plugin: plugin.name, reason });
    const usage = this.usage?.of(plugin);
    if (usage) usage.failures += 1;
    const described = { package: plugin.package, plugin: plugin.name, reason, ...fields };
    try {
      this.logger.error({ ...described, err: loggable(errorOf(error)) }, `${plugin.sort} failed`);
    } catch (unreadable) {
      // Members of the error may be accessors that throw.
      this.logger.error({ ...described, err: errorOf(unreadable) }, `${plugin.sort} failed`);
    }
  }
}

/** Returns an error whose message and stack are short enough for the log. */
function loggable(error: Error): Error {
  const { message, stack = '' } = error;
  if (message.length <= maxLoggedLength && stack.length <= 2 * maxLoggedLength) return error;
  const shortened = new Error(`${message.slice(0, maxLoggedLength)}… (${message.length} characters)`);
  shortened.name = error.name;
  shortened.stack = `${stack.slice(0, 2 * maxLoggedLength)}…`;
  return shortened;
}

/** Returns `timeout` or `error`. */
export function reasonOf(error: unknown): string {
  return error instanceof TimeoutError ? 'timeout' : 'error';
}

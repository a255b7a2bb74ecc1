import { Min } from 'class-validator';
import { Check, Flag } from './flag.ts';

/** Log options. Upstream: component-base/logs/api/v1. */
export class LoggingOptions {
  @Flag('v')
  @Min(0, { message: '-v can not be negative value' })
  v = 0;

  /** The log always consists of JSON lines. `text` is accepted without a warning, because it is upstream's default. */
  @Flag('logging-format')
  @Check<LoggingOptions>((format: string) =>
    format === 'json' || format === 'text' ? undefined : `invalid --logging-format ${JSON.stringify(format)}, allowed: json, text`,
  )
  loggingFormat = 'text';

  /** Milliseconds between writes of the log; at most one second. */
  @Flag('log-flush-frequency')
  @Min(1, { message: 'flushFrequency: Invalid value: Must be greater than zero' })
  logFlushFrequency = 5_000;
}

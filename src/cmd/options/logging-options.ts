import { Min } from 'class-validator';
import { Check, Flag } from './flag.ts';

/** What is logged. Upstream: component-base/logs/api/v1. */
export class LoggingOptions {
  @Flag('v')
  @Min(0, { message: '-v can not be negative value' })
  v = 0;

  /** The log is JSON lines in any case; `text` is the default of other servers, and no wish that it be another. */
  @Flag('logging-format')
  @Check<LoggingOptions>((format: string) =>
    format === 'json' || format === 'text' ? undefined : `invalid --logging-format ${JSON.stringify(format)}, allowed: json, text`,
  )
  loggingFormat = 'text';

  /** Milliseconds; more than a second means a second. */
  @Flag('log-flush-frequency')
  @Min(1, { message: 'flushFrequency: Invalid value: Must be greater than zero' })
  logFlushFrequency = 5_000;
}

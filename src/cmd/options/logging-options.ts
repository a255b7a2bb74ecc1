import { Min } from 'class-validator';
import { Flag } from './flag.ts';

/** What is logged. Upstream: component-base/logs/api/v1. */
export class LoggingOptions {
  @Flag('v')
  @Min(0, { message: '-v can not be negative value' })
  v = 0;
}

import { Min } from 'class-validator';
import { Flag } from './flag.ts';

/** Retention of events. */
export class EventOptions {
  @Flag('event-ttl')
  @Min(1_000, { message: '--event-ttl must be at least 1s' })
  eventTtl = 3_600_000;
}

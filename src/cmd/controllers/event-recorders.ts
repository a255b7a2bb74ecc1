import { Inject, Injectable } from '@nestjs/common';
import { systemClock } from '#apiserver/base/clock';
import { ClientEventRecorder, type EventRecorderOptions } from '#apiserver/controllers/event-recorder';
import { Log } from '#cmd/logging/log';

/** Time for the events that wait to be written when the server shuts down. */
const flushMs = 3_000;

/** The event recorders of the controllers and of the control plane, which write until the server ends. */
@Injectable()
export class EventRecorders {
  /** Aborts when no more events are written. */
  readonly #flushed = new AbortController();
  readonly #recorders: ClientEventRecorder[] = [];

  constructor(@Inject(Log) private readonly log: Log) {}

  create(options: Pick<EventRecorderOptions, 'component' | 'form' | 'client'>): ClientEventRecorder {
    const recorder = new ClientEventRecorder({ ...options, clock: systemClock, logger: this.log, signal: this.#flushed.signal });
    this.#recorders.push(recorder);
    return recorder;
  }

  /** Writes the events that wait, as far as the time allows. Later events are dropped. */
  async flush(): Promise<void> {
    const timeout = Promise.withResolvers<void>();
    const cancel = systemClock.after(flushMs, timeout.resolve);
    await Promise.race([Promise.all(this.#recorders.map((recorder) => recorder.flushed())), timeout.promise]);
    cancel();
    this.#flushed.abort();
  }
}

import { randomInt } from 'node:crypto';
import { hostname } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { hasStatusCause, isNotFound } from '#apimachinery/api/errors';
import type { KubeObject } from '#apimachinery/meta/types';
import { formatMicroTime, formatTime } from '#apimachinery/runtime/time';
import type { Clock } from '#apiserver/base/clock';
import type { Logger } from '#apiserver/base/logger';
import type { ClientTarget, RequestClient } from '#apiserver/registry/client';
import type { EventForm, EventType, ObjectReference, StoredEvent } from './event-form.ts';
import { SimilarEvents } from './similar-events.ts';

export interface EventDetails {
  /** Action of the controller, in one word; only in events of events.k8s.io. Default: the reason. */
  readonly action?: string;
  /** A second object that the event is about; only in events of events.k8s.io. */
  readonly related?: KubeObject;
  /** Part of the object that the event is about, for example `spec.containers{web}`. */
  readonly fieldPath?: string;
  /** Node on which the event happened; only in events of core/v1. */
  readonly host?: string;
  /** Component that reports the event. Default: that of the controller. */
  readonly component?: string;
}

/** Writes events about objects, in the background and in order. Repeated events are counted in one object. */
export interface EventRecorder {
  /** `reason`: a short machine-readable word in CamelCase. */
  event(object: KubeObject, type: EventType, reason: string, message: string, details?: EventDetails): void;
}

export const EventRecorder = Symbol.for('kubenest.EventRecorder');

export interface EventRecorderOptions {
  /** Name of the component in the events. */
  readonly component: string;
  readonly form: EventForm;
  readonly client: RequestClient;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Aborts when the server ends: events that wait then are dropped. */
  readonly signal?: AbortSignal;
}

const targets: Readonly<Record<EventForm, ClientTarget>> = {
  v1: { group: '', version: 'v1', resource: 'events' },
  'events.k8s.io': { group: 'events.k8s.io', version: 'v1', resource: 'events' },
};

/**
 * Largest number of events that wait to be written; further ones are dropped. Upstream: client-go/tools/record, whose 1,000 are for each
 * process; the recorder of the simulated nodes has the events of all nodes, and 1,000 pods that start together have 4,000.
 */
const maxWaiting = 20_000;
const maxMessageLength = 1_024;

/** Sends events through a client. Upstream: client-go/tools/record and client-go/tools/events. */
export class ClientEventRecorder implements EventRecorder {
  readonly #similar: SimilarEvents;
  readonly #suffixes = new EventSuffixes();
  readonly #waiting: (() => Promise<void>)[] = [];
  #writing: Promise<void> | undefined;

  constructor(readonly options: EventRecorderOptions) {
    this.#similar = new SimilarEvents(options.clock);
  }

  event(object: KubeObject, type: EventType, reason: string, message: string, details: EventDetails = {}): void {
    const cut = message.length > maxMessageLength ? message.slice(0, maxMessageLength) : message;
    const reference = referenceTo(object, details.fieldPath);
    const version = this.options.form === 'v1' ? '' : object.metadata.resourceVersion;
    const observed = this.#similar.observe(reference, type, reason, cut, version);
    if (!observed || this.#waiting.length >= maxWaiting || this.options.signal?.aborted) return;
    const { record } = observed;
    const entry = {
      type,
      reason,
      message: observed.message,
      count: record.count,
      firstMs: record.firstMs,
      lastMs: this.options.clock.wallTime(),
    };
    this.#waiting.push(async () => {
      const counted = record.stored && (await this.#count(record.stored, entry));
      record.stored = counted ?? (await this.#create(reference, entry, details));
    });
    this.#writing ??= this.#write();
  }

  /** Resolves when all events are written or dropped. */
  async flushed(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  async #write(): Promise<void> {
    const { signal } = this.options;
    for (let write = this.#waiting.shift(); write && !signal?.aborted; write = this.#waiting.shift()) {
      try {
        await write();
      } catch (error) {
        // A namespace that is being deleted or does not exist accepts no events; that is not logged.
        if (!hasStatusCause(error, 'NamespaceTerminating') && !isNotFound(error) && !signal?.aborted)
          this.options.logger.warn({ component: this.options.component, reason: (error as Error).message }, 'cannot write an event');
        // Many failures may occur at the same time.
        await setImmediate();
      }
    }
    this.#writing = undefined;
  }

  /** Counts the event in its stored object. Resolves with undefined if that has expired. */
  async #count(stored: StoredEvent, { count, message, lastMs }: Entry): Promise<StoredEvent | undefined> {
    const { client, form } = this.options;
    const patch =
      form === 'v1'
        ? { count, lastTimestamp: formatTime(lastMs), message }
        : { series: { count, lastObservedTime: formatMicroTime(lastMs) } };
    try {
      await client.patch(targets[form], stored.namespace, stored.name, { type: 'strategic', patch });
      return stored;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async #create(object: ObjectReference, entry: Entry, details: EventDetails): Promise<StoredEvent> {
    const { client, form } = this.options;
    const { component = this.options.component } = details;
    const metadata = { name: `${object.name}.${this.#suffixes.next(entry.firstMs)}`, namespace: object.namespace ?? 'default' };
    const content = form === 'v1' ? coreEvent(component, object, entry, details) : newEvent(component, object, entry, details);
    await client.create(targets[form], { ...content, metadata });
    return metadata;
  }
}

/** One observation of an event. */
interface Entry {
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly firstMs: number;
  readonly lastMs: number;
}

type Content = Omit<KubeObject, 'metadata'> & { readonly apiVersion: string; readonly kind: string };

function coreEvent(
  component: string,
  object: ObjectReference,
  { type, reason, message, count, firstMs, lastMs }: Entry,
  { host }: EventDetails,
): Content {
  return {
    apiVersion: 'v1',
    kind: 'Event',
    involvedObject: object,
    reason,
    message,
    source: { component, ...(host !== undefined && { host }) },
    firstTimestamp: formatTime(firstMs),
    lastTimestamp: formatTime(lastMs),
    count,
    type,
    reportingComponent: component,
    reportingInstance: host ?? '',
  };
}

function newEvent(
  component: string,
  object: ObjectReference,
  { type, reason, message, lastMs }: Entry,
  { action, related }: EventDetails,
): Content {
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    eventTime: formatMicroTime(lastMs),
    reportingController: component,
    reportingInstance: `${component}-${hostname()}`,
    action: action ?? reason,
    reason,
    regarding: object,
    ...(related && { related: referenceTo(related) }),
    note: message,
    type,
  };
}

/** Returns a reference to an object, for events and statuses. Upstream: client-go/tools/reference. */
export function referenceTo({ apiVersion, kind, metadata }: KubeObject, fieldPath?: string): ObjectReference {
  const { namespace, name = '', uid, resourceVersion } = metadata;
  return {
    kind,
    ...(namespace && { namespace }),
    name,
    uid,
    apiVersion,
    resourceVersion,
    ...(fieldPath && { fieldPath }),
  };
}

/** Makes the ends of events' names: the time in nanoseconds, in hexadecimal digits. Those of one millisecond differ, and ascend. */
class EventSuffixes {
  #millis = 0;
  #nanos = 0;

  /** `millis`: wall-clock time of the event. */
  next(millis: number): string {
    const whole = Math.floor(millis);
    // Other recorders name events about the same object, too: the start and the distances are random.
    this.#nanos = whole === this.#millis ? this.#nanos + randomInt(1, 1_000) : randomInt(500_000);
    this.#millis = whole;
    return (BigInt(whole) * 1_000_000n + BigInt(this.#nanos)).toString(16);
  }
}

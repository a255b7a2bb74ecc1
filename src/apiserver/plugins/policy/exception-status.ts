import { formatTime } from '#apimachinery/runtime/time';
import type { Clock } from '#apiserver/base/clock';
import type { Logger } from '#apiserver/base/logger';
import type { ObjectClient } from '#apiserver/registry/client';
import { within } from '../within.ts';
import { type ExceptionObject, exceptionGroup } from './exception-group.ts';
import type { CompiledObject, ExceptionObjects } from './exception-objects.ts';
import type { PolicyException } from './policy-exception.ts';

/** Interval in which uses and expiries are written, so that a busy exception does not cause a write for each request. */
const intervalMs = 5_000;
/** Maximum time for the writes at shutdown. */
const lastWriteMs = 2_000;

interface StatusServices {
  readonly client: ObjectClient;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Writes the statuses of exceptions: the number and the last time of their uses, and the condition `Expired`. Each server adds its own uses
 * to the stored number. A use that is not yet written is lost if the server is killed.
 */
export class ExceptionStatuses implements AsyncDisposable {
  /** Uses of each exception that are in its stored status. */
  readonly #written = new WeakMap<PolicyException, number>();
  readonly #stop: () => void;
  #writing: Promise<void> | undefined;

  constructor(
    private readonly objects: ExceptionObjects,
    private readonly services: StatusServices,
  ) {
    this.#stop = services.clock.every(intervalMs, () => {
      this.#writing ??= this.write().finally(() => {
        this.#writing = undefined;
      });
    });
  }

  /** Writes what has changed since the last call. */
  async write(): Promise<void> {
    for (const compiled of this.objects.all) {
      if (!this.#isDue(compiled)) continue;
      try {
        await this.#update(compiled);
      } catch (error) {
        const { label } = compiled.exception;
        this.services.logger.warn({ exception: label, reason: (error as Error).message }, 'cannot write the status of an exception');
      }
    }
  }

  #isDue({ object, exception }: CompiledObject): boolean {
    const isExpired = this.#isExpired(exception) ? 'True' : 'False';
    const condition = object.status?.conditions?.find(({ type }) => type === 'Expired');
    return exception.uses > (this.#written.get(exception) ?? 0) || condition?.status !== isExpired;
  }

  async #update({ object, exception }: CompiledObject): Promise<void> {
    const { namespace = '', name = '', uid } = object.metadata;
    const { uses } = exception;
    const added = uses - (this.#written.get(exception) ?? 0);
    const target = { ...exceptionGroup, resource: `${object.kind.toLowerCase()}s`, subresource: 'status' };
    await this.services.client.update(target, namespace, name, (current) =>
      current.metadata.uid === uid ? this.#withStatus(current as ExceptionObject, exception, added) : undefined,
    );
    this.#written.set(exception, uses);
  }

  #withStatus(object: ExceptionObject, exception: PolicyException, added: number): ExceptionObject {
    const now = formatTime(this.services.clock.wallTime());
    const { uses = 0, conditions = [], ...status } = object.status ?? {};
    const isExpired = this.#isExpired(exception);
    const before = conditions.find(({ type }) => type === 'Expired');
    const value = isExpired ? 'True' : 'False';
    const expired = {
      type: 'Expired',
      status: value,
      reason: isExpired ? 'Expired' : 'InEffect',
      message: isExpired ? 'the exception no longer applies' : 'the exception applies',
      lastTransitionTime: before?.status === value ? before.lastTransitionTime : now,
    };
    return {
      ...object,
      status: {
        ...status,
        uses: uses + added,
        ...(added > 0 && { lastUsedTime: now }),
        conditions: [...conditions.filter(({ type }) => type !== 'Expired'), expired],
      },
    };
  }

  #isExpired({ expires }: PolicyException): boolean {
    return expires !== undefined && this.services.clock.wallTime() >= expires;
  }

  /** Writes the last uses, unless the store does not answer in time. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop();
    await within(
      Promise.resolve(this.#writing).then(() => this.write()),
      lastWriteMs,
    ).catch(() => undefined);
  }
}

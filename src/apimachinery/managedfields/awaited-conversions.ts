import type { KubeObject } from '#apimachinery/meta/types';
import { deepEqualSteps } from '#apimachinery/runtime/equality';
import { hasTime, type Steps, turnOfOthers } from '#apimachinery/runtime/steps';
import type { FieldManager } from './field-manager.ts';
import { VersionError } from './updater.ts';

/** Converts an object to a version where that takes time: by a webhook. */
export type ConvertElsewhere = (object: KubeObject, groupVersion: string) => Promise<KubeObject>;

/** Work of a field manager, in its two forms. */
export interface ManagedWork<T> {
  /** The work without a pause; undefined if it is too long for that. */
  readonly whole: ((manager: FieldManager) => T) | undefined;
  readonly chunked: (manager: FieldManager) => Steps<T>;
}

/**
 * Runs the work of a field manager whose conversions take time: it waits for each of them where it needs it. There is one for each object
 * and version of its managers. Most objects have the managers of one version and need none.
 */
export async function withConversions<T>(manager: FieldManager, convert: ConvertElsewhere, { whole, chunked }: ManagedWork<T>): Promise<T> {
  try {
    if (whole) return whole(manager.convertingBy(needingNone));
  } catch (error) {
    if (!(error instanceof ConversionNeeded)) throw error;
  }
  const conversions = new Conversions(convert);
  try {
    return await conversions.run(chunked(manager.convertingBy((object, groupVersion) => conversions.of(object, groupVersion))));
  } catch (error) {
    if (error instanceof VersionError && error.cause instanceof ConversionFailure) throw error.cause.cause;
    throw error;
  }
}

interface Conversion {
  readonly object: KubeObject;
  readonly result: KubeObject | VersionError;
}

/** The conversions of one run of the work. */
class Conversions {
  /** Those that have ended, by version. */
  readonly #ended = new Map<string, Conversion[]>();
  /** The one that the work waits for. */
  #awaited: Promise<void> | undefined;

  constructor(private readonly convert: ConvertElsewhere) {}

  /** Runs the work, and yields to the event loop when the time of the current turn is used up. */
  async run<T>(steps: Steps<T>): Promise<T> {
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
      if (this.#awaited) await this.#awaited;
      else if (!hasTime()) await turnOfOthers();
    }
  }

  *of(object: KubeObject, groupVersion: string): Steps<KubeObject> {
    const ended = this.#ended.get(groupVersion) ?? [];
    this.#ended.set(groupVersion, ended);
    let found: Conversion | undefined;
    for (const one of ended) {
      if (yield* deepEqualSteps(one.object, object)) {
        found = one;
        break;
      }
    }
    if (!found) {
      this.#awaited = this.#resultOf(object, groupVersion).then((result) => {
        found = { object, result };
        ended.push(found);
      });
      yield;
      this.#awaited = undefined;
    }
    const { result } = found as unknown as Conversion;
    if (result instanceof VersionError) throw result;
    return result;
  }

  async #resultOf(object: KubeObject, groupVersion: string): Promise<KubeObject | VersionError> {
    try {
      return await this.convert(object, groupVersion);
    } catch (cause) {
      return new VersionError((cause as Error).message, { cause: new ConversionFailure((cause as Error).message, { cause }) });
    }
  }
}

// biome-ignore lint/correctness/useYield: it only has the form of steps
function* needingNone(_object: KubeObject, groupVersion: string): Steps<KubeObject> {
  throw new ConversionNeeded(`the object must be converted to ${groupVersion}`);
}

class ConversionNeeded extends Error {
  override readonly name = 'ConversionNeeded';
}

/** Marks the error of a converter, which is the answer of the request, among the errors of field management. */
class ConversionFailure extends Error {
  override readonly name = 'ConversionFailure';
}

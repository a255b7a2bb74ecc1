import type { KubeObject } from '#apimachinery/meta/types';
import type { FieldManager } from './field-manager.ts';
import { VersionError } from './updater.ts';

/** Converts an object to a version where that takes time: by a webhook. */
export type ConvertElsewhere = (object: KubeObject, groupVersion: string) => Promise<KubeObject>;

/**
 * Runs the work of a field manager whose conversions take time. The work is a function of its inputs, so it is begun again with each
 * conversion that it needed; there is one for each object and version of its managers.
 */
export async function withConversions<T>(
  manager: FieldManager,
  convert: ConvertElsewhere,
  work: (manager: FieldManager) => T | Promise<T>,
): Promise<T> {
  const known = new Map<string, KubeObject | VersionError>();
  const converting = manager.convertingBy((object, groupVersion) => {
    const key = `${groupVersion} ${JSON.stringify(object, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))}`;
    const found = known.get(key);
    if (found instanceof VersionError) throw found;
    if (found) return found;
    throw new ConversionNeeded(key, object, groupVersion);
  });
  for (;;) {
    try {
      return await work(converting);
    } catch (error) {
      if (error instanceof VersionError && error.cause instanceof ConversionFailure) throw error.cause.cause;
      if (!(error instanceof ConversionNeeded)) throw error;
      known.set(error.key, await resultOf(convert, error));
    }
  }
}

async function resultOf(convert: ConvertElsewhere, { object, groupVersion }: ConversionNeeded): Promise<KubeObject | VersionError> {
  try {
    return await convert(object, groupVersion);
  } catch (cause) {
    return new VersionError((cause as Error).message, { cause: new ConversionFailure((cause as Error).message, { cause }) });
  }
}

class ConversionNeeded extends Error {
  override readonly name = 'ConversionNeeded';

  constructor(
    readonly key: string,
    readonly object: KubeObject,
    readonly groupVersion: string,
  ) {
    super(`the object is not converted to ${groupVersion} yet`);
  }
}

/** Marks the error of a converter, which is the answer of the request, among the errors of field management. */
class ConversionFailure extends Error {
  override readonly name = 'ConversionFailure';
}

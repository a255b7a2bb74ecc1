import type { KubeObject } from '#apimachinery/meta/types';
import type { Strategy } from './resource-definition.ts';

/**
 * A strategy on top of another, whose rules hold in any case:
 *
 * | method           | order                                                                    |
 * | ---------------- | ------------------------------------------------------------------------ |
 * | prepareForCreate | base, own: what the base clears, the own may set                         |
 * | prepareForUpdate | own, base: the base keeps what clients may not change, and counts        |
 * | validate…        | base; own only for objects that the base finds right                     |
 * | warnings…        | base, own                                                                |
 * | the rest         | own, or else base                                                        |
 */
export function layeredStrategy<T extends KubeObject>(base: Strategy<T>, own: Strategy<T>): Strategy<T> {
  return {
    ...base,
    ...own,
    resetFields: [...(base.resetFields ?? []), ...(own.resetFields ?? [])],
    prepareForCreate(object, context) {
      base.prepareForCreate?.(object, context);
      own.prepareForCreate?.(object, context);
    },
    prepareForUpdate(object, old, context) {
      own.prepareForUpdate?.(object, old, context);
      base.prepareForUpdate?.(object, old, context);
    },
    validate(object, context) {
      const errors = base.validate?.(object, context) ?? [];
      return errors.length > 0 ? errors : (own.validate?.(object, context) ?? []);
    },
    validateUpdate(object, old, context) {
      const errors = base.validateUpdate?.(object, old, context) ?? [];
      return errors.length > 0 ? errors : (own.validateUpdate?.(object, old, context) ?? []);
    },
    warningsOnCreate: (object, context) => [
      ...(base.warningsOnCreate?.(object, context) ?? []),
      ...(own.warningsOnCreate?.(object, context) ?? []),
    ],
    warningsOnUpdate: (object, old, context) => [
      ...(base.warningsOnUpdate?.(object, old, context) ?? []),
      ...(own.warningsOnUpdate?.(object, old, context) ?? []),
    ],
  };
}

import type { KubeObject } from '#apimachinery/meta/types';
import type { Strategy } from './resource-definition.ts';

/**
 * Layers a strategy over a base whose rules always apply:
 *
 * | method           | order                                                                    |
 * | ---------------- | ------------------------------------------------------------------------ |
 * | prepareForCreate | base, own: the own strategy may set what the base clears                 |
 * | prepareForUpdate | own, base: the base restores immutable fields and increments generation  |
 * | validate…        | base; own only for objects that are valid for the base                   |
 * | warnings…        | base, own                                                                |
 * | others           | own, or else base                                                        |
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

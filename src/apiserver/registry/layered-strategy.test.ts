import { expect, it } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import { fieldPath, invalid } from '#apimachinery/validation/field';
import { layeredStrategy } from './layered-strategy.ts';
import type { Strategy, StrategyContext } from './resource-definition.ts';

const object = { apiVersion: 'v1', kind: 'A', metadata: {} } as KubeObject;
const context = {} as StrategyContext;

/** A strategy that records its calls and, if `isWrong`, returns errors. */
function recording(name: string, calls: string[], isWrong = false): Strategy {
  const asked = (method: string): void => void calls.push(`${name}.${method}`);
  const judge = (method: string) => () => {
    asked(method);
    return isWrong ? [invalid(fieldPath(name), 1, 'wrong')] : [];
  };
  return {
    prepareForCreate: () => asked('prepareForCreate'),
    prepareForUpdate: () => asked('prepareForUpdate'),
    validate: judge('validate'),
    validateUpdate: judge('validateUpdate'),
    warningsOnCreate: () => [`${name} warns`],
    warningsOnUpdate: () => [`${name} warns`],
    resetFields: [[name]],
  };
}

it.each([
  { name: 'right', isWrong: false, validated: ['base.validate', 'own.validate'] },
  { name: 'wrong', isWrong: true, validated: ['base.validate'] },
])('calls both in order if the base finds the object $name', ({ isWrong, validated }) => {
  const calls: string[] = [];
  const strategy = layeredStrategy(recording('base', calls, isWrong), recording('own', calls));
  strategy.prepareForCreate?.(object, context);
  strategy.prepareForUpdate?.(object, object, context);
  expect(strategy.validate?.(object, context)).toHaveLength(isWrong ? 1 : 0);
  expect(calls).toEqual(['base.prepareForCreate', 'own.prepareForCreate', 'own.prepareForUpdate', 'base.prepareForUpdate', ...validated]);
  expect(strategy.validateUpdate?.(object, object, context)).toHaveLength(isWrong ? 1 : 0);
  expect(strategy.warningsOnCreate?.(object, context)).toEqual(['base warns', 'own warns']);
  expect(strategy.warningsOnUpdate?.(object, object, context)).toEqual(['base warns', 'own warns']);
  expect(strategy.resetFields).toEqual([['base'], ['own']]);
});

it('falls back to the base for methods that it lacks', () => {
  const base: Strategy = { allowCreateOnUpdate: true, allowUnconditionalUpdate: false };
  expect(layeredStrategy(base, { allowUnconditionalUpdate: true })).toMatchObject({
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: true,
  });
  expect(layeredStrategy(base, {}).validate?.(object, context)).toEqual([]);
});

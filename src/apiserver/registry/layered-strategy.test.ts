import { expect, it } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import { fieldPath, invalid } from '#apimachinery/validation/field';
import { layeredStrategy } from './layered-strategy.ts';
import type { Strategy, StrategyContext } from './resource-definition.ts';

const object = { apiVersion: 'v1', kind: 'A', metadata: {} } as KubeObject;
const context = {} as StrategyContext;

/** A strategy that writes down what it was asked, and finds wrong what it is told to. */
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
])('asks both in their order, for what the base finds $name', ({ isWrong, validated }) => {
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

it('leaves to the base what it does not have itself', () => {
  const base: Strategy = { allowCreateOnUpdate: true, allowUnconditionalUpdate: false };
  expect(layeredStrategy(base, { allowUnconditionalUpdate: true })).toMatchObject({
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: true,
  });
  expect(layeredStrategy(base, {}).validate?.(object, context)).toEqual([]);
});

import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, it } from 'vitest';
import { guardController } from './guard-controller.ts';
import { currentPlugin } from './plugin-origin.ts';

class Counts {
  readonly #counted = { times: 0 };
  readonly isReady = true;
  readonly own = (): string | undefined => currentPlugin()?.package;

  count(): [times: number, from: string | undefined] {
    this.#counted.times += 1;
    return [this.#counted.times, currentPlugin()?.package];
  }
}

it.each([new Counts(), Object.freeze(new Counts())])('runs methods as work of the package', (controller) => {
  const guarded = guardController(controller, { package: '@acme/counts' });
  expect([guarded.count(), guarded.count()]).toEqual([
    [1, '@acme/counts'],
    [2, '@acme/counts'],
  ]);
  const { count } = guarded;
  expect(guarded.count).toBe(count);
  expect([guarded.own(), guarded.isReady]).toEqual(['@acme/counts', true]);
  expect([guarded.constructor, guarded instanceof Counts]).toEqual([Counts, true]);
});

it('keeps the context of the caller, in which requests belong to the traced reconcile', () => {
  const context = new AsyncLocalStorage<string>();
  const guarded = guardController({ reconcile: () => [context.getStore(), currentPlugin()?.package] }, { package: '@acme/counts' });
  expect(context.run('trace', () => guarded.reconcile())).toEqual(['trace', '@acme/counts']);
});

it('leaves controllers of the server as they are', () => {
  const controller = new Counts();
  expect(guardController(controller, undefined)).toBe(controller);
});

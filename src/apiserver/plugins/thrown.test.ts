import { describe, expect, it } from 'vitest';
import { newForbidden, StatusError } from '#apimachinery/api/errors';
import type { Status } from '#apimachinery/meta/types';
import { errorOf } from './error-of.ts';
import { denialOf } from './thrown.ts';

const denial = newForbidden({ group: '', resource: 'pods' }, 'web', 'no');
const cycle: { causes: unknown[] } = { causes: [] };
cycle.causes.push(cycle);
const throwing = Object.defineProperty(new Error('a'), 'message', {
  get: () => {
    throw new Error('getter');
  },
});

describe('errorOf', () => {
  it.each([new Error('a'), new TypeError('b'), denial])('returns %s unchanged', (error) => {
    expect(errorOf(error)).toBe(error);
  });

  it.each<[unknown, string]>([
    [undefined, 'threw undefined'],
    [null, 'threw null'],
    ['text', 'threw "text"'],
    [1n, 'threw 1'],
    [Symbol('a'), 'threw Symbol(a)'],
    [() => 1, 'threw a function'],
    [Object.create(null), 'threw an object that is not an error'],
    [new Proxy(new Error('a'), {}), 'threw an object that is not an error'],
    [Object.assign(new Error('a'), { message: { text: 1 } }), 'threw an object that is not an error'],
    [throwing, 'threw an object that is not an error'],
  ])('describes a value that is not an error (%#)', (thrown, message) => {
    expect(errorOf(thrown).message).toBe(message);
  });
});

describe('denialOf', () => {
  const withStatus = (more: object): Error => new StatusError({ ...denial.status, ...more } as Status);

  it('returns a Status that refuses the request', () => {
    expect(denialOf(denial)).toMatchObject({ status: denial.status, stack: denial.stack });
    const details = { retryAfterSeconds: 1, causes: [{ field: 'spec', message: 'no' }] };
    expect(denialOf(withStatus({ code: 429, details }))?.status).toMatchObject({ code: 429, details });
  });

  it.each([
    new Error('no Status'),
    Object.assign(withStatus({}), { status: null }),
    withStatus({ code: 200 }),
    withStatus({ code: '403' }),
    withStatus({ code: 403.5 }),
    withStatus({ status: 'Success' }),
    withStatus({ kind: 'Pod' }),
    withStatus({ apiVersion: 'v2' }),
    withStatus({ message: 1n }),
    withStatus({ reason: Symbol('a') }),
    withStatus({ details: cycle }),
    withStatus({ details: { name: () => 'a' } }),
    withStatus({ details: { retryAfterSeconds: '1' } }),
    withStatus({ details: { causes: ['a', null] } }),
    withStatus({ message: 'x'.repeat(300_000) }),
  ])('returns undefined for what clients could not decode (%#)', (error) => {
    expect(denialOf(error)).toBe(undefined);
  });

  it('reads a Status once, so that an accessor cannot change what was checked', () => {
    let reads = 0;
    const error = Object.defineProperty(withStatus({}), 'status', {
      get: () => (reads++ === 0 ? denial.status : { ...denial.status, code: 200 }),
    });
    expect(denialOf(error)?.status).toEqual(denial.status);
    expect(reads).toBe(1);
  });
});

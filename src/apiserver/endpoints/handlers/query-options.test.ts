import { describe, expect, it } from 'vitest';
import { parseQuery } from '#apiserver/request/query';
import { parseWriteOptions } from './query-options.ts';

describe('options object for admission', () => {
  it.each([
    { query: '', kind: 'UpdateOptions', isApply: false, given: {} },
    { query: 'pretty=true', kind: 'CreateOptions', isApply: false, given: {} },
    {
      query: 'dryRun=All&fieldManager=m&fieldValidation=Strict',
      kind: 'CreateOptions',
      isApply: false,
      given: { dryRun: ['All'], fieldManager: 'm', fieldValidation: 'Strict' },
    },
    { query: 'fieldManager=m&force=true', kind: 'PatchOptions', isApply: true, given: { fieldManager: 'm', force: true } },
  ] as const)('$kind of "$query"', ({ query, kind, isApply, given }) => {
    expect(parseWriteOptions(parseQuery(query), kind, isApply).given).toEqual({ kind, apiVersion: 'meta.k8s.io/v1', ...given });
  });
});

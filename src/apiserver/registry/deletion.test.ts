import { describe, expect, it } from 'vitest';
import type { StatusError } from '#apimachinery/api/errors';
import type { DeleteOptions, KubeObject, ObjectMeta } from '#apimachinery/meta/types';
import { beforeDelete, collectionFinalizers, markAsDeleting, validateDeleteOptions } from './deletion.ts';
import { defineResource, type Strategy } from './resource-definition.ts';

const now = '2026-01-01T00:01:00Z';
const definitionOf = (strategy: Strategy) =>
  defineResource({
    group: 'g',
    version: 'v1',
    kind: 'Thing',
    resource: 'things',
    schema: 'test_v1.Thing',
    storagePath: 'things',
    strategy,
  });
/** A kind with graceful deletion, by default within 30 s. */
const graceful = definitionOf({ gracefulDeletion: (_, requested = 30) => ({ gracePeriodSeconds: requested }) });
const thing = (metadata: ObjectMeta = {}): KubeObject => ({
  apiVersion: 'g/v1',
  kind: 'Thing',
  metadata: { name: 'a', uid: 'u', resourceVersion: '5', ...metadata },
});

describe('validateDeleteOptions', () => {
  it.each<{ name: string; options: DeleteOptions; want: string[] }>([
    { name: 'no options', options: {}, want: [] },
    { name: 'a policy', options: { propagationPolicy: 'Foreground' }, want: [] },
    {
      name: 'both forms of a policy',
      options: { propagationPolicy: 'Orphan', orphanDependents: true },
      want: ['propagationPolicy: orphanDependents and deletionPropagation cannot be both set'],
    },
    {
      name: 'an unknown policy',
      options: { propagationPolicy: 'Sideways' },
      want: ['propagationPolicy: supported values: "Foreground", "Background", "Orphan", "nil"'],
    },
    { name: 'an unknown dry run', options: { dryRun: ['Some'] }, want: ['dryRun: supported values: "All"'] },
    {
      name: 'a dry run of an unreadable object',
      options: { ignoreStoreReadErrorWithClusterBreakingPotential: true, dryRun: ['All'] },
      want: ['ignoreStoreReadErrorWithClusterBreakingPotential: cannot be set together with .dryRun'],
    },
  ])('$name', ({ options, want }) => {
    expect(validateDeleteOptions(options).map(({ field, detail }) => `${field}: ${detail}`)).toEqual(want);
  });
});

describe('beforeDelete', () => {
  const deleting = (deletionTimestamp: string, deletionGracePeriodSeconds?: number): ObjectMeta => ({
    deletionTimestamp,
    ...(deletionGracePeriodSeconds !== undefined && { deletionGracePeriodSeconds }),
  });

  it.each<{ name: string; metadata?: ObjectMeta; options?: DeleteOptions; grace: string; want?: ObjectMeta }>([
    { name: 'sets the default grace period', grace: 'graceful', want: deleting('2026-01-01T00:01:30Z', 30) },
    {
      name: 'sets the requested grace period',
      options: { gracePeriodSeconds: 5 },
      grace: 'graceful',
      want: deleting('2026-01-01T00:01:05Z', 5),
    },
    {
      name: 'takes a negative grace period for one second',
      options: { gracePeriodSeconds: -3 },
      grace: 'graceful',
      want: deleting('2026-01-01T00:01:01Z', 1),
    },
    {
      name: 'counts the generation',
      metadata: { generation: 2 },
      grace: 'graceful',
      want: { ...deleting('2026-01-01T00:01:30Z', 30), generation: 3 },
    },
    { name: 'keeps a pending deletion without a request', metadata: deleting('2026-01-01T00:01:20Z', 30), grace: 'pending' },
    {
      name: 'does not extend a pending deletion',
      metadata: deleting('2026-01-01T00:01:20Z', 30),
      options: { gracePeriodSeconds: 60 },
      grace: 'pending',
    },
    {
      name: 'shortens a pending deletion from its beginning',
      metadata: deleting('2026-01-01T00:01:20Z', 30),
      options: { gracePeriodSeconds: 20 },
      grace: 'graceful',
      want: deleting('2026-01-01T00:01:10Z', 20),
    },
    {
      name: 'ends a pending deletion now if the shorter period is over',
      metadata: deleting('2026-01-01T00:01:20Z', 30),
      options: { gracePeriodSeconds: 5 },
      grace: 'graceful',
      want: deleting(now, 1),
    },
    {
      name: 'ends a pending deletion at once',
      metadata: deleting('2026-01-01T00:01:20Z', 30),
      options: { gracePeriodSeconds: 0 },
      grace: 'graceful',
      want: deleting(now, 0),
    },
    { name: 'removes an object without a remaining period', metadata: deleting('2026-01-01T00:00:00Z', 0), grace: 'immediate' },
  ])('$name', ({ metadata, options = {}, grace, want }) => {
    const object = thing(metadata);
    expect(beforeDelete(graceful, object, options, now)).toBe(grace);
    expect(object).toEqual(thing({ ...metadata, ...want }));
  });

  it('removes an object of a kind without graceful deletion', () => {
    const object = thing();
    expect(beforeDelete(definitionOf({}), object, { gracePeriodSeconds: 30 }, now)).toBe('immediate');
    expect(object).toEqual(thing());
  });

  it.each<{ name: string; options: DeleteOptions; message: string }>([
    { name: 'invalid options', options: { propagationPolicy: 'x' }, message: 'propagationPolicy: Unsupported value: "x"' },
    { name: 'another uid', options: { preconditions: { uid: 'v' } }, message: 'The object might have been deleted and then recreated' },
    { name: 'another revision', options: { preconditions: { resourceVersion: '4' } }, message: 'The object might have been modified' },
  ])('rejects $name and changes nothing', ({ options, message }) => {
    const object = thing();
    expect(() => beforeDelete(graceful, object, options, now)).toThrow(message);
    expect(object).toEqual(thing());
  });

  it('accepts preconditions that hold', () => {
    expect(beforeDelete(definitionOf({}), thing(), { preconditions: { uid: 'u', resourceVersion: '5' } }, now)).toBe('immediate');
  });

  it('reports conflicts with code 409', () => {
    const attempt = () => beforeDelete(graceful, thing(), { preconditions: { uid: 'v' } }, now);
    expect(attempt).toThrow(expect.objectContaining({ status: expect.objectContaining({ code: 409 }) }) as StatusError);
  });
});

describe('collectionFinalizers', () => {
  const orphaning: Strategy = { defaultGarbageCollectionPolicy: 'orphan' };
  it.each<{ name: string; strategy?: Strategy; present?: string[]; options?: DeleteOptions; want: string[] | undefined }>([
    { name: 'nothing by default', want: undefined },
    { name: "the kind's default", strategy: orphaning, want: ['orphan'] },
    { name: 'a policy instead of the default', strategy: orphaning, options: { propagationPolicy: 'Background' }, want: undefined },
    { name: 'the foreground policy', options: { propagationPolicy: 'Foreground' }, want: ['foregroundDeletion'] },
    { name: 'the old form of a policy', options: { orphanDependents: true }, want: ['orphan'] },
    { name: 'the policy of an earlier request', present: ['orphan'], want: undefined },
    {
      name: 'another policy than before',
      present: ['x', 'orphan'],
      options: { propagationPolicy: 'Foreground' },
      want: ['x', 'foregroundDeletion'],
    },
    { name: 'the removal of a policy', present: ['foregroundDeletion', 'x'], options: { propagationPolicy: 'Background' }, want: ['x'] },
    {
      name: 'nothing for a kind without garbage collection',
      strategy: { defaultGarbageCollectionPolicy: 'unsupported' },
      options: { propagationPolicy: 'Orphan' },
      want: undefined,
    },
  ])('sets $name', ({ strategy = {}, present, options = {}, want }) => {
    expect(collectionFinalizers(strategy, present ? { finalizers: present } : {}, options)).toEqual(want);
  });
});

describe('markAsDeleting', () => {
  it.each<{ name: string; metadata: ObjectMeta; want: ObjectMeta }>([
    { name: 'begins now', metadata: { generation: 1 }, want: { generation: 2, deletionTimestamp: now, deletionGracePeriodSeconds: 0 } },
    {
      name: 'moves a later time to now, and counts no generation',
      metadata: { generation: 2, deletionTimestamp: '2026-01-01T00:02:00Z' },
      want: { generation: 2, deletionTimestamp: now, deletionGracePeriodSeconds: 0 },
    },
    {
      name: 'keeps an earlier time',
      metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' },
      want: { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 },
    },
  ])('$name', ({ metadata, want }) => {
    const object = thing(metadata);
    markAsDeleting({}, object, now);
    expect(object).toEqual(thing(want));
  });
});

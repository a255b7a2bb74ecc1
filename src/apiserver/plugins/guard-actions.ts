import { newTimeoutError } from '#apimachinery/api/errors';
import type {
  ContributedFields,
  ContributedAction,
  ContributedGroupOptions,
  ContributedResource,
} from '#apiserver/registry/contributed-group';
import { TimeoutError, within } from './within.ts';

/**
 * Limits the duration of a package's handlers: after the timeout the client gets an error that states the unknown outcome.
 */
export function guardActions(options: ContributedGroupOptions, timeoutMs: number): ContributedGroupOptions {
  const guarded =
    <A extends unknown[], R>(work: (...args: A) => R | Promise<R>) =>
    (...args: A): R | Promise<R> => {
      const answer = work(...args);
      return answer instanceof Promise ? within(answer, timeoutMs).catch((error: unknown) => tell(options.name, error)) : answer;
    };
  const guardedResource = (resource: ContributedResource): ContributedResource => ({
    ...resource,
    ...(resource.create && { create: guarded(resource.create.bind(resource)) }),
    ...(resource.read && { read: guarded(resource.read.bind(resource)) }),
    ...(resource.subresources && {
      subresources: Object.fromEntries(Object.entries(resource.subresources).map(([name, one]) => [name, guardedSubresource(one)])),
    }),
  });
  const guardedSubresource = (one: ContributedFields | ContributedAction): ContributedFields | ContributedAction =>
    'create' in one ? { ...one, create: guarded(one.create.bind(one)) } : one;
  return { ...options, resources: options.resources.map(guardedResource) };
}

function tell(plugin: string, error: unknown): never {
  throw error instanceof TimeoutError ? newTimeoutError(`plugin ${plugin} gave ${error.message}`, 0) : error;
}

import { type CallHandler, type ExecutionContext, HttpException, type NestInterceptor, type Type } from '@nestjs/common';
import { MODULE_METADATA } from '@nestjs/common/constants.js';
import { Observable } from 'rxjs';
import { newInternalError, newTimeoutError } from '#apimachinery/api/errors';
import type { LoadedContribution } from './loaded-contribution.ts';
import type { PagesOptions } from './pages.ts';
import { type PluginFailures, type PluginName, pluginSubject, reasonOf } from './plugin-failures.ts';
import { type RunPlugin, runnerOf } from './plugin-origin.ts';
import { errorOf } from './error-of.ts';
import { denialOf } from './thrown.ts';
import { TimeoutError } from './within.ts';

/** The pages of a package. */
interface GuardedPages {
  readonly plugin: PluginName;
  readonly timeoutMs: number;
  readonly run: RunPlugin;
}

/**
 * Isolates the controllers of packages' pages. If a handler throws anything but an answer, returns what cannot be encoded, or does not
 * answer in time, the client gets an error that names the package. Errors in timers and promises that it started are attributed to the
 * package.
 */
export class PagesGuard implements NestInterceptor {
  readonly #owners = new Map<unknown, GuardedPages>();

  constructor(
    contributions: readonly LoadedContribution[],
    private readonly failures: PluginFailures,
  ) {
    for (const { described, guard, origin } of contributions) {
      const { name, module } = described.options as unknown as PagesOptions;
      const pages = { plugin: { sort: 'pages', name, package: origin?.package }, timeoutMs: guard.timeoutMs, run: runnerOf(origin) };
      for (const controller of controllersOf(module)) this.#owners.set(controller, pages);
    }
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const pages = this.#owners.get(context.getClass());
    if (!pages) return next.handle();
    const response = context.switchToHttp().getResponse<{ readonly headersSent: boolean }>();
    return new Observable((subscriber) => {
      const fail = (thrown: unknown): void => subscriber.error(this.#answerOf(pages, thrown));
      const timer = setTimeout(() => {
        if (!response.headersSent) fail(new TimeoutError(`no answer within ${pages.timeoutMs} ms`));
      }, pages.timeoutMs);
      const answer = pages
        .run(() => next.handle())
        .subscribe({
          next: (value) => {
            clearTimeout(timer);
            try {
              checkEncodable(value);
            } catch (error) {
              return fail(error);
            }
            subscriber.next(value);
          },
          error: fail,
          complete: () => subscriber.complete(),
        });
      return () => {
        clearTimeout(timer);
        answer.unsubscribe();
      };
    });
  }

  /** Returns the error that the client gets. */
  #answerOf({ plugin }: GuardedPages, thrown: unknown): Error {
    const error = errorOf(thrown);
    const denial = denialOf(error);
    if (denial) return denial;
    if (error instanceof HttpException || hasStatusCode(error)) return error;
    this.failures.record(plugin, reasonOf(error), error);
    const subject = pluginSubject(plugin);
    return error instanceof TimeoutError ? newTimeoutError(`${subject} gave ${error.message}`, 0) : newInternalError(`${subject} failed`);
  }
}

/** True for the error of another copy of Nest, or of a middleware, which Nest answers with its status. */
function hasStatusCode(error: Error & { readonly statusCode?: unknown }): boolean {
  const { statusCode } = error;
  return Number.isInteger(statusCode) && (statusCode as number) >= 400 && (statusCode as number) < 600;
}

/** Throws for a value whose JSON cannot be written. Streams and buffers are sent as they are. */
function checkEncodable(value: unknown): void {
  if (typeof value === 'object' && value !== null && !ArrayBuffer.isView(value) && !('getStream' in value) && !('pipe' in value))
    JSON.stringify(value);
}

/** Returns the controllers of a module and of those that it imports. */
function controllersOf(root: unknown): Set<unknown> {
  const controllers = new Set<unknown>();
  const seen = new Set<unknown>();
  const visit = (entry: unknown): void => {
    if (entry === undefined || entry === null || seen.has(entry)) return;
    seen.add(entry);
    if (typeof entry === 'function') {
      for (const controller of membersOf(entry as Type, MODULE_METADATA.CONTROLLERS)) controllers.add(controller);
      for (const imported of membersOf(entry as Type, MODULE_METADATA.IMPORTS)) visit(imported);
      return;
    }
    const { module, controllers: own = [], imports = [], forwardRef } = entry as Partial<ModuleEntry>;
    for (const controller of own) controllers.add(controller);
    for (const imported of [module, forwardRef?.(), ...imports]) visit(imported);
  };
  visit(root);
  return controllers;
}

/** A dynamic module, or a forward reference to a module. */
interface ModuleEntry {
  readonly module: unknown;
  readonly controllers: readonly unknown[];
  readonly imports: readonly unknown[];
  forwardRef(): unknown;
}

function membersOf(module: Type, key: string): readonly unknown[] {
  return (Reflect.getMetadata(key, module) as readonly unknown[] | undefined) ?? [];
}

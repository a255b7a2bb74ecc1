import { type PluginOrigin, runnerInContext } from './plugin-origin.ts';

/**
 * Runs the methods of a package's controller as work of the package, so that errors in the timers and promises that they start are
 * attributed to it and do not end the process. Their requests remain those of the traced reconcile.
 */
export function guardController<T extends object>(controller: T, origin: PluginOrigin | undefined): T {
  if (!origin) return controller;
  const run = runnerInContext(origin);
  const methods = new Map<unknown, unknown>();
  // The target is another object, because a proxy must return the own methods of a frozen one unchanged.
  return new Proxy(Object.create(controller) as T, {
    get(_, member) {
      const value: unknown = Reflect.get(controller, member, controller);
      if (typeof value !== 'function' || member === 'constructor') return value;
      let method = methods.get(value);
      if (!method)
        methods.set(value, (method = (...args: unknown[]): unknown => run(() => Reflect.apply(value, controller, args) as unknown)));
      return method;
    },
  });
}

import { registerDecorator } from 'class-validator';

const flagsOf = new Map<unknown, Map<string, string>>();

/** Associates a property of an options class with the flag that sets it. A flag without a property has no effect. */
export function Flag(name: string): PropertyDecorator {
  return (target, property) => {
    const flags = flagsOf.get(target.constructor) ?? new Map<string, string>();
    flags.set(name, String(property));
    flagsOf.set(target.constructor, flags);
  };
}

/** Returns the flags of an options object with their property names. */
export function flagProperties(options: object): ReadonlyMap<string, string> {
  return flagsOf.get(options.constructor) ?? new Map();
}

const warned = new Map<unknown, ((options: never) => string | undefined)[]>();

/**
 * Declares a warning, logged at startup, for a value that the server accepts without its full effect. `warningOf` returns undefined for
 * other values.
 */
export function Warn<Options extends object>(warningOf: (value: never, options: Options) => string | undefined): PropertyDecorator {
  return (target, property) => {
    const all = warned.get(target.constructor) ?? [];
    all.push((options: Options) => warningOf((options as Record<string, unknown>)[String(property)] as never, options));
    warned.set(target.constructor, all);
  };
}

/** Returns the warnings about the values of an options object. */
export function warningsOf(options: object): string[] {
  return (warned.get(options.constructor) ?? []).flatMap((warningOf) => warningOf(options as never) ?? []);
}

/** Returns the problems with a value; undefined or an empty list for a valid one. `options` is the object that has the property. */
export type Problems<Options> = (value: never, options: Options) => string | readonly string[] | undefined;

/** Validates a property by a function, where class-validator has no suitable decorator. */
export function Check<Options extends object>(problemsOf: Problems<Options>): PropertyDecorator {
  const problems = (value: unknown, options: object): readonly string[] => {
    const found = problemsOf(value as never, options as Options);
    return found === undefined ? [] : typeof found === 'string' ? [found] : found;
  };
  return (target, property) =>
    registerDecorator({
      name: 'check',
      target: target.constructor,
      propertyName: String(property),
      validator: {
        validate: (value, args) => problems(value, args?.object as object).length === 0,
        defaultMessage: (args) => problems(args?.value, args?.object as object).join('\n'),
      },
    });
}

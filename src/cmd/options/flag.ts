import { registerDecorator } from 'class-validator';

const flagsOf = new Map<unknown, Map<string, string>>();

/** Says which flag sets this property of an options class. A flag that no property has changes nothing. */
export function Flag(name: string): PropertyDecorator {
  return (target, property) => {
    const flags = flagsOf.get(target.constructor) ?? new Map<string, string>();
    flags.set(name, String(property));
    flagsOf.set(target.constructor, flags);
  };
}

/** The flags of an options class, with the names of their properties. */
export function flagProperties(options: object): ReadonlyMap<string, string> {
  return flagsOf.get(options.constructor) ?? new Map();
}

const warned = new Map<unknown, ((options: never) => string | undefined)[]>();

/** Logs a sentence at the start for a value that the server takes without doing all that it means; undefined for others. */
export function Warn<Options extends object>(warningOf: (value: never, options: Options) => string | undefined): PropertyDecorator {
  return (target, property) => {
    const all = warned.get(target.constructor) ?? [];
    all.push((options: Options) => warningOf((options as Record<string, unknown>)[String(property)] as never, options));
    warned.set(target.constructor, all);
  };
}

/** The sentences about the values of an options class. */
export function warningsOf(options: object): string[] {
  return (warned.get(options.constructor) ?? []).flatMap((warningOf) => warningOf(options as never) ?? []);
}

/** What is wrong with a value; undefined or an empty list if nothing is. `options` is the object that has the property. */
export type Problems<Options> = (value: never, options: Options) => string | readonly string[] | undefined;

/** Validates a property by a function, for what class-validator's own decorators have no words for. */
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

import { plainToInstance } from 'class-transformer';
import { type ValidationError, validateSync } from 'class-validator';
import type { ContributionOptions } from '#apiserver/base/contribution';
import { redactSecrets } from '#apiserver/base/secrets';

/** All problems of a configuration, one sentence each, without secrets. */
export class ConfigurationError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    const shown = problems.map(redactSecrets);
    super(shown.join('\n'), options);
    this.name = 'ConfigurationError';
    this.problems = shown;
  }
}

/**
 * Creates an instance of a class with class-validator's decorators from plain data such as parsed YAML; omitted members keep
 * the class's defaults. Unknown members are rejected. Throws a ConfigurationError whose problems start with the path,
 * prefixed by `place`.
 */
export function readConfiguration<T extends object>(Type: new () => T, data: unknown, place: string): T {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) throw new ConfigurationError([`${place} must be an object`]);
  const configuration = plainToInstance(Type, data, { exposeDefaultValues: true });
  const errors = validateSync(configuration, { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: false });
  if (errors.length > 0) throw new ConfigurationError(errors.flatMap((error) => problemsOf(error, place)));
  return configuration;
}

/**
 * Returns the configuration of a plugin from plain data, or from an instance of its class, which is validated as well; undefined if the
 * plugin takes none. Throws a ConfigurationError.
 */
export function readPluginConfiguration({ name, configuration: Type }: ContributionOptions, data: unknown): object | undefined {
  if (Type) return readConfiguration(Type, data ?? {}, name);
  if (data !== undefined) throw new ConfigurationError([`${name} takes no configuration`]);
  return undefined;
}

function problemsOf({ target, property, constraints, children }: ValidationError, place: string): string[] {
  const here = /^\d+$/.test(property) ? `${place}[${property}]` : `${place}.${property}`;
  const own = Object.entries(constraints ?? {}).flatMap(([name, message]) =>
    name === 'whitelistValidation' ? unknownMember(target, property, here) : message.split('\n').map((line) => `${here}: ${line}`),
  );
  return [...own, ...(children ?? []).flatMap((child) => problemsOf(child, here))];
}

/** A member that a class declares without a decorator is as unknown to the validation as one that it does not declare. */
function unknownMember(target: object | undefined, property: string, here: string): string {
  const Type = target?.constructor as (new () => object) | undefined;
  const isDeclared = Type !== undefined && Object.hasOwn(new Type(), property);
  return isDeclared ? `${here} has no decorator in class ${Type.name}, such as @IsString(): each member needs one` : `${here} is unknown`;
}
